"""The list of runs."""

from flask import Blueprint, redirect, render_template, url_for
from werkzeug.wrappers import Response

from jarvis_workers.runs import run_pages
from jarvis_workers.store.values import RUN_STATES
from jarvis_workers.web.context import context, run_rows
from jarvis_workers.web.finding_list import pages_of
from jarvis_workers.web.queries import RunQuery, read_query

pages = Blueprint("runs", __name__)


@pages.get("/")
def start() -> Response:
    """Redirect to the list of runs."""
    return redirect(url_for("runs.index"))


@pages.get("/runs")
def index() -> str:
    """Show the runs, newest first, filtered by state, kind and root."""
    return render_template("runs.html", **_listed())


@pages.get("/runs/rows")
def rows() -> str:
    """Return only the table, which the page's script refreshes."""
    return render_template("run_rows.html", **_listed())


def _listed() -> dict[str, object]:
    world, query = context(), read_query(RunQuery)
    page = run_pages.page_of_runs(world.store, query.chosen(), query.page, query.size)
    return {
        "rows": run_rows(world, page.runs),
        "total": page.total,
        "asked": query,
        "pages": pages_of(page.total, query.size),
        "roots": run_pages.roots_of_runs(world.store),
        "kinds": run_pages.kinds_of_runs(world.store),
        "states": RUN_STATES,
    }
