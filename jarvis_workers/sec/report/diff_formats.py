"""Render the difference of two reports: as text for a terminal, Markdown for a review, JSON for programs, or HTML."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.escape import code, prose
from jarvis_workers.paths import plain
from jarvis_workers.report_formats import SUFFIXES
from jarvis_workers.sec.report.diff import Difference, status_of
from jarvis_workers.sec.report.fired_rules import finding_name
from jarvis_workers.sec.report.html.difference import Section, render_difference
from jarvis_workers.sec.report.json import harmless
from jarvis_workers.sec.report.markdown_verdicts import finding_label
from jarvis_workers.sec.report.verdicts import WORDS
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.words import commit_mark

Part = Mapping[str, Any]
# A finding, and a remark on it.
Row = tuple[Issue, str]

TITLES = {
    "new": "New",
    "changed": "Verdict changed",
    "fixed": "Fixed",
    "not_checked": "Not checked in the later run",
}
ISSUE_FIELDS = ("id", "severity", "score", "pattern", "file", "line", "evidence", "cwe", "fingerprint")
RUN_FIELDS = ("id", "kind", "state", "scanned_root", "created_at", "version")
COMMIT_DIGITS = 9
DIFFERENT_SCOPES = "The scans have different scopes, so findings may be new or gone for that reason:"


class Sides(NamedTuple):
    """The `run` parts of the earlier and the later run, their difference, and limits of the comparison.

    `scopes` are the differences of their scopes: if there are any, a finding may be new or gone because of them.
    """

    before: Part
    after: Part
    difference: Difference
    notes: Sequence[str] = ()
    scopes: Sequence[str] = ()

    @property
    def warning(self) -> str:
        """A sentence about different scopes; empty if they are equal."""
        return f"{DIFFERENT_SCOPES} {'; '.join(self.scopes)}" if self.scopes else ""


def write_text(sides: Sides) -> Iterator[str]:
    """Yield lines for a terminal, without control sequences."""
    yield f"{plain(sides.warning)}\n" if sides.scopes else ""
    yield f"{_run_line(sides.before)} -> {_run_line(sides.after)}\n{_counts(sides.difference)}\n"
    yield from (f"note: {plain(note)}\n" for note in sides.notes)
    for name, rows in _rows(sides.difference).items():
        if rows:
            yield f"\n{TITLES[name].upper()}\n"
        for issue, text in rows:
            place = f"{issue.candidate.file}:{issue.candidate.line}"
            yield plain(f"  {issue.severity:<6}  {place}  {finding_name(issue)}  {issue.candidate.evidence}") + _aside(
                text
            )


def write_markdown(sides: Sides) -> Iterator[str]:
    """Yield GitHub-flavoured Markdown; text from the scanned trees is escaped."""
    yield "# Two scans compared\n\n"
    yield f"> **{prose(sides.warning)}**\n\n" if sides.scopes else ""
    yield f"{prose(_run_line(sides.before))} → {prose(_run_line(sides.after))}\n\n**{_counts(sides.difference)}**\n"
    yield from (f"\n> {prose(note)}\n" for note in sides.notes)
    for name, rows in _rows(sides.difference).items():
        if rows:
            yield f"\n## {TITLES[name]}\n\n"
        for issue, text in rows:
            place = f"{code(issue.candidate.file)} line {issue.candidate.line}, {finding_label(issue)}"
            yield f"- **{issue.id}** {issue.severity}, {place}: {code(issue.candidate.evidence)}"
            yield f" ({prose(text)})\n" if text else "\n"


def write_json(sides: Sides) -> Iterator[str]:
    """Yield one object: both runs, the counts, and the findings of each list."""
    head = {
        "different_scopes": list(sides.scopes),
        "before": _side(sides.before),
        "after": _side(sides.after),
        "summary": sides.difference.counts,
        "notes": list(sides.notes),
    }
    yield harmless(json.dumps(head, ensure_ascii=False, indent=2))[:-2]
    for name, rows in _entries(sides.difference).items():
        yield f",\n  {json.dumps(name)}: ["
        for place, row in enumerate(rows):
            yield f"{',' if place else ''}\n    {harmless(json.dumps(row, ensure_ascii=False))}"
        yield "\n  ]" if rows else "]"
    yield "\n}\n"


def write_html(sides: Sides) -> Iterator[str]:
    """Yield one HTML file that loads nothing."""
    sections = [Section(name, TITLES[name], rows) for name, rows in _rows(sides.difference).items()]
    described = (f"Earlier: {_run_line(sides.before)}", f"Later: {_run_line(sides.after)}")
    yield from render_difference(
        described, sections, sides.difference.unchanged, [*filter(None, [sides.warning]), *sides.notes]
    )


def _side(part: Part) -> dict[str, Any]:
    file = {"file": part["file"]} if "file" in part else {}
    return {name: part.get(name) for name in RUN_FIELDS} | file


def _entries(difference: Difference) -> dict[str, list[Part]]:
    def issue_fields(issue: Issue) -> dict[str, Any]:
        return {name: issue.value(name) for name in ISSUE_FIELDS} | {"status": status_of(issue)}

    return {
        "new": [issue_fields(issue) for issue in difference.new],
        "changed": [issue_fields(one.issue) | {"was": one.was, "is": one.now} for one in difference.changed],
        "fixed": [issue_fields(issue) for issue in difference.fixed],
        "not_checked": [issue_fields(one.issue) | {"reason": one.reason} for one in difference.not_checked],
    }


def _rows(difference: Difference) -> dict[str, list[Row]]:
    return {
        "new": [(issue, _verdict(issue)) for issue in difference.new],
        "changed": [(one.issue, f"{_word(one.was)} -> {_word(one.now)}") for one in difference.changed],
        "fixed": [(issue, _verdict(issue)) for issue in difference.fixed],
        "not_checked": [(one.issue, one.reason) for one in difference.not_checked],
    }


def _verdict(issue: Issue) -> str:
    """Return a model's verdict in words, empty if no model was asked."""
    return "" if issue.status == "heuristic" else _word(status_of(issue))


