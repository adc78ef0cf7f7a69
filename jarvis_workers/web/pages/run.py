"""The page of a run: progress, findings, unchecked files, conversations."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, make_response, render_template

from jarvis_workers.errors import SnapshotError, UsageError
from jarvis_workers.runs import conversations, run_kinds, runs
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.sec.report.stage_parts import sections, sentences
from jarvis_workers.sec.report_document import ReportBody, Summary
from jarvis_workers.sec.runs.scan_runs import has_findings, is_complete, scan_of
from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.store.values import Run
from jarvis_workers.web.context import context, exact_run, exact_scan, percent_done, state_of, text_of
from jarvis_workers.web.finding_list import choose_findings, pages_of
from jarvis_workers.web.queries import FindingQuery, PageQuery, read_query
from jarvis_workers.words import ENGLISH

pages = Blueprint("run", __name__, url_prefix="/runs/<run_id>")

AGENT = "agent"


@pages.get("")
def show(run_id: str) -> str:
    """Show a run with its findings."""
    run = exact_run(run_id)
    query = read_query(FindingQuery)
    facts = _progress(run)
    return render_template("run.html", **facts, **_of_stages(facts["summary"]), **_findings(run, query))


@pages.get("/progress")
def progress(run_id: str) -> Response:
    """Return only the state and the stages, which the page's script refreshes until the run has ended."""
    run = exact_run(run_id)
    answer = make_response(render_template("run_progress.html", **_progress(run)))
    answer.headers["X-Run-Ended"] = "1" if run.ended else "0"
    return answer


@pages.get("/graph")
def graph(run_id: str) -> str:
    """Show the interactive page of a run, if its kind has one."""
    return "".join(run_kinds.graph(_stored(exact_run(run_id))))


@pages.get("/not-checked")
def not_checked(run_id: str) -> str:
    """List the files that were not checked, with the reasons."""
    run, query = exact_scan(run_id), read_query(PageQuery)
    gaps = context().body(run).summary.not_checked
    start = (query.page - 1) * query.size
    shown = gaps[start : start + query.size]
    return render_template(
        "not_checked.html", run=run, gaps=shown, total=len(gaps), asked=query, pages=pages_of(len(gaps), query.size)
    )


@pages.get("/conversations")
def talks(run_id: str) -> str:
    """List the conversations of a run."""
    run, query = exact_run(run_id), read_query(PageQuery)
    conversation_jobs = conversations.jobs_of(context().store, run)
    start = (query.page - 1) * query.size
    return render_template(
        "conversations.html",
        run=run,
        jobs=conversation_jobs[start : start + query.size],
        total=len(conversation_jobs),
        asked=query,
        pages=pages_of(len(conversation_jobs), query.size),
    )


def _progress(run: Run) -> dict[str, Any]:
    world = context()
    stages = runs.stages_of(world.store, run)
    body, problem = _body(run)
    return {
        "run": run,
        "state": state_of(world, run),
        "has_findings": has_findings(run.kind),
        "has_graph": run_kinds.offers(run, "graph"),
        "complete": body is not None and is_complete(run, body.summary),
        "stages": stages,
        "percent": percent_done(stages),
        "part": run_part(world.store, run),
        "summary": None if body is None else body.summary,
        "problem": problem,
        "failed": sum(stage.failed for stage in stages),
        "labels": runs.labels_of(world.store, [run.id])[run.id],
    }


def _of_stages(summary: Summary | None) -> dict[str, Any]:
    """Return what the report says of the work of stages."""
    if summary is None:
        return {"sentences": (), "sections": ()}
    return {"sentences": sentences(summary, ENGLISH), "sections": list(sections(summary, ENGLISH))}


def _findings(run: Run, query: FindingQuery) -> dict[str, Any]:
    world = context()
    if not has_findings(run.kind):
        return {"found": None, "answer": _result(run), "asked": query, "judged": {}, "pages": 1}
    judged = stored_judgements(world.store)
    body, _ = _body(run)
    if body is None:
        return {"found": None, "answer": None, "asked": query, "judged": judged, "pages": 1}
    findings = choose_findings(body, query, judged)
    return {
        "found": findings,
        "answer": None,
        "asked": query,
        "judged": judged,
        "pages": pages_of(findings.total, query.size),
    }


def _result(run: Run) -> Mapping[str, Any] | None:
    """Return the result of a run whose kind has no findings, or None if there is no result yet."""
    try:
        return run_kinds.panel(_stored(run))
    except (SnapshotError, UsageError) as error:
        return {"problem": text_of(error)}


def _stored(run: Run) -> run_kinds.StoredRun:
    world = context()
    return run_kinds.StoredRun(world.settings, world.store, world.blobs, run)


def _body(run: Run) -> tuple[ReportBody | None, str]:
    """Return the report of a scan, or None and the reason why it cannot be read, such as a missing source."""
    if not has_findings(run.kind):
        return None, ""
    try:
        return context().body(scan_of(run)), ""
    except SnapshotError as error:
        return None, text_of(error)
