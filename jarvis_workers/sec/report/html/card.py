"""Render one finding as expandable HTML: a summary line, and inside it the reason, the code and the facts.

The page's script builds the same HTML for findings that are not in the page: changes here must be repeated there.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from jarvis_workers.markup import Html, in_lines, markup, written
from jarvis_workers.sec.report.excerpts import OWN, QUOTE, STEP
from jarvis_workers.sec.report.fired_rules import finding_title, rule_of, rule_texts
from jarvis_workers.sec.report.html import verdict_section
from jarvis_workers.sec.report.html.charts import link_to
from jarvis_workers.sec.report.verdicts import WORDS
from jarvis_workers.sec.report_document import Excerpt, Issue, ReportBody
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sourcelinks import link_to_source
from jarvis_workers.words import Words

CARD = """
<details class="finding {severity}{judged}"><summary><span class="badge {severity}">{grave}</span>{badges}
<span class="name">{name} <span class="rule">{rule}</span></span> <span class="place">{file}:{line}{more}</span>
<code class="evidence">{evidence}</code></summary>
<div class="inside"><p class="why">{description}</p>{reason}{words}<p class="remedy"><b>{title}</b> {remedy}</p>{patch}
{proof}{places}{path}{code}{quotes}{scripts}<dl>{facts}</dl>{silence}</div></details>
"""
SOURCE = '<a href="{href}" rel="noopener noreferrer" target="_blank">{file}:{line}</a>'
SILENCE = """
<p class="silence">{question} <code>// jarvis-ignore[{rule}]: {reason}</code> {other} <code>{command}</code>
<a href="{href}">{about}</a></p>
"""
MARKED = {OWN: "the finding", QUOTE: "evidence", STEP: "a step of the path"}
# Maximum number of step numbers on one line; if there are more, only the first and the last are shown.
MANY = 2
PLACES_MAX = 200
TRIAGE = {True: "true", False: "false", "wontfix": "won't fix", "later": "later"}
CWE = """
<a href="https://cwe.mitre.org/data/definitions/{cwe}.html" rel="noopener noreferrer" target="_blank">CWE-{cwe}</a>
"""


class CardStep(NamedTuple):
    """A step of a trace: its number, from 1, and the anchor of its line if that is shown."""

    number: int
    file: str
    line: int
    note: str
    anchor: str | None


def card(
    issue: Issue,
    body: ReportBody,
    say: Words,
    *,
    others: Sequence[Issue] = (),
    judged: bool = False,
    run: str = "last",
    source_url: str | None = None,
) -> Html:
    """Return a collapsed finding of a report; `others` are the findings with its root cause.

    `judged` means that findings of the report have verdicts, `run` is the report's `run` part, `source_url` the
    template of links to the source (see sourcelinks.py).
    """
    path, code = trace_and_code(issue, body.excerpts.get(issue.id), say)
    return markup(
        CARD,
        judged=" judged" if judged else "",
        badges=_badges(issue, say) if judged else "",
        severity=issue.severity,
        grave=say(issue.severity),
        title=say("What to do:"),
        name=finding_title(issue, body.titles),
        rule=rule_of(issue),
        file=issue.candidate.file,
        line=issue.candidate.line,
        more=_more(others),
        evidence=issue.candidate.evidence,
        places=_places(others, say),
        description=issue.candidate.description,
        remedy=in_lines(issue.opinion.suggestions or issue.candidate.suggestion),
        path=path,
        code=code,
        **verdict_section.parts(issue, body.patches.get(issue.id), say),
        facts=_fact_list(issue, say, source_url),
        silence=silence(issue, run, say),
    )


def trace_and_code(issue: Issue, excerpt: Excerpt | None, say: Words) -> tuple[Html, Html]:
    """Return the steps that lead to a finding, and the code around the steps and the finding; either may be empty."""
    pieces = in_order(excerpt, issue.candidate.file, issue.candidate.line) if excerpt else []
    steps = _numbered(issue, pieces)
    return _path(steps) if steps else Html(""), written(_codes(pieces, steps, say))


def in_order(excerpt: Excerpt, file: str, line: int) -> list[Excerpt]:
    """Return the pieces of an excerpt, with marks, in line order; those of the finding's own file come first."""
    marks = tuple({**dict(excerpt.marks), line: OWN}.items())
    pieces = [excerpt._replace(file=file, marks=marks), *excerpt.more]
    files = list(dict.fromkeys(piece.file for piece in pieces))
    return sorted(pieces, key=lambda piece: (files.index(piece.file), piece.first))


def _more(others: Sequence[Issue]) -> Html | str:
    return markup(' <span class="more">+{number}</span>', number=f"{len(others):,}") if others else ""


def _places(others: Sequence[Issue], say: Words) -> Html | str:
    """Return the places of the other findings with the root cause of a finding."""
    if not others:
        return ""
    return markup(
        '<div class="places"><b>{title}</b><ul class="path">{places}</ul></div>',
        title=say("Same root cause"),
        places=[
            markup(
                '<li><a class="place" href="{href}">{file}:{line}</a> <span class="rule">{rule}</span>'
                " <code>{evidence}</code></li>",
                href=link_to(id=issue.id),
                file=issue.candidate.file,
                line=issue.candidate.line,
                rule=rule_of(issue),
                evidence=issue.candidate.evidence,
            )
            for issue in others[:PLACES_MAX]
        ],
    )


