"""SVG charts for pages, drawn by the server in the colours of the report."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flask import url_for

from jarvis_workers.markup import Html, markup
from jarvis_workers.sec.run_reports.totals import ReportTotals
from jarvis_workers.store.values import Run
from jarvis_workers.web.formats import format_time

WIDTH, HEIGHT = 1100, 240
LEFT, TOP, BOTTOM = 56, 14, 26
LEVELS = ("low", "medium", "high")
COLUMN_MAX = 46
CHART = """
<svg class="chart" viewBox="0 0 {width} {height}" role="group" aria-label="{label}">{grid}{columns}</svg>
"""


class TrendPoint(NamedTuple):
    """A run with the totals of its report."""

    run: Run
    totals: ReportTotals

    @property
    def complete(self) -> bool:
        """Whether the scan has checked everything; else 0 is not the number of its findings."""
        return self.run.state == "done" and not self.totals.not_checked

    @property
    def title(self) -> str:
        """The numbers in words."""
        when = format_time(self.run.created_at)
        if not self.complete:
            so_far = f"; {self.totals.total:,} findings so far" if self.totals.total else ""
            return f"{when}: {self.run.state}, {self.totals.not_checked:,} not checked{so_far}"
        return f"{when}: {self.totals.total:,} findings, {self.totals.by_severity.get('high', 0):,} high"


class _Column(NamedTuple):
    run: Run
    title: str
    parts: Sequence[tuple[str, float]]

    @property
    def height(self) -> float:
        return sum(size for _, size in self.parts)


def trend_chart(points: Sequence[TrendPoint]) -> Html:
    """Draw a column per run, with the severe findings on top."""
    columns = [
        _Column(
            one.run,
            one.title,
            [(level, one.totals.by_severity.get(level, 0)) for level in LEVELS],
        )
        for one in points
    ]
    return _chart(columns, "Findings by severity, per run", "{:,.0f}")


def cost_chart(costs: Sequence[tuple[Run, float]]) -> Html:
    """Draw the cost of each run in dollars."""
    columns = [_Column(run, f"{format_time(run.created_at)}: ${cost:.4f}", [("plain", cost)]) for run, cost in costs]
    return _chart(columns, "Cost in dollars, per run", "${:,.2f}")


def _chart(columns: Sequence[_Column], label: str, number: str) -> Html:
    highest = max((column.height for column in columns), default=0) or 1
    return markup(
        CHART.strip(),
        width=WIDTH,
        height=HEIGHT,
        label=label,
        grid=list(_grid(highest, number)),
        columns=list(_columns(columns, highest)),
    )


def _grid(highest: float, number: str) -> Iterator[Html]:
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        yield markup(
            '<line class="axis" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>'
            '<text class="soft" x="{at}" y="{below}" text-anchor="end">{value}</text>',
            left=LEFT,
            right=WIDTH,
            y=f"{y:.1f}",
            at=LEFT - 8,
            below=f"{y + 4:.1f}",
            value=number.format(highest * share),
        )


def _columns(columns: Sequence[_Column], highest: float) -> Iterator[Html]:
    step = (WIDTH - LEFT) / max(1, len(columns))
    wide = min(COLUMN_MAX, step * 0.72)
    for place, column in enumerate(columns):
        left = LEFT + place * step + (step - wide) / 2
        yield markup(
            '<a href="{href}"><title>{title}</title>{parts}</a>',
            href=url_for("run.show", run_id=column.run.id),
            title=column.title,
            parts=list(_parts(column, highest, left, wide)),
        )


def _parts(column: _Column, highest: float, left: float, wide: float) -> Iterator[Html]:
    below = 0.0
    for name, size in column.parts:
        if size:
            top, bottom = _y((below + size) / highest), _y(below / highest)
            yield markup(
                '<rect class="fill-{name}" x="{x}" y="{y}" width="{width}" height="{height}"/>',
                name=name,
                x=f"{left:.1f}",
                y=f"{top:.1f}",
                width=f"{wide:.1f}",
                height=f"{bottom - top:.1f}",
            )
        below += size
    yield markup(
        '<rect class="hit" x="{x}" y="{y}" width="{width}" height="{height}"/>',
        x=f"{left:.1f}",
        y=TOP,
        width=f"{wide:.1f}",
        height=HEIGHT - TOP - BOTTOM,
    )


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)