def _word(status: str) -> str:
    return "open" if status == "heuristic" else WORDS.get(status, status)


def _aside(text: str) -> str:
    return f"  ({plain(text)})\n" if text else "\n"


def _counts(difference: Difference) -> str:
    names = {"changed": "with a different verdict", "not_checked": "not checked"}
    return ", ".join(f"{number:,} {names.get(name, name)}" for name, number in difference.counts.items())


def _run_line(run: Part) -> str:
    moment = f"{str(run['created_at'])[:19].replace('T', ' ')} UTC" if run.get("created_at") else ""
    facts = ", ".join(filter(None, [*_version(run), str(run.get("kind")), str(run.get("state")), moment]))
    if "file" in run:
        return plain(f"{run['file']} (run {run.get('id')}, {facts})")
    return plain(f"{run.get('id')} ({facts})")


def _version(run: Part) -> Iterator[str]:
    """Yield the label, and the branch or commit, of a run that has them."""
    if label := run.get("label"):
        yield str(label)
    checkout = run.get("checkout")
    if isinstance(checkout, dict) and (commit := str(checkout.get("commit") or "")[:COMMIT_DIGITS]):
        yield " ".join(filter(None, (str(checkout.get("branch") or ""), commit + commit_mark(checkout))))


DIFFERENCE_FORMS: Mapping[str, Callable[[Sides], Iterator[str]]] = {
    "text": write_text,
    "json": write_json,
    "markdown": write_markdown,
    "html": write_html,
}
DIFFERENCE_SUFFIXES = {suffix: form for suffix, form in SUFFIXES.items() if form in DIFFERENCE_FORMS}
