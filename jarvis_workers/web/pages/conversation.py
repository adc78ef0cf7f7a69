"""The transcript of a conversation with a model."""

from flask import Blueprint, render_template

from jarvis_workers.runs import conversations
from jarvis_workers.web.context import RunMissing, context, exact_run
from jarvis_workers.web.finding_list import pages_of
from jarvis_workers.web.queries import PageQuery, read_query

pages = Blueprint("conversation", __name__, url_prefix="/runs/<run_id>/conversations")

TEXT_MAX = 50_000


@pages.get("/<int:job_id>")
def show(run_id: str, job_id: int) -> str:
    """Show a conversation of a run."""
    world, run, query = context(), exact_run(run_id), read_query(PageQuery)
    labels = {number: label for number, label, _ in conversations.jobs_of(world.store, run)}
    if job_id not in labels:
        raise RunMissing(f"run {run.id} has no conversation {job_id}")
    records = conversations.read_transcript(world.store, world.blobs, job_id)
    entries = list(conversations.transcript_entries(records))
    start = (query.page - 1) * query.size
    return render_template(
        "conversation.html",
        run=run,
        job_id=job_id,
        label=labels[job_id],
        entries=entries[start : start + query.size],
        total=len(entries),
        asked=query,
        pages=pages_of(len(entries), query.size),
        text_max=TEXT_MAX,
    )
