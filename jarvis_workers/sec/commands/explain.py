"""Display rules: a list, and a page about one rule; styled and wrapped on a terminal, plain otherwise."""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jarvis_cli.kit.terminal_page import render
from jarvis_workers.paths import plain
from jarvis_workers.sec.rule_docs import LANGUAGES, weakness_link
from jarvis_workers.sec.rules import Rule
from jarvis_workers.sec.severity import severity_of
from jarvis_workers.words import ENGLISH, Words

NAMES_MAX = 12
Titled = tuple[Rule, str]


def table(rules: Sequence[Rule], on: Collection[str], severities: Mapping[str, str], say: Words = ENGLISH) -> str:
    """Return the list of rules: grouped by language and category on a terminal, else one line per rule."""
    titles = [_title(rule, on, severities.get(rule.pattern), say) for rule in rules]
    if sys.stdout.isatty():
        return render(_grouped(list(zip(rules, titles, strict=True)), on, say))
    rows = [("ID", "LANGUAGE", "CATEGORY", "CWE", "CONFIDENCE", "TITLE")]
    rows += [
        (
            rule.pattern,
            rule.language,
            rule.category,
            f"CWE-{rule.cwe}",
            f"{rule.confidence:.2f}",
            title,
        )
        for rule, title in zip(rules, titles, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(map(plain, lines))


def page(rule: Rule, severity: str | None = None, say: Words = ENGLISH) -> str:
    """Return a page about a rule; `severity` is the one from the settings."""
    return render(_page(rule, severity, say))


def _title(rule: Rule, on: Collection[str], severity: str | None, say: Words) -> str:
    notes = [] if rule.pattern in on else [say("off")]
    notes += [say("severity {severity}", severity=say(severity))] if severity else []
    return f"{rule.title} ({', '.join(notes)})" if notes else rule.title


def _grouped(rules: Sequence[Titled], on: Collection[str], say: Words) -> Iterator[RenderableType]:
    width = max((len(rule.pattern) for rule, _ in rules), default=0)
    for number, (language, group) in enumerate(groupby(rules, key=lambda one: one[0].language)):
        yield Text(("\n" if number else "") + say(LANGUAGES.get(language, language)), style="bold")
        for category, same in groupby(group, key=lambda one: one[0].category):
            yield Text(f"\n  {category}", style="cyan")
            yield _rows(list(same), on, width)
    yield Text("\n" + say("Details of a rule: jarvis sec explain ID"), style="dim")


def _rows(rules: Sequence[Titled], on: Collection[str], width: int) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=width, no_wrap=True)
    grid.add_column(width=8, no_wrap=True)
    grid.add_column(width=4, no_wrap=True)
    grid.add_column(overflow="fold")
    for rule, title in rules:
        style = "" if rule.pattern in on else "dim"
        cells = (rule.pattern, f"CWE-{rule.cwe}", f"{rule.confidence:.2f}", title)
        grid.add_row(*(Text(plain(cell), style=style) for cell in cells))
    return Padding(grid, (0, 0, 0, 4))


def _page(rule: Rule, severity: str | None, say: Words) -> Iterator[RenderableType]:
    head = Text(plain(rule.pattern), style="bold")
    yield head.append(f"  {plain(rule.title)}", style="not bold")
    yield Text("")
    yield _facts(rule, severity, say)
    for name, code, style in ((say("Bad"), rule.bad, "red"), (say("Good"), rule.good, "green")):
        if code:
            yield Text(f"\n{name}", style="bold")
            yield _code(code, style)
    yield Text("\n" + say("To suppress one finding, give the reason in a comment"), style="bold")
    yield _code(f"/* jarvis-ignore[{rule.pattern}]: {say('the reason')} */", "")
    yield Text("\n" + say("To disable the rule or change its severity"), style="bold")
    yield _code(
        f"jarvis sec fast -p PATH --exclude-rules {rule.pattern}\n"
        f"jarvis.yaml:  rules: {{disable: [{rule.pattern}]}}\n"
        f"jarvis.yaml:  rules: {{severity: {{{rule.pattern}: low}}}}",
        "",
    )


def _facts(rule: Rule, severity: str | None, say: Words) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="cyan")
    grid.add_column(overflow="fold")
    for name, text in (
        (say("What"), rule.description),
        (say("True if"), rule.verification),
        (say("Fix"), rule.suggestion),
        ("CWE", f"CWE-{rule.cwe}  {weakness_link(rule)}"),
        (say("Language"), f"{say(LANGUAGES.get(rule.language, rule.language))}, {rule.category}"),
        (say("Severity"), _weight(rule, severity, say)),
        (say("Matches"), _names(rule, say)),
        (say("Sources"), _patterns(rule, "sources")),
        (say("Sinks"), _patterns(rule, "sinks")),
        (say("Sanitizers"), _patterns(rule, "sanitizers")),
        (say("Propagators"), _patterns(rule, "propagators")),
    ):
        if text:
            grid.add_row(Text(name), Text(plain(text)))
    return grid


def _weight(rule: Rule, severity: str | None, say: Words) -> str:
    level = say(severity or severity_of(rule.confidence, rule.cwe))
    text = "{severity}; confidence {confidence} before the context is considered"
    line = say(text, confidence=f"{rule.confidence:.2f}", severity=level)
    return f"{line}{say(', set in your settings')}" if severity else line


def _names(rule: Rule, say: Words) -> str:
    names = [*rule.calls, *rule.words, *(f"…{tail}" for tail in rule.tails)]
    more = say(" and {number} more", number=len(names) - NAMES_MAX) if len(names) > NAMES_MAX else ""
    return ", ".join(names[:NAMES_MAX]) + more


def _patterns(rule: Rule, kind: str) -> str:
    """Return the patterns of a project's own rule, a line each."""
    return "\n".join(row["pattern"] for row in (rule.taint or {}).get(kind, ()))


def _code(code: str, style: str) -> RenderableType:
    lines = (plain(line.expandtabs(4)) for line in code.strip("\n").split("\n"))
    return Padding(Text("\n".join(lines), style=style, overflow="fold"), (0, 0, 0, 4))
