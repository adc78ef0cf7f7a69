"""Show one finding as HTML that opens: in a line what and where, inside why, the code and what is known of it.

The page's script builds the same for the findings that are not in the page: what changes here changes there.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jarvis_workers.sec.report.excerpts import OWN, QUOTE, STEP, Excerpt
from jarvis_workers.sec.report.html import verdict
from jarvis_workers.sec.report.html.markup import Html, in_lines, markup
from jarvis_workers.sec.report.verdicts import WORDS
from jarvis_workers.sec.report.words import Words

CARD = """
<details class="finding {severity}{judged}"><summary><span class="badge {severity}">{grave}</span>{status}
<span class="rule">{rule}</span> <span class="place">{file}:{line}</span>
<code class="evidence">{evidence}</code></summary>
<div class="inside"><p>{description}</p>{reason}{words}<p class="remedy"><b>{title}</b> {remedy}</p>{path}{code}
{quotes}{scripts}<dl>{facts}</dl></div></details>
"""
MARKED = {OWN: "the finding", QUOTE: "evidence", STEP: "a step on the way"}
PLACE = ("file", "line", "note")
CWE = """
<a href="https://cwe.mitre.org/data/definitions/{cwe}.html" rel="noopener noreferrer" target="_blank">CWE-{cwe}</a>
"""


def card(issue: Mapping[str, Any], excerpt: Excerpt | None, say: Words, *, judged: bool = False) -> Html:
    """Return a finding, closed; `judged` says that findings of the report have verdicts."""
    return markup(
        CARD,
        judged=" judged" if judged else "",
        status=_status(issue["status"], say) if judged else "",
        severity=issue["severity"],
        grave=say(issue["severity"]),
        title=say("What to do:"),
        rule=issue["pattern"],
        file=issue["file"],
        line=issue["line"],
        evidence=issue["evidence"],
        description=issue["description"],
        reason=verdict.reason(issue, say),
        words=verdict.words(issue, say),
        remedy=in_lines(issue.get("suggestions") or issue["suggestion"]),
        path=_path(issue["path"]) if "path" in issue else "",
        code=_codes(excerpt, issue["line"], say) if excerpt else "",
        quotes=verdict.evidence(issue.get("quotes", ()), say),
        scripts=verdict.scripts(issue.get("commands", ()), say),
        facts=[
            markup("<div><dt>{term}</dt><dd>{said}</dd></div>", term=say(term), said=said)
            for term, said in _facts(issue, say)
        ],
    )


def cwe_link(number: int, say: Words) -> Html | str:
    """Return the way to what a weakness is; nothing is loaded until somebody goes there."""
    return markup(CWE.strip(), cwe=number) if number else say("none")


def _path(steps: Iterable[Mapping[str, Any]]) -> Html:
    return markup(
        '<ol class="path">{steps}</ol>',
        steps=[
            markup('<li><span class="place">{file}:{line}</span> {note}</li>', **{name: step[name] for name in PLACE})
            for step in steps
        ],
    )


def _status(status: str, say: Words) -> Html:
    return markup(' <span class="status {name}">{word}</span>', name=status, word=say(WORDS.get(status, status)))


def _codes(excerpt: Excerpt, line: int, say: Words) -> Iterator[Html]:
    """Yield the code around a finding, and what speaks of it elsewhere."""
    yield _code(excerpt, line, say)
    for piece in excerpt.more:
        yield markup('<p class="where">{file}</p>{code}', file=piece.file, code=_code(piece, 0, say))


def _code(excerpt: Excerpt, line: int, say: Words) -> Html:
    kinds = dict(excerpt.marks) | {line: OWN}
    return markup(
        '<pre class="code" tabindex="0">{lines}</pre>',
        lines=[
            markup(
                '<span class="line{kind}"{title}><span class="number">{number}</span>{text}\n</span>',
                kind=f" {kinds[number]}" if number in kinds else "",
                title=markup(' title="{means}"', means=say(MARKED[kinds[number]])) if number in kinds else "",
                number=number,
                text=text,
            )
            for number, text in enumerate(excerpt.lines, start=excerpt.first)
        ],
    )


def _facts(issue: Mapping[str, Any], say: Words) -> Iterator[tuple[str, object]]:
    yield "Confidence", f"{issue['confidence']:.2f}"
    yield "Score", f"{issue['score']:.2f}"
    yield "Category", issue["category"]
    yield "Weakness", cwe_link(issue["cwe"], say)
    yield "Status", say(issue["status"])
    if issue.get("cluster"):
        yield "Cluster", issue["cluster"]
    yield "Finding", issue["id"]
    yield "Fingerprint", issue["fingerprint"]
