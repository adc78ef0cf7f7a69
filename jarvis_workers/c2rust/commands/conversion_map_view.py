"""Display functions in C and in Rust: a table, and a page about one function.

C is beside Rust on a terminal of SIDE_BY_SIDE columns, above it on a narrower one. All texts are untrusted: they are
escaped for the terminal, and cut at TEXT_MAX characters.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from jarvis_cli.kit.language import LanguageCode
from jarvis_cli.kit.terminal_page import render, words_in
from jarvis_workers.c2rust.conversion import FunctionResult
from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.paths import plain
from jarvis_workers.words import ENGLISH, Words

if TYPE_CHECKING:
    from jarvis_workers.c2rust.runs.conversion_map import MappedFunction


SIDE_BY_SIDE, NARROW, WIDTH_MAX = 100, 60, 240
TEXT_MAX, TAB = 20_000, 4
HEAD = ("FUNCTION", "PLACE", "STATE", "PROOF", "ANSWERS", "RUST")
STYLES = {
    "translated": "green",
    "replaced": "green",
    "mechanical": "cyan",
    "different": "bold red",
    "not_checked": "bold magenta",
}


def table(functions: Sequence[FunctionResult], say: Words = ENGLISH) -> str:
    """Return a line per function; on a narrow terminal its facts are on lines below its name."""
    rows = [tuple(map(plain, _row(one))) for one in functions]
    if sys.stdout.isatty() and shutil.get_terminal_size().columns < NARROW:
        return render(_stacked(functions, rows))
    if sys.stdout.isatty():
        return render(iter([_grid(functions, rows, say)]), WIDTH_MAX)
    rows = [HEAD, *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def total_line(listed: int, total: int, origin: str, say: Words = ENGLISH) -> str:
    """Return the number of functions, and where they come from."""
    return plain(
        say("{listed} of {total} functions, {origin}", listed=f"{listed:,}", total=f"{total:,}", origin=origin)
    )


def page(function: "MappedFunction", language: LanguageCode = "en") -> str:
    """Return a page about a function."""
    one, line = function.result, words_in_reports(language).line
    reasons = [line(reason) for reason in (one.reason, one.not_translated) if reason]
    return render(_page(function, words_in(language), reasons), WIDTH_MAX) + "\n"


def _row(one: FunctionResult) -> tuple[str, ...]:
    rust = f"src/{one.module}.rs {one.rust_name}"
    return one.name, f"{one.file}:{one.line}", one.status, one.proof, str(one.attempts or "-"), rust


def _grid(functions: Sequence[FunctionResult], rows: Sequence[tuple[str, ...]], say: Words) -> RenderableType:
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in HEAD:
        grid.add_column(Text(say(title), style="bold"), overflow="fold")
    for one, row in zip(functions, rows, strict=True):
        grid.add_row(*(Text(cell, style=STYLES.get(one.status, "") if cell == one.status else "") for cell in row))
    return grid


def _stacked(functions: Sequence[FunctionResult], rows: Sequence[tuple[str, ...]]) -> Iterator[RenderableType]:
    for one, (name, place, status, proof, _, rust) in zip(functions, rows, strict=True):
        yield Text(name, style="bold")
        yield Padding(Text(f"{status}, {proof}", style=STYLES.get(one.status, "")), (0, 0, 0, 2))
        yield Padding(Text(f"{place}\n{rust}", style="dim"), (0, 0, 0, 2))


def _page(function: "MappedFunction", say: Words, reasons: Sequence[str]) -> Iterator[RenderableType]:
    one = function.result
    head = Text(plain(one.name), style="bold").append(f"  {plain(one.file)}:{one.line}  ", style="not bold")
    facts = f"{one.status}, {one.proof}"
    if one.attempts:
        facts += ", " + say("answers of the model: {number}", number=one.attempts)
    if one.calls:
        facts += ", " + say("calls compared: {number}", number=f"{one.calls:,}")
    yield head.append(facts, style=f"not bold {STYLES.get(one.status, '')}")
    if one.rust_signature:
        yield Text(plain(one.rust_signature), style="cyan")
    yield from (Text(plain(reason), style="magenta") for reason in reasons)
    if one.libraries:
        yield Text(plain(say("replaced by: {libraries}", libraries=", ".join(one.libraries))))
    yield _columns(function, say)
    yield from _gates(one, say)
    yield from _reviews(one, say)


def _columns(function: "MappedFunction", say: Words) -> RenderableType:
    """Return both texts; each column has half of the terminal if it is wide enough."""
    one = function.result
    titles = ("C", plain(f"Rust  src/{one.module}.rs"))
    missing = (say("The source is not available."), say("Not in the crate."))
    texts = (_code(function.c, "c", missing[0]), _code(function.rust, "rust", missing[1]))
    wide = shutil.get_terminal_size().columns >= SIDE_BY_SIDE
    grid = Table.grid(expand=True, padding=(0, 3, 0, 0))
    if wide:
        grid.add_column(ratio=1)
        grid.add_column(ratio=1)
        grid.add_row(*(Text(title, style="bold") for title in titles))
        grid.add_row(*texts)
    else:
        grid.add_column()
        for title, text in zip(titles, texts, strict=True):
            grid.add_row(Text(title, style="bold"))
            grid.add_row(Padding(text, (0, 0, 0, 2)))
    return Padding(grid, (1, 0, 0, 0))


def _code(text: str, language: str, missing: str) -> RenderableType:
    if not text:
        return Text(missing, style="dim")
    cut = text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}\n…"
    lines = (plain(line.rstrip("\r").expandtabs(TAB)) for line in cut.strip("\n").split("\n"))
    syntax = Syntax("", language, theme="ansi_dark", word_wrap=True, background_color="default")
    highlighted = syntax.highlight("\n".join(lines))
    highlighted.rstrip()
    highlighted.overflow = "fold"
    return highlighted


def _gates(one: FunctionResult, say: Words) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 2))
    for gate, passed, detail, _ in one.gates:
        outcome = Text(say("passed")) if passed else Text(say("FAILED"), style="bold red")
        grid.add_row(Text(f"  {plain(gate)}"), outcome, Text(plain(detail)))
    if one.gates:
        yield Text("\n" + say("Gates"), style="bold")
        yield grid
    if one.refused:
        yield Text(plain(say("refused answers: {gates}", gates=", ".join(one.refused))))


def _reviews(one: FunctionResult, say: Words) -> Iterator[RenderableType]:
    if one.reviews:
        yield Text("\n" + say("Reviews"), style="bold")
    for review in one.reviews:
        issues = review.issues or (say("no objections"),)
        for issue in issues:
            yield Padding(Text(plain(f"{review.topic}: {issue}")), (0, 0, 0, 2))
