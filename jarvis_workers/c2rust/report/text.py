"""Render a report on a symbol graph as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.c2rust.report.body import ScanBody, SymbolEntry
from jarvis_workers.paths import listing, plain

# Entries of a list; the rest is counted. The page and the JSON have all.
LISTED = 10
CYCLE_MEMBERS = 8


def render_text(body: ScanBody, _: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the report: first the units that were not checked, then the counts, then the lists."""
    for line in _lines(body):
        yield plain(line) + "\n"


def summary_line(body: ScanBody) -> str:
    """Return the counts of the graph in one line."""
    symbols, edges = body.symbols, body.edges
    counted = ", ".join(_counted(symbols.get(category, 0), category) for category in ("type", "global", "macro"))
    return (
        f"{_counted(symbols.get('function', 0), 'function')} ({_counted(body.lines, 'line')}), {counted} "
        f"in {_counted(body.files, 'file')}; {_counted(edges.get('call', 0), 'call')}, "
        f"{_counted(len(body.roots), 'root')}, {_counted(len(body.cycles), 'cycle')}"
    )


def not_checked_line(body: ScanBody) -> str:
    """Return a line with the number of units that are missing from the graph, and the consequence."""
    return (
        f"NOT CHECKED: {len(body.not_checked):,} of {body.units:,} translation units could not be read; "
        "their symbols and edges are missing from this graph"
    )


def incomplete_line(body: ScanBody) -> str:
    """Return a line with the number of symbols without a definition that was read without errors (`--allow-errors`)."""
    symbols = "1 symbol has" if body.incomplete == 1 else f"{body.incomplete:,} symbols have"
    return f"{symbols} no error-free definition: edges may be missing"


def _lines(body: ScanBody) -> Iterator[str]:
    if body.not_checked:
        yield not_checked_line(body)
        yield from (f"  {unit.file}: {unit.reason}" for unit in body.not_checked)
    yield from (f"warning: {warning}" for warning in body.warnings)
    yield summary_line(body)
    if body.incomplete:
        yield incomplete_line(body)
    yield from _symbols("Roots (no other function calls them)", body.roots)
    if body.cycles:
        yield f"Cycles ({len(body.cycles):,}), each one step of the translation order:"
        yield from (
            f"  {len(cycle):,}: {listing([one.name for one in cycle], CYCLE_MEMBERS)}" for cycle in body.cycles[:LISTED]
        )
        yield from _more(len(body.cycles))
    yield from _symbols("Largest functions", body.largest)
    yield from _symbols("Most used functions", body.most_used)
    if body.facts:
        yield "Functions by fact: " + ", ".join(f"{name} {number:,}" for name, number in body.facts.items())


def _symbols(title: str, entries: Sequence[SymbolEntry]) -> Iterator[str]:
    if entries:
        yield f"{title}:"
        yield from (f"  {_entry(entry)}" for entry in entries[:LISTED])
        yield from _more(len(entries))


def _entry(entry: SymbolEntry) -> str:
    return f"{entry.file}:{entry.line}: {entry.name} ({_counted(entry.lines, 'line')}, {_counted(entry.users, 'user')})"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _more(number: int) -> Iterator[str]:
    if number > LISTED:
        yield f"  and {number - LISTED:,} more"
