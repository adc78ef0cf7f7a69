"""Say what a report counts beside its findings: what comments or people silence, and what a baseline knew already."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.sec.report.html.markup import Html, markup

Body = Mapping[str, Any]

SHOWN_MAX = 1_000
TABLE = """
<details><summary>{title} <small>{count}</small></summary><div class="wide" tabindex="0"><table>
<thead><tr>{heads}</tr></thead>
<tbody>{rows}</tbody></table></div>{more}</details>
"""


def notes(summary: Body) -> Iterator[Html]:
    """Yield a line for what is not among the numbers above the list."""
    if summary.get("suppressed"):
        yield markup(
            '<p class="aside">Suppressed by comments: {count}. <a href="#aside">See which</a></p>',
            count=f"{summary['suppressed']:,}",
        )
    if summary.get("judged_false"):
        yield markup(
            '<p class="aside">Judged false by people: {count}. <a href="#aside">See which</a></p>',
            count=f"{summary['judged_false']:,}",
        )
    if baseline := summary.get("baseline"):
        yield from _compared(baseline)


def _compared(baseline: Body) -> Iterator[Html]:
    yield markup(
        '<p class="aside">Only what is new is listed: of the findings of the baseline <code>{what}</code> {known} '
        "are still there{gone}.</p>",
        what=baseline["what"],
        known=f"{baseline['known']:,}",
        gone=f", {baseline['gone']:,} are gone" if "gone" in baseline else "",
    )
    if less := baseline.get("not_listed"):
        yield markup(
            '<p class="notice">The baseline itself did not list {less} findings: they count as new.</p>',
            less=f"{less:,}",
        )
    if state := baseline.get("state"):
        yield markup(
            '<p class="notice">The run over the baseline is {state}: what it has not checked counts as new.</p>',
            state=state,
        )


def aside(body: Body) -> Iterator[Html]:
    """Yield the section of suppressed findings and of comments that suppress nothing."""
    summary = body["summary"]
    tables = [
        *_suppressed(body.get("suppressed", ()), summary.get("suppressed", 0) + summary.get("judged_false", 0)),
        *_remarks("Comments that suppress nothing", summary, "unused_suppressions"),
        *_remarks("Comments without a reason", summary, "suppressions_without_reason"),
    ]
    if tables:
        yield markup('<section id="aside"><h2>Suppressed</h2>{tables}</section>', tables=tables)


def _suppressed(issues: Sequence[Body], total: int) -> Iterator[Html]:
    rows = [
        (
            issue["severity"],
            issue["pattern"],
            f"{issue['file']}:{issue['line']}",
            issue["evidence"],
            issue.get("suppression", {}).get("justification") or "no reason given",
        )
        for issue in issues[:SHOWN_MAX]
    ]
    yield from _table("Findings", ("Severity", "Rule", "Place", "Code", "Reason"), rows, total)


def _remarks(title: str, summary: Body, name: str) -> Iterator[Html]:
    remarks = summary.get(name, ())
    rows = [
        (f"{remark['file']}:{remark['line']}", remark["text"], remark.get("reason", ""))
        for remark in remarks[:SHOWN_MAX]
    ]
    total = len(remarks) + summary.get(f"{name}_not_listed", 0)
    yield from _table(title, ("Place", "Comment", "Says"), rows, total)


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> Iterator[Html]:
    if not total:
        return
    more = total - len(rows)
    yield markup(
        TABLE,
        title=title,
        count=f"{total:,}",
        heads=[markup('<th scope="col">{head}</th>', head=head) for head in heads],
        rows=[markup("<tr>{cells}</tr>", cells=[markup("<td>{cell}</td>", cell=cell) for cell in row]) for row in rows],
        more=markup("<p>and {more} more, which are not named here</p>", more=f"{more:,}") if more else "",
    )