def silence(issue: Issue, run: str, say: Words) -> Html:
    """Return instructions to suppress a finding, in the code or in triage, with a link to its rule."""
    command = f"jarvis sec triage {run} --mark {issue.id}=false --reason '...'"
    return markup(
        SILENCE.strip(),
        question=say("Not a bug?"),
        rule=issue.candidate.pattern,
        reason=say("reason"),
        other=say("or"),
        command=command,
        href=f"#{about_anchor(rule_of(issue))}",
        about=say("About this rule"),
    )


def about_anchor(rule: str) -> str:
    """Return the anchor of the explanation of a rule."""
    return f"rule-{quote(rule, safe='', errors='replace')}"


def cwe_link(number: int, say: Words) -> Html | str:
    """Return a link to the description of a weakness; nothing is loaded until the link is followed."""
    return markup(CWE.strip(), cwe=number) if number else say("none")


def _numbered(issue: Issue, pieces: Sequence[Excerpt]) -> list[CardStep]:
    """Return the steps, each with the anchor of the first step on its line, if that line is shown."""
    first: dict[tuple[str, int], str] = {}
    steps = []
    for number, step in enumerate(issue.path, 1):
        file, line = step.file, step.line
        shown = any(one.file == file and one.first <= line < one.first + len(one.lines) for one in pieces)
        anchor = first.setdefault((file, line), f"{issue.id}-{number}") if shown else None
        steps.append(CardStep(number, file, line, step.note, anchor))
    return steps


def _path(steps: Sequence[CardStep]) -> Html:
    return markup('<ol class="path">{steps}</ol>', steps=list(map(_step, steps)))


def _step(step: CardStep) -> Html:
    place = markup('<span class="place">{file}:{line}</span>', file=step.file, line=step.line)
    if step.anchor:
        place = markup('<a href="#{anchor}">{place}</a>', anchor=step.anchor, place=place)
    return markup("<li>{place} {note}</li>", place=place, note=step.note)


def _badges(issue: Issue, say: Words) -> Html:
    """Return the status of a verdict, and the exposure of a risk."""
    word = say(WORDS.get(issue.status, issue.status))
    status = markup(' <span class="status {name}">{word}</span>', name=issue.status, word=word)
    return markup("{status}{exposure}", status=status, exposure=verdict_section.exposure_badge(issue))


def _codes(pieces: Sequence[Excerpt], steps: Sequence[CardStep], say: Words) -> Iterator[Html]:
    """Yield the code around a finding, then related code in other places under the name of its file."""
    before = pieces[0].file if pieces else ""
    for piece in pieces:
        if piece.file != before:
            yield markup('<p class="where">{file}</p>', file=piece.file)
        before = piece.file
        yield _code(piece, [step for step in steps if step.anchor and step.file == piece.file], say)


def _code(piece: Excerpt, steps: Sequence[CardStep], say: Words) -> Html:
    kinds = dict(piece.marks)
    return markup(
        '<pre class="code{numbered}" tabindex="0">{lines}</pre>',
        numbered=" numbered" if steps else "",
        lines=[
            markup(
                '<span class="line{kind}"{title}>{at}<span class="number">{number}</span>{text}\n</span>',
                kind=f" {kinds[number]}" if number in kinds else "",
                title=markup(' title="{means}"', means=say(MARKED[kinds[number]])) if number in kinds else "",
                at=_at([step for step in steps if step.line == number]),
                number=number,
                text=text,
            )
            for number, text in enumerate(piece.lines, start=piece.first)
        ],
    )


def _at(steps: Sequence[CardStep]) -> Html | str:
    """Return an element with the numbers of the steps on a line, to which the links to these steps point."""
    if not steps:
        return ""
    first, last = steps[0].number, steps[-1].number
    numbers = f"{first}…{last}" if len(steps) > MANY else ",".join(str(step.number) for step in steps)
    return markup('<span class="at" id="{anchor}">{numbers}</span>', anchor=steps[0].anchor, numbers=numbers)


def _fact_list(issue: Issue, say: Words, source_url: str | None) -> list[Html]:
    return [
        markup("<div><dt>{term}</dt><dd>{said}</dd></div>", term=say(term), said=fact)
        for term, fact in _facts(issue, say, source_url)
    ]


def _facts(issue: Issue, say: Words, source_url: str | None) -> Iterator[tuple[str, object]]:
    if source_url:
        href = link_to_source(source_url, issue.candidate.file, issue.candidate.line)
        yield "Source", markup(SOURCE.strip(), href=href, file=issue.candidate.file, line=issue.candidate.line)
    yield "Confidence", f"{issue.candidate.confidence:.2f}"
    yield "Score", f"{issue.score:.2f}"
    yield "Category", issue.candidate.category
    yield "Weakness", cwe_link(issue.candidate.cwe, say)
    yield "Status", say(issue.status)
    if issue.judged is not None:
        yield "Triage", say(TRIAGE[issue.judged])
    if issue.cluster:
        yield "Cluster", issue.cluster
    if issue.root_cause:
        yield "Root cause", issue.root_cause
    yield "Finding", issue.id
    yield "Fingerprint", issue.fingerprint


# Explain each rule of a report once: the risk, the fix, a bad and a good example, and how to suppress findings.

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
