"""Display a finding for triage: location, code and analysis on a page; and one line for a list.

All texts are untrusted: they are escaped for the terminal, and their length is limited.
"""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jarvis_cli.kit.terminal_page import render
from jarvis_workers.paths import plain
from jarvis_workers.sec.report.fired_rules import finding_name
from jarvis_workers.sec.report_document import Excerpt, Issue
from jarvis_workers.sec.triage.queue import WORDS
from jarvis_workers.sec.triage_record import Judgement

TEXT_MAX = 1_500
STEPS_MAX = 12
LINES_MAX = 10
STATUS_STYLES = {"proved": "bold red", "confirmed": "bold red", "review": "bold magenta", "undecided": "bold magenta"}
OF_FINDING = {"description": "What", "verification": "Verified"}
OF_VERDICT = {
    "preconditions": "If",
    "trigger_path": "How",
    "consequences": "Then",
    "suggestions": "Do",
    "reason": "Open",
}


def card(
    issue: Issue, excerpt: Excerpt | None, *, twins: Sequence[int], judgement: Judgement | None, place: str
) -> str:
    """Return a page about a finding: `place` is its number, `twins` are the lines with the same fingerprint."""
    return render(_card(issue, excerpt, twins, (judgement, place)))


def listing(findings: Sequence[Issue], judgements: Mapping[str, Judgement]) -> str:
    """Return a table with one line per finding."""
    rows: list[tuple[str, ...]] = [("ID", "JUDGED", "STATUS", "SEVERITY", "PLACE", "RULE", "REASON")]
    rows += [_row(issue, judgements.get(issue.fingerprint)) for issue in findings]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def word(judgement: Judgement | None) -> str:
    """Return the triage state as a word, "-" for none."""
    return "-" if judgement is None else WORDS[judgement.verdict]


def _row(issue: Issue, judgement: Judgement | None) -> tuple[str, ...]:
    place = f"{issue.candidate.file}:{issue.candidate.line}"
    reason = judgement.reason if judgement else ""
    cells = (issue.id, word(judgement), issue.status, issue.severity, place, finding_name(issue), reason)
    return tuple(map(_short, cells))


def _card(
    issue: Issue, excerpt: Excerpt | None, twins: Sequence[int], rest: tuple[Judgement | None, str]
) -> Iterator[RenderableType]:
    judgement, place = rest
    head = Text(f"\n{place}  ", style="dim").append(issue.status, style=STATUS_STYLES.get(issue.status, "bold"))
    yield head.append(f"  {issue.severity}, score {issue.score:.2f}  {issue.id}", style="not dim")
    where = Text(_short(f"{issue.candidate.file}:{issue.candidate.line}"), style="bold")
    yield where.append(f"  {_short(finding_name(issue))}, CWE-{issue.candidate.cwe}", style="not bold")
    if twins:
        more = "" if len(twins) <= LINES_MAX else f" and {len(twins) - LINES_MAX:,} more"
        lines = ", ".join(str(line) for line in twins[:LINES_MAX])
        yield Text(f"the same code is also on line {lines}{more}: your verdict applies there too", style="dim")
    yield _code(issue, excerpt)
    yield _texts(issue)
    if judgement:
        why = f": {judgement.reason}" if judgement.reason else ""
        yield Text(_short(f"judged {word(judgement)} by {judgement.by}{why}"), style="magenta")


def _code(issue: Issue, excerpt: Excerpt | None) -> RenderableType:
    if excerpt is None:
        return Padding(Text(_short(issue.candidate.evidence), style="red"), (1, 0, 1, 4))
    text = Text()
    for number, line in enumerate(excerpt.lines, excerpt.first):
        here = number == issue.candidate.line
        text.append(f"{'>' if here else ' '} {number:>6}  {plain(line)}\n", style="red" if here else "")
    return Padding(text, (1, 0, 0, 0))


def _texts(issue: Issue) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="cyan")
    grid.add_column(overflow="fold")
    verdict = issue.opinion
    texts = [(label, issue.value(name)) for name, label in OF_FINDING.items()]
    texts += [(label, getattr(verdict, name)) for name, label in OF_VERDICT.items()]
    texts += [] if verdict.suggestions else [("Do", issue.candidate.suggestion)]
    for label, text in texts:
        if text:
            grid.add_row(Text(label), Text(_short(text)))
    steps = issue.path
    for step in steps[:STEPS_MAX]:
        grid.add_row(Text("Step"), Text(_short(f"{step.file}:{step.line}: {step.note}")))
    for quote in verdict.evidence[:STEPS_MAX]:
        grid.add_row(Text("Quote"), Text(_short(f"{quote.file}:{quote.line}: {quote.quote}")))
    return grid


def _short(text: str) -> str:
    """Truncate a text, join its lines, and escape unprintable characters."""
    cut = text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"
    return plain(" ".join(cut.split()))
