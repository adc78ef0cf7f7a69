"""The comparison of two runs."""

from flask import Blueprint, render_template

from jarvis_workers.runs import runs
from jarvis_workers.runs.labels import project_of
from jarvis_workers.sec.report.diff import status_of
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.run_reports.diff import difference
from jarvis_workers.sec.run_reports.scan_series import newest_comparable, newest_scans_of
from jarvis_workers.sec.runs.scan_runs import ScanRun
from jarvis_workers.store.run_pages import RunFilter
from jarvis_workers.web.context import context, exact_scan
from jarvis_workers.web.finding_list import pages_of
from jarvis_workers.web.queries import DiffQuery, read_query

pages = Blueprint("comparison", __name__, url_prefix="/compare")

CHOICES_MAX = 100
TITLES = {"new": "New", "changed": "Verdict changed", "fixed": "Fixed", "not_checked": "Not checked in the later run"}


@pages.get("")
def show() -> str:
    """Compare two runs; without `before`, compare a run with the previous complete run of the same source."""
    world, query = context(), read_query(DiffQuery)
    choices = _choices()
    after = exact_scan(query.after) if query.after else None
    before = exact_scan(query.before) if query.before else after and newest_comparable(world.store, after)
    facts = {"choices": choices, "asked": query, "before": before, "after": after, "titles": TITLES}
    if before is None or after is None:
        return render_template("comparison.html", sides=None, lists={}, pages=1, **facts)
    sides = difference(world.store, world.blobs, before, after, world.reports.read)
    lists: dict[str, list[tuple[Issue, str]]] = {
        "new": [(one, "") for one in sides.difference.new],
        "changed": [(one.issue, f"{one.was} → {one.now}") for one in sides.difference.changed],
        "fixed": [(one, status_of(one)) for one in sides.difference.fixed],
        "not_checked": [(one.issue, one.reason) for one in sides.difference.not_checked],
    }
    start = (query.page - 1) * query.size
    longest = max(map(len, lists.values()))
    shown = {name: candidate[start : start + query.size] for name, candidate in lists.items()}
    return render_template("comparison.html", sides=sides, lists=shown, pages=pages_of(longest, query.size), **facts)


def _choices() -> list[tuple[ScanRun, str]]:
    """Return the newest scans, with the project of each."""
    store = context().store
    result = newest_scans_of(store, RunFilter(ended=True), CHOICES_MAX)
    labels = runs.labels_of(store, [run.id for run in result])
    return [(run, project_of(run, labels[run.id])) for run in result]
