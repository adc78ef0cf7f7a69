"""Sections on findings that a report sets aside: suppressed by comments or people, or in the baseline."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.markup import Html, markup
from jarvis_workers.sec.report.exclusions import ignored_by_git, set_aside
from jarvis_workers.sec.report.scope_notes import scope_notes
from jarvis_workers.sec.report_document import BaselineSummary, Issue, ReportBody, Summary, SuppressionRemark
from jarvis_workers.words import Words

SHOWN_MAX = 1_000
REMARKS = {
    "unused_suppressions": "Unused suppressions",
    "suppressions_without_reason": "Suppressions without a reason",
}
TABLE = """
<details><summary>{title} <small>{count}</small></summary><div class="wide" tabindex="0"><table>
<thead><tr>{heads}</tr></thead>
<tbody>{rows}</tbody></table></div>{more}</details>
"""


def notes(summary: Summary, run: Mapping[str, Any], say: Words) -> Iterator[Html]:
    """Yield a line for each kind of finding excluded from the numbers above the list."""
    yield from (markup('<p class="aside">{said}</p>', said=note) for note in scope_notes(run, say))
    if summary.suppressed:
        yield _counted(say("Suppressed by comments: {count}.", count=f"{summary.suppressed:,}"), say)
    if summary.judged_false:
        yield _counted(say("Marked as false positives in triage: {count}.", count=f"{summary.judged_false:,}"), say)
    if summary.judged_wontfix:
        yield _counted(say("Marked won't fix in triage: {count}.", count=f"{summary.judged_wontfix:,}"), say)
    if later := summary.judged_later:
        text = say("Postponed in triage, and still listed: {findings}.", findings=say.count(later, "finding"))
        yield markup('<p class="aside">{text}</p>', text=text)
    if ignored := ignored_by_git(summary, say):
        note = say("Excluded by .gitignore: {ignored}.", ignored=ignored)
        yield markup('<p class="aside">{said} <a href="#left-out">{see}</a></p>', said=note, see=say("See which"))
    if baseline := summary.baseline:
        yield from _compared(baseline, say)


def _counted(text: str, say: Words) -> Html:
    return markup('<p class="aside">{said} <a href="#aside">{see}</a></p>', said=text, see=say("See which"))


def _compared(baseline: BaselineSummary, say: Words) -> Iterator[Html]:
    text = "Only new findings are listed: {known} findings of the baseline <code>{what}</code> still exist{gone}."
    fixed = say(", {number} no longer found", number=f"{baseline.gone:,}") if baseline.gone is not None else ""
    note = markup(say(text), what=baseline.what, known=f"{baseline.known:,}", gone=fixed)
    yield markup('<p class="aside">{said}</p>', said=note)
    if less := baseline.not_listed:
        text = "The baseline itself did not list {less} findings: they count as new."
        yield markup('<p class="notice">{said}</p>', said=say(text, less=f"{less:,}"))
    if state := baseline.state:
        text = "The run over the baseline is {state}: findings in files that it did not check count as new."
        yield markup('<p class="notice">{said}</p>', said=say(text, state=state))


def exclusion_list(body: ReportBody, say: Words) -> Iterator[Html]:
    """Yield the section of suppressed findings and of comments that suppress nothing."""
    summary = body.summary
    tables = [
        *_suppressed(body.suppressed, set_aside(summary), say),
        *_remarks("unused_suppressions", summary, say),
        *_remarks("suppressions_without_reason", summary, say),
    ]
    if tables:
        section = '<section id="aside"><h2>{title}</h2>{tables}</section>'
        yield markup(section, title=say("Suppressed"), tables=tables)


def _suppressed(issues: Sequence[Issue], total: int, say: Words) -> Iterator[Html]:
    rows = [
        (
            say(issue.severity),
            issue.candidate.pattern,
            f"{issue.candidate.file}:{issue.candidate.line}",
            issue.candidate.evidence,
            (issue.suppression and issue.suppression.justification) or say("no reason given"),
        )
        for issue in issues[:SHOWN_MAX]
    ]
    heads = [say("Severity"), say("Rule"), say("Location"), say("Code"), say("Reason")]
    yield from _table([say("Findings"), *heads], rows, total, say)


def _remarks(name: str, summary: Summary, say: Words) -> Iterator[Html]:
    remarks: Sequence[SuppressionRemark] = getattr(summary, name)
    rows = [(f"{remark.file}:{remark.line}", remark.text, remark.reason or "") for remark in remarks[:SHOWN_MAX]]
    total = len(remarks) + getattr(summary, f"{name}_not_listed")
    yield from _table([say(REMARKS[name]), say("Location"), say("Comment"), say("Remark")], rows, total, say)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], total: int, say: Words) -> Iterator[Html]:
    """Yield a table; the first of `heads` is its title, the others are column headings."""
    if not total:
        return
    more = total - len(rows)
    rest = say("and {more} more", more=f"{more:,}")
    yield markup(
        TABLE,
        title=heads[0],
        count=f"{total:,}",
        heads=[markup('<th scope="col">{head}</th>', head=head) for head in heads[1:]],
        rows=[markup("<tr>{cells}</tr>", cells=[markup("<td>{cell}</td>", cell=cell) for cell in row]) for row in rows],
        more=markup("<p>{rest}</p>", rest=rest) if more else "",
    )
