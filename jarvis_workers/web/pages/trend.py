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
    world, query = context(), read_query(TrendQuery)
    roots = run_pages.roots_of_runs(world.store)
    root = query.root or (roots[0][0] if roots and not query.project else "")
    runs = runs_of(root, query.project, query.runs)
    points = trend_points(runs)
    return render_template(
        "trend.html", asked=query, root=root, roots=roots, points=points, chart=trend_chart(points) if points else ""
    )


@pages.get("/cost")
def cost() -> str:
    """Show the tokens and the cost of runs that called a model."""
    world, query = context(), read_query(RunQuery)
    size = min(query.size, COST_RUNS)
    page = run_pages.page_of_runs(world.store, query.chosen(), query.page, size)
    usage = run_pages.usage_of_runs(world.store, page.runs)
    rows = [row for row in run_rows(world, page.runs) if row.run.id in usage]
    return render_template(
        "cost.html",
        rows=rows,
        usage=usage,
        asked=query,
        roots=run_pages.roots_of_runs(world.store),
        total=sum(one.cost for one in usage.values()),
        tokens=sum(one.tokens for one in usage.values()),
        shown=len(page.runs),
        pages=pages_of(page.total, size),
        chart=cost_chart([(row.run, usage[row.run.id].cost or 0.0) for row in reversed(rows)]) if rows else "",
    )


def runs_of(root: str, project: str, number: int) -> list[Run]:
    """Return the newest finished scans of a source, or of the runs with a label `project`, oldest first."""
    store = context().store
    if project:
        page = runs.runs_with_labels(store, {PROJECT: project}, number)
    else:
        page = run_pages.page_of_runs(store, RunFilter(root=root), 1, number).runs
    return [run for run in reversed(page) if run.ended and run.kind.startswith("sec.")]


def trend_points(runs: list[Run]) -> list[TrendPoint]:
    """Return the totals of runs that have a report."""
    world = context()
    totals = world.totals.read(world.store, world.blobs, runs)
    return [TrendPoint(run, totals[run.id]) for run in runs if run.id in totals]
