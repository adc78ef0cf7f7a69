"""The trend of findings over the runs of a source or project, and the cost of runs."""

from collections.abc import Sequence

from flask import Blueprint, render_template

from jarvis_workers.runs import run_pages
from jarvis_workers.runs.labels import PROJECT
from jarvis_workers.sec.run_reports.scan_series import ScanSeries, newest_scans_of, roots_of_scans, series_of
from jarvis_workers.sec.runs.scan_runs import ScanRun
from jarvis_workers.store.run_pages import RunFilter
from jarvis_workers.web.charts import TrendPoint, cost_chart, trend_chart
from jarvis_workers.web.context import context, run_rows
from jarvis_workers.web.finding_list import pages_of
from jarvis_workers.web.queries import RunQuery, TrendQuery, read_query

pages = Blueprint("trend", __name__)

COST_RUNS = 100


@pages.get("/trend")
def show() -> str:
    """Show the findings of the newest scans of a source or a project with one scope, oldest first."""
    query, roots = read_query(TrendQuery), roots_of_scans(context().store)
    root = query.root or (roots[0][0] if roots and not query.project else "")
    chosen, series = series_in(query.model_copy(update={"root": root}))
    points = trend_points(chosen.scans) if chosen else []
    return render_template(
        "trend.html",
        asked=query,
        root=root,
        roots=roots,
        series=series,
        scope=chosen and chosen.scope,
        points=points,
        chart=trend_chart(points) if points else "",
    )


@pages.get("/cost")
def cost() -> str:
    """Show the tokens and the cost of runs that called a model."""
    world, query = context(), read_query(RunQuery)
    size = min(query.size, COST_RUNS)
    page = run_pages.page_of_runs(world.store, query.chosen(), query.page, size)
    usage = run_pages.usage_of_runs(world.store, page.runs)
    rows = [row for row in run_rows(world, page.runs) if row.run.id in usage]
    costs = {run_id: one.cost for run_id, one in usage.items() if one.cost is not None}
    return render_template(
        "cost.html",
        rows=rows,
        usage=usage,
        asked=query,
        roots=run_pages.roots_of_runs(world.store),
        total=sum(costs.values()),
        unpriced=len(usage) - len(costs),
        tokens=sum(one.tokens for one in usage.values()),
        shown=len(page.runs),
        pages=pages_of(page.total, size),
        chart=cost_chart([(row.run, costs[row.run.id]) for row in reversed(rows) if row.run.id in costs])
        if costs
        else "",
    )


def series_in(query: TrendQuery) -> tuple[ScanSeries | None, list[ScanSeries]]:
    """Return the series of a query, by default that of the newest scan, and all series of its source or project."""
    labels = ((PROJECT, query.project),) if query.project else ()
    chosen = RunFilter(root="" if query.project else query.root, labels=labels, ended=True)
    series = series_of(newest_scans_of(context().store, chosen, query.runs))
    return next((one for one in series if query.scope in ("", one.scope.id)), None), series


def trend_points(runs: Sequence[ScanRun]) -> list[TrendPoint]:
    """Return the totals of scans that have a report."""
    world = context()
    totals = world.totals.read(world.store, world.blobs, runs)
    return [TrendPoint(run, totals[run.id]) for run in runs if run.id in totals]
