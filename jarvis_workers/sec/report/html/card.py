"""Show one finding as HTML that opens: in a line what and where, inside why, the code and what is known of it.

The page's script builds the same for the findings that are not in the page: what changes here changes there.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jarvis_workers.sec.report.excerpts import Excerpt
from jarvis_workers.sec.report.html.markup import Html, markup

CARD = """
<details class="finding {severity}"><summary><span class="badge {severity}">{severity}</span>
<span class="rule">{rule}</span> <span class="place">{file}:{line}</span>
<code class="evidence">{evidence}</code></summary>
<div class="inside"><p>{description}</p><p class="remedy"><b>What to do:</b> {suggestion}</p>{path}{code}
<dl>{facts}</dl></div></details>
"""
STEP = ("file", "line", "note")
CWE = """
<a href="https://cwe.mitre.org/data/definitions/{cwe}.html" rel="noopener noreferrer" target="_blank">CWE-{cwe}</a>
"""


def card(issue: Mapping[str, Any], excerpt: Excerpt | None) -> Html:
    """Return a finding, closed."""
    return markup(
        CARD,
        severity=issue["severity"],
        rule=issue["pattern"],
        file=issue["file"],
        line=issue["line"],
        evidence=issue["evidence"],
        description=issue["description"],
        suggestion=issue["suggestion"],
        path=_path(issue["path"]) if "path" in issue else "",
        code=_code(excerpt, issue["line"]) if excerpt else "",
        facts=[
            markup("<div><dt>{term}</dt><dd>{said}</dd></div>", term=term, said=said) for term, said in _facts(issue)
        ],
    )


def cwe_link(number: int) -> Html | str:
    """Return the way to what a weakness is; nothing is loaded until somebody goes there."""
    return markup(CWE.strip(), cwe=number) if number else "none"


def _path(steps: Iterable[Mapping[str, Any]]) -> Html:
    return markup(
        '<ol class="path">{steps}</ol>',
        steps=[
            markup('<li><span class="place">{file}:{line}</span> {note}</li>', **{name: step[name] for name in STEP})
            for step in steps
        ],
    )


def _code(excerpt: Excerpt, line: int) -> Html:
    first, lines = excerpt
    return markup(
        '<pre class="code" tabindex="0">{lines}</pre>',
        lines=[
            markup(
                '<span class="line{hit}"><span class="number">{number}</span>{text}\n</span>',
                hit=" hit" if number == line else "",
                number=number,
                text=text,
            )
            for number, text in enumerate(lines, start=first)
        ],
    )


def _facts(issue: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield "Confidence", f"{issue['confidence']:.2f}"
    yield "Score", f"{issue['score']:.2f}"
    yield "Category", issue["category"]
    yield "Weakness", cwe_link(issue["cwe"])
    yield "Status", issue["status"]
    yield "Finding", issue["id"]
    yield "Fingerprint", issue["fingerprint"]
