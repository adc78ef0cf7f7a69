"""The trend of findings over the runs of a source or project, and the cost of runs."""

from flask import Blueprint, render_template

from jarvis_workers.service import run_pages, runs
from jarvis_workers.service.labels import PROJECT
from jarvis_workers.service.run_pages import RunFilter
from jarvis_workers.store.values import Run
from jarvis_workers.web.charts import TrendPoint, cost_chart, trend_chart
from jarvis_workers.web.context import context
from jarvis_workers.web.finding_list import pages_of
from jarvis_workers.web.queries import RunQuery, TrendQuery, read_query
from jarvis_workers.web.run_rows import run_rows

pages = Blueprint("trend", __name__)

COST_RUNS = 100


@pages.get("/trend")
def show() -> str:
    """Show the findings of the newest runs of a source or a project, oldest first."""
    world, asked = context(), read_query(TrendQuery)
    roots = run_pages.roots_of_runs(world.store)
    root = asked.root or (roots[0][0] if roots and not asked.project else "")
    found = runs_of(root, asked.project, asked.runs)
    points = trend_points(found)
    return render_template(
        "trend.html", asked=asked, root=root, roots=roots, points=points, chart=trend_chart(points) if points else ""
    )


@pages.get("/cost")
def cost() -> str:
    """Show the tokens and the cost of runs that called a model."""
    world, asked = context(), read_query(RunQuery)
    size = min(asked.size, COST_RUNS)
    found = run_pages.page_of_runs(world.store, asked.chosen(), asked.page, size)
    usage = run_pages.usage_of_runs(world.store, found.runs)
    rows = [row for row in run_rows(world, found.runs) if row.run.id in usage]
    return render_template(
        "cost.html",
        rows=rows,
        usage=usage,
        asked=asked,
        roots=run_pages.roots_of_runs(world.store),
        total=sum(one.cost for one in usage.values()),
        tokens=sum(one.tokens for one in usage.values()),
        shown=len(found.runs),
        pages=pages_of(found.total, size),
        chart=cost_chart([(row.run, usage[row.run.id].cost or 0.0) for row in reversed(rows)]) if rows else "",
    )


def runs_of(root: str, project: str, number: int) -> list[Run]:
    """Return the newest finished scans of a source, or of the runs with a label `project`, oldest first."""
    store = context().store
    if project:
        found = runs.runs_with_labels(store, {PROJECT: project}, number)
    else:
        found = run_pages.page_of_runs(store, RunFilter(root=root), 1, number).runs
    return [run for run in reversed(found) if run.ended and run.kind.startswith("sec.")]


def trend_points(found: list[Run]) -> list[TrendPoint]:
    """Return the totals of runs that have a report."""
    world = context()
    totals = world.totals.read(world.store, world.blobs, found)
    return [TrendPoint(run, totals[run.id]) for run in found if run.id in totals]
