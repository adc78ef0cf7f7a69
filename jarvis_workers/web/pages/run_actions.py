"""Cancel, resume, retry and name a run."""

from collections.abc import Callable

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from jarvis_workers.runs import runs
from jarvis_workers.store.values import Run
from jarvis_workers.web.context import context, exact_run

pages = Blueprint("run_actions", __name__, url_prefix="/runs/<run_id>")


def cancel(run: Run) -> None:
    """Cancel a run. Raises UsageError."""
    runs.cancel(context().store, run, context().settings.lease_seconds)


def resume(run: Run) -> None:
    """Resume a run; this server executes a local run. Raises UsageError."""
    context().background.resume(run)


def retry(run: Run) -> None:
    """Retry the failed jobs of a run; this server executes a local run. Raises UsageError."""
    context().background.retry(run)


ACTIONS: dict[str, Callable[[Run], None]] = {"cancel": cancel, "resume": resume, "retry": retry}


@pages.post("/<any(cancel, resume, retry):action>")
def act(run_id: str, action: str) -> Response:
    """Change the state of a run, then show the run again."""
    run = exact_run(run_id)
    ACTIONS[action](run)
    return redirect(url_for("run.show", run_id=run.id), 303)


@pages.post("/name")
def rename(run_id: str) -> Response:
    """Set the name of a run; an empty name removes it."""
    run = exact_run(run_id)
    runs.set_label(context().store, run, request.form.get("name", ""))
    return redirect(url_for("run.show", run_id=run.id), 303)
