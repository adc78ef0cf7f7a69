"""Render the difference of two reports as one HTML file without a script: counts, and a table for each list."""

from collections.abc import Iterator, Sequence
from string import Template
from typing import NamedTuple

from jarvis_workers.markup import Html, markup, page_head, written
from jarvis_workers.sec.report.fired_rules import finding_name
from jarvis_workers.sec.report.html.page import asset
from jarvis_workers.sec.report_document import Issue

ROWS_MAX = 5_000
SECTION = """
<section id="{name}" class="difference"><h2>{title} <small>{count}</small></h2>
<div class="wide" tabindex="0" role="region" aria-label="{title}"><table>
<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>
{more}</section>
"""
ROW = """
<tr><td><span class="badge {severity}">{severity}</span></td><td><b class="rule">{rule}</b></td>
<td><span class="place">{file}:{line}</span></td><td><code>{evidence}</code></td><td>{said}</td></tr>
"""
HEADS = ("Severity", "Rule", "Location", "Code", "Note")


class Section(NamedTuple):
    """A list of findings in a comparison, each with a remark."""

    name: str
    title: str
    rows: Sequence[tuple[Issue, str]]


def render_difference(
    sides: tuple[str, str], sections: Sequence[Section], unchanged: int, notes: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the page; `sides` describe the two reports."""
    style = asset("report.css")
    title = "New, changed and fixed findings"
    yield Template(asset("difference.html")).substitute(
        head=page_head(title, style),
        title=title,
        facts=written(markup("<li>{side}</li>", side=side) for side in sides),
        notes=written(markup('<p class="notice">{note}</p>', note=note) for note in notes),
        tiles=written([*map(_tile, sections), _number("Unchanged", unchanged)]),
        sections=written(_section(one) for one in sections if one.rows),
    )


def _tile(section: Section) -> Html:
    number = len(section.rows)
    if not number:
        return _number(section.title, 0)
    kind = "bad" if section.name == "new" else ""
    return markup(
        '<a class="tile {kind}" href="#{name}"><b>{number}</b><span>{title}</span></a>',
        kind=kind,
        name=section.name,
        number=f"{number:,}",
        title=section.title,
    )


def _number(title: str, number: int) -> Html:
    return markup('<div class="tile"><b>{number}</b><span>{title}</span></div>', number=f"{number:,}", title=title)


def _section(section: Section) -> Html:
    more = len(section.rows) - ROWS_MAX
    return markup(
        SECTION,
        name=section.name,
        title=section.title,
        count=f"{len(section.rows):,}",
        heads=[markup('<th scope="col">{head}</th>', head=head) for head in HEADS],
        rows=[_row(issue, text) for issue, text in section.rows[:ROWS_MAX]],
        more=markup("<p>and {more} more: the JSON format lists them all</p>", more=f"{more:,}") if more > 0 else "",
    )


def _row(issue: Issue, text: str) -> Html:
    return markup(
        ROW,
        severity=issue.severity,
        rule=finding_name(issue),
        file=issue.candidate.file,
        line=issue.candidate.line,
        evidence=issue.candidate.evidence,
        said=text,
    )
