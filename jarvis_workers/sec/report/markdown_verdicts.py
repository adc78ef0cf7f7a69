"""Write what a model has said of findings as Markdown: all of it where a person must act, a line where not.

Confirmed findings come first, those of highest score before the others.  What is undecided stands under its reason:
where a model was not there at all, that is one reason for thousands of lines.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.sec.report.escape import code, fenced, lines, prose
from jarvis_workers.sec.report.verdicts import MEANS, OPEN, TEXTS, WORDS, counted, said_against

__all__ = ["dismissed_findings", "steps", "verdict_findings"]

Issue = Mapping[str, Any]
TOLD = ("confirmed", "review")


def verdict_findings(issues: Sequence[Issue]) -> Iterator[str]:
    """Yield the findings that nobody has dismissed, by status, then by score."""
    for status in OPEN:
        found = sorted((one for one in issues if one["status"] == status), key=lambda issue: -issue["score"])
        if not found:
            continue
        yield f"## {WORDS[status].capitalize()}"
        yield MEANS[status]
        if status in TOLD:
            for issue in found:
                yield from _told(issue)
        else:
            yield from _by_reason(found)


def dismissed_findings(dismissed: Sequence[Issue], summary: Issue) -> Iterator[str]:
    """Yield a line for each dismissed finding, with what speaks against it."""
    if not summary.get("dismissed"):
        return
    yield "## Dismissed"
    yield MEANS["dismissed"]
    if dismissed:
        yield "\n".join(map(_dismissed, dismissed))
    if (more := summary["dismissed"] - len(dismissed)) > 0:
        yield f"Not listed: {counted(more, 'dismissed finding')}."


def steps(issue: Issue, indent: str = "") -> Iterator[str]:
    """Yield a numbered line for each step that leads to a finding."""
    for number, step in enumerate(issue.get("path", ()), 1):
        yield f"{indent}{number}. {_place(step)}: {prose(step['note'])}"


def _place(place: Issue) -> str:
    return f"{code(place['file'])} line {place['line']}"


def _told(issue: Issue) -> Iterator[str]:
    yield f"### {issue['id']}: {code(issue['pattern'])} in {_place(issue)}"
    weakness = f", CWE-{issue['cwe']}" if issue["cwe"] else ""
    cluster = f", cluster {issue['cluster']}" if issue.get("cluster") else ""
    sure = f"confidence {issue['confidence']:.2f}, score {issue['score']:.2f}"
    yield f"{issue['severity'].capitalize()} severity, {sure}{weakness}{cluster}."
    yield "\n".join(_facts(issue))
    if issue.get("quotes"):
        yield "Evidence:"
        yield "\n".join(map(_quote, issue["quotes"])).rstrip()
    if way := list(steps(issue)):
        yield "The way there:"
        yield "\n".join(way)
    if issue.get("commands"):
        yield "To repeat what was run, in a copy of the source:"
        for command in issue["commands"]:
            yield fenced(command["script"], command["interpreter"])


def _facts(issue: Issue) -> Iterator[str]:
    yield f"- **Code:** {code(issue['evidence'])}"
    if issue.get("reason"):
        yield f"- **Why it is for review:** {lines(issue['reason'])}"
    for name, title in TEXTS.items():
        if issue.get(name):
            yield f"- **{title}:** {lines(issue[name])}"
    if issue.get("verification"):
        yield f"- **Asked:** {lines(issue['verification'])}"


def _quote(quote: Issue) -> str:
    text = quote["quote"].strip("\n")
    if "\n" in text:
        return f"- {_place(quote)}:\n\n{fenced(text, indent='  ')}\n"
    return f"- {_place(quote)}: {code(text)}"


def _by_reason(found: Sequence[Issue]) -> Iterator[str]:
    reasons: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in found:
        reasons[issue.get("reason") or ""].append(issue)
    for reason, issues in reasons.items():
        if reason:
            yield f"**{lines(reason)}** ({counted(len(issues), 'finding')})"
        yield "\n".join(f"{_line(issue)}: {code(issue['evidence'])} (score {issue['score']:.2f})" for issue in issues)


def _dismissed(issue: Issue) -> str:
    against = said_against(issue)
    said = f": {prose(against)}" if against else f": {code(issue['evidence'])}"
    shown = "".join(f" Shown by {_place(quote)}: {code(quote['quote'])}" for quote in issue.get("quotes", ())[:1])
    return f"{_line(issue)}{said}{shown}"


def _line(issue: Issue) -> str:
    return f"- **{issue['id']}** {_place(issue)}, {code(issue['pattern'])}"
