"""Rules for a reader: a list, and a page about one; coloured and folded on a terminal, plain elsewhere."""

import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO
from itertools import groupby

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jarvis_workers.paths import plain
from jarvis_workers.sec.finding import severity_of
from jarvis_workers.sec.handbook import LANGUAGES, weakness_link
from jarvis_workers.sec.rules import Rule

WIDTH_MAX = 100
NAMES_MAX = 12


def table(rules: Sequence[Rule], on: Collection[str], severities: Mapping[str, str]) -> str:
    """Return the list of rules: for a terminal by language and category, else a line a rule."""
    if sys.stdout.isatty():
        return render(_grouped(rules, on, severities))
    rows = [("ID", "LANGUAGE", "CATEGORY", "CWE", "CONFIDENCE", "TITLE")]
    rows += [
        (
            rule.pattern,
            rule.language,
            rule.category,
            f"CWE-{rule.cwe}",
            f"{rule.confidence:.2f}",
            _title(rule, on, severities),
        )
        for rule in rules
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(map(plain, lines))


def page(rule: Rule, severity: str | None = None) -> str:
    """Return all there is to say of a rule; `severity` is the one that the settings give it."""
    return render(_page(rule, severity))


def _title(rule: Rule, on: Collection[str], severities: Mapping[str, str]) -> str:
    said = [] if rule.pattern in on else ["off"]
    said += [f"severity {severities[rule.pattern]}"] if rule.pattern in severities else []
    return f"{rule.title} ({', '.join(said)})" if said else rule.title


def _grouped(rules: Sequence[Rule], on: Collection[str], severities: Mapping[str, str]) -> Iterator[RenderableType]:
    width = max((len(rule.pattern) for rule in rules), default=0)
    for number, (language, group) in enumerate(groupby(rules, key=lambda rule: rule.language)):
        yield Text(("\n" if number else "") + LANGUAGES.get(language, language), style="bold")
        for category, same in groupby(group, key=lambda rule: rule.category):
            yield Text(f"\n  {category}", style="cyan")
            yield _rows(list(same), on, (severities, width))
    yield Text("\nMore about one: jarvis sec explain ID", style="dim")


def _rows(rules: Sequence[Rule], on: Collection[str], rest: tuple[Mapping[str, str], int]) -> RenderableType:
    severities, width = rest
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=width, no_wrap=True)
    grid.add_column(width=8, no_wrap=True)
    grid.add_column(width=4, no_wrap=True)
    grid.add_column(overflow="fold")
    for rule in rules:
        style = "" if rule.pattern in on else "dim"
        cells = (rule.pattern, f"CWE-{rule.cwe}", f"{rule.confidence:.2f}", _title(rule, on, severities))
        grid.add_row(*(Text(plain(cell), style=style) for cell in cells))
    return Padding(grid, (0, 0, 0, 4))


def _page(rule: Rule, severity: str | None) -> Iterator[RenderableType]:
    head = Text(plain(rule.pattern), style="bold")
    yield head.append(f"  {plain(rule.title)}", style="not bold")
    yield Text("")
    yield _facts(rule, severity)
    for name, code, style in (("Bad", rule.bad, "red"), ("Good", rule.good, "green")):
        if code:
            yield Text(f"\n{name}", style="bold")
            yield _code(code, style)
    yield Text("\nTo silence one finding, say why in a comment", style="bold")
    yield _code(f"/* jarvis-ignore[{rule.pattern}]: the reason */", "")
    yield Text("\nTo switch the rule off, or to weigh it otherwise", style="bold")
    yield _code(
        f"jarvis sec fast -p PATH --exclude-rules {rule.pattern}\n"
        f"jarvis.yaml:  rules: {{disable: [{rule.pattern}]}}\n"
        f"jarvis.yaml:  rules: {{severity: {{{rule.pattern}: low}}}}",
        "",
    )


def _facts(rule: Rule, severity: str | None) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="cyan")
    grid.add_column(overflow="fold")
    given = f"{severity} by your settings" if severity else severity_of(rule.confidence)
    for name, said in (
        ("What", rule.description),
        ("Real if", rule.verification),
        ("Instead", rule.suggestion),
        ("CWE", f"CWE-{rule.cwe}  {weakness_link(rule)}"),
        ("Of", f"{LANGUAGES.get(rule.language, rule.language)}, {rule.category}"),
        ("Weight", f"confidence {rule.confidence:.2f} before the context is looked at, severity {given}"),
        ("Looks at", _names(rule)),
    ):
        if said:
            grid.add_row(Text(name), Text(plain(said)))
    return grid


def _names(rule: Rule) -> str:
    names = [*rule.calls, *rule.words, *(f"…{tail}" for tail in rule.tails)]
    more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
    return ", ".join(names[:NAMES_MAX]) + more


def _code(code: str, style: str) -> RenderableType:
    lines = (plain(line.expandtabs(4)) for line in code.strip("\n").split("\n"))
    return Padding(Text("\n".join(lines), style=style, overflow="fold"), (0, 0, 0, 4))


def render(parts: Iterator[RenderableType]) -> str:
    """Write to memory: what a broken pipe means is for `main` to say, not for rich."""
    terminal = sys.stdout.isatty()
    width = min(WIDTH_MAX, shutil.get_terminal_size().columns)
    console = Console(file=StringIO(), force_terminal=terminal, width=width, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().rstrip().split("\n"))
