"""Render a report on a symbol graph as GitHub-flavoured Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.c2rust.report.body import ScanBody, SymbolEntry
from jarvis_workers.c2rust.report.text import incomplete_line, name_list, not_checked_line, summary_line
from jarvis_workers.c2rust.report.wording import english
from jarvis_workers.escape import code, code_cell, prose
from jarvis_workers.words import Words

# Rows of a table; the rest is counted.
ROWS = 50
CYCLE_MEMBERS = 20
RUN_ROWS = ("id", "scanned_root", "state", "version", "created_at", "ended_at")


def render_markdown(body: ScanBody, run: Mapping[str, Any], say: Words = english) -> Iterator[str]:
    """Yield the report; names and paths from the scanned tree are escaped."""
    yield f"# {say('Symbol graph')}"
    for block in _blocks(body, run, say):
        yield f"\n\n{block}"
    yield "\n"


def _blocks(body: ScanBody, run: Mapping[str, Any], say: Words) -> Iterator[str]:
    if body.not_checked:
        yield f"> **{not_checked_line(body, say)}.**"
        yield "\n".join(f"- {code(unit.file)}: {prose(unit.reason)}" for unit in body.not_checked)
    yield from (f"> {say('Warning')}: {prose(warning)}" for warning in body.warnings)
    yield f"{summary_line(body, say)}."
    if body.incomplete:
        yield f"{incomplete_line(body, say)}."
    yield _table((say("Edge"), say("Number")), [(say(kind), f"{number:,}") for kind, number in body.edges.items()])
    yield from _symbols(say("Roots"), body.roots, say)
    yield from _cycles(body.cycles, say)
    yield from _symbols(say("Largest functions"), body.largest, say)
    yield from _symbols(say("Most used functions"), body.most_used, say)
    if body.facts:
        yield f"## {say('Functions by fact')}"
        rows = [(code_cell(name), f"{number:,}") for name, number in body.facts.items()]
        yield _table((say("Fact"), say("Functions")), rows)
    rows = [(name, code_cell(str(run[name]))) for name in RUN_ROWS if run.get(name)]
    if rows:
        yield f"## {say('About this run')}"
        yield _table((say("Name"), say("Value")), rows)


def _symbols(title: str, entries: Sequence[SymbolEntry], say: Words) -> Iterator[str]:
    if not entries:
        return
    yield f"## {title}"
    rows = [
        (code_cell(entry.name), code_cell(f"{entry.file}:{entry.line}"), f"{entry.lines:,}", f"{entry.users:,}")
        for entry in entries[:ROWS]
    ]
    yield _table((say("Symbol"), say("Location"), say("Lines"), say("Users")), rows)
    yield from _more(len(entries), say)


def _cycles(cycles: Sequence[Sequence[SymbolEntry]], say: Words) -> Iterator[str]:
    if not cycles:
        return
    yield f"## {say('Cycles')}"
    yield say("Each cycle is one step of the translation order.")
    yield "\n".join(f"- {_cycle(cycle, say)}" for cycle in cycles[:ROWS])
    yield from _more(len(cycles), say)


def _cycle(cycle: Sequence[SymbolEntry], say: Words) -> str:
    return f"{say.count(len(cycle), 'symbol')}: {name_list([code(one.name) for one in cycle], CYCLE_MEMBERS, say)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _more(number: int, say: Words) -> Iterator[str]:
    if number > ROWS:
        yield say("And {number} more.", number=f"{number - ROWS:,}")
