"""Render a report on a symbol graph as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.c2rust.report.body import ScanBody, SymbolEntry
from jarvis_workers.c2rust.report.wording import english
from jarvis_workers.paths import plain
from jarvis_workers.words import Words

# Entries of a list; the rest is counted. The page and the JSON have all.
LISTED = 10
CYCLE_MEMBERS = 8


def render_text(body: ScanBody, _: Mapping[str, Any], say: Words = english) -> Iterator[str]:
    """Yield the lines of the report: first the units that were not checked, then the counts, then the lists."""
    for line in _lines(body, say):
        yield plain(line) + "\n"


def summary_line(body: ScanBody, say: Words = english) -> str:
    """Return the counts of the graph in one line."""
    symbols, edges = body.symbols, body.edges
    return say(
        "{functions} ({lines}), {types}, {globals}, {macros} in {files}; {calls}, {roots}, {cycles}",
        functions=say.count(symbols.get("function", 0), "function"),
        lines=say.count(body.lines, "line"),
        types=say.count(symbols.get("type", 0), "type"),
        globals=say.count(symbols.get("global", 0), "global"),
        macros=say.count(symbols.get("macro", 0), "macro"),
        files=say.count(body.files, "file"),
        calls=say.count(edges.get("call", 0), "call"),
        roots=say.count(len(body.roots), "root"),
        cycles=say.count(len(body.cycles), "cycle"),
    )


def not_checked_line(body: ScanBody, say: Words = english) -> str:
    """Return a line with the number of units that are missing from the graph, and the consequence."""
    return say(
        "NOT CHECKED: {number} of {units} translation units could not be read; "
        "their symbols and edges are missing from this graph",
        number=f"{len(body.not_checked):,}",
        units=f"{body.units:,}",
    )


def incomplete_line(body: ScanBody, say: Words = english) -> str:
    """Return a line with the number of symbols without a definition that was read without errors (`--allow-errors`)."""
    if body.incomplete == 1:
        return say("1 symbol has no error-free definition: edges may be missing")
    number = f"{body.incomplete:,}"
    return say("{number} symbols have no error-free definition: edges may be missing", number=number)


def name_list(names: Sequence[str], most: int, say: Words = english) -> str:
    """Return the first names separated by commas, and how many more there are."""
    more = " " + say("and {number} more", number=f"{len(names) - most:,}") if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _lines(body: ScanBody, say: Words) -> Iterator[str]:
    if body.not_checked:
        yield not_checked_line(body, say)
        yield from (f"  {unit.file}: {unit.reason}" for unit in body.not_checked)
    yield from (f"{say('warning')}: {warning}" for warning in body.warnings)
    yield summary_line(body, say)
    if body.incomplete:
        yield incomplete_line(body, say)
    yield from _symbols(say("Roots (no other function calls them)"), body.roots, say)
    if body.cycles:
        number = f"{len(body.cycles):,}"
        yield say("Cycles ({number}), each one step of the translation order:", number=number)
        for cycle in body.cycles[:LISTED]:
            yield f"  {len(cycle):,}: {name_list([one.name for one in cycle], CYCLE_MEMBERS, say)}"
        yield from _more(len(body.cycles), say)
    yield from _symbols(say("Largest functions"), body.largest, say)
    yield from _symbols(say("Most used functions"), body.most_used, say)
    if body.facts:
        facts = ", ".join(f"{name} {number:,}" for name, number in body.facts.items())
        yield f"{say('Functions by fact')}: {facts}"


def _symbols(title: str, entries: Sequence[SymbolEntry], say: Words) -> Iterator[str]:
    if entries:
        yield f"{title}:"
        for entry in entries[:LISTED]:
            numbers = f"{say.count(entry.lines, 'line')}, {say.count(entry.users, 'user')}"
            yield f"  {entry.file}:{entry.line}: {entry.name} ({numbers})"
        yield from _more(len(entries), say)


def _more(number: int, say: Words) -> Iterator[str]:
    if number > LISTED:
        yield "  " + say("and {number} more", number=f"{number - LISTED:,}")
