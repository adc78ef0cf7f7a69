"""Render a report on a symbol graph as GitHub-flavoured Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.c2rust.report.body import ScanBody, SymbolEntry
from jarvis_workers.c2rust.report.text import incomplete_line, not_checked_line, summary_line
from jarvis_workers.escape import code, code_cell, prose
from jarvis_workers.paths import listing

# Rows of a table; the rest is counted.
ROWS = 50
CYCLE_MEMBERS = 20
RUN_ROWS = ("id", "scanned_root", "state", "version", "created_at", "ended_at")


def render_markdown(body: ScanBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report; names and paths from the scanned tree are escaped."""
    yield "# Symbol graph"
    for block in _blocks(body, run):
        yield f"\n\n{block}"
    yield "\n"


def _blocks(body: ScanBody, run: Mapping[str, Any]) -> Iterator[str]:
    if body.not_checked:
        yield f"> **{not_checked_line(body)}.**"
        yield "\n".join(f"- {code(unit.file)}: {prose(unit.reason)}" for unit in body.not_checked)
    yield from (f"> Warning: {prose(warning)}" for warning in body.warnings)
    yield f"{summary_line(body)}."
    if body.incomplete:
        yield f"{incomplete_line(body)}."
    yield _table(("Edge", "Number"), [(kind, f"{number:,}") for kind, number in body.edges.items()])
    yield from _symbols("Roots", body.roots)
    yield from _cycles(body.cycles)
    yield from _symbols("Largest functions", body.largest)
    yield from _symbols("Most used functions", body.most_used)
    if body.facts:
        yield "## Functions by fact"
        yield _table(("Fact", "Functions"), [(code_cell(name), f"{number:,}") for name, number in body.facts.items()])
    rows = [(name, code_cell(str(run[name]))) for name in RUN_ROWS if run.get(name)]
    if rows:
        yield "## About this run"
        yield _table(("Name", "Value"), rows)


def _symbols(title: str, entries: Sequence[SymbolEntry]) -> Iterator[str]:
    if not entries:
        return
    yield f"## {title}"
    rows = [
        (code_cell(entry.name), code_cell(f"{entry.file}:{entry.line}"), f"{entry.lines:,}", f"{entry.users:,}")
        for entry in entries[:ROWS]
    ]
    yield _table(("Symbol", "Location", "Lines", "Users"), rows)
    yield from _more(len(entries))


def _cycles(cycles: Sequence[Sequence[SymbolEntry]]) -> Iterator[str]:
    if not cycles:
        return
    yield "## Cycles"
    yield "Each cycle is one step of the translation order."
    yield "\n".join(f"- {_cycle(cycle)}" for cycle in cycles[:ROWS])
    yield from _more(len(cycles))


def _cycle(cycle: Sequence[SymbolEntry]) -> str:
    return f"{len(cycle):,} symbols: {listing([code(entry.name) for entry in cycle], CYCLE_MEMBERS)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _more(number: int) -> Iterator[str]:
    if number > ROWS:
        yield f"And {number - ROWS:,} more."
