"""Explain each rule of a report once: the risk, the fix, a bad and a good example, and how to suppress findings."""

from collections.abc import Iterator, Sequence

from jarvis_workers.markup import Html, in_lines, markup
from jarvis_workers.sec.report.fired_rules import rule_of, rule_texts
from jarvis_workers.sec.report.html.card import about_anchor
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.words import Words

ABOUT = """
<details class="about" id="{anchor}"><summary><b class="rule">{rule}</b></summary>
<p>{description}</p><p><b>{remedy}</b> {suggestion}</p>{examples}
<p>{suppress} <code>// jarvis-ignore[{pattern}]: {reason}</code></p></details>
"""


def about_rules(issues: Sequence[Issue], say: Words) -> Iterator[Html]:
    """Yield the explanation of each rule of the findings, by name."""
    first: dict[str, Issue] = {}
    for issue in issues:
        first.setdefault(rule_of(issue), issue)
    for rule, issue in sorted(first.items()):
        description, suggestion = rule_texts(issue, say)
        yield markup(
            ABOUT,
            anchor=about_anchor(rule),
            rule=rule,
            pattern=issue.candidate.pattern,
            description=description,
            remedy=say("What to do:"),
            suggestion=suggestion,
            examples=list(_examples(issue.candidate.pattern, say)),
            suppress=say("To suppress a finding, give the reason in a comment on its line or the line above:"),
            reason=say("reason"),
        )


def _examples(pattern: str, say: Words) -> Iterator[Html]:
    rule = RULES_BY_PATTERN.get(pattern)
    if rule is None:
        return
    for title, text in ((say("Bad"), rule.bad), (say("Good"), rule.good)):
        if text:
            piece = '<p class="where">{title}</p><pre class="code" tabindex="0">{text}</pre>'
            yield markup(piece, title=title, text=in_lines(text))
