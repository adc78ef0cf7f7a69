"""Summary of the verdicts, and of the usage of the model.

The most dangerous confirmed finding comes first, linked to its evidence and its fix.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.markup import Html, in_lines, markup
from jarvis_workers.sec.report.defect_groups import defect_groups
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report.html.charts import Bar, bars, columns, link_to
from jarvis_workers.sec.report.html.verdict_section import exposure_badge, patch_part, proof_head
from jarvis_workers.sec.report.stage_parts import sentences
from jarvis_workers.sec.report.verdicts import REAL, WORDS, capital, lead, model_usage_facts, warnings
from jarvis_workers.sec.report_document import Issue, ReportBody, Summary
from jarvis_workers.words import Words

Part = Mapping[str, Any]
WORST = """
<section class="worst"><p class="kind">{kind}</p>
<h2><a href="{href}"><span class="badge {severity}">{grave}</span>{exposure} {title}
<span class="place">{file}:{line}</span></a></h2>
<p>{consequences}</p>{proof}{remedy}{patch}
<p><a href="{href}">{more}</a></p>{next}</section>
"""
NEXT = """
<li><a href="{href}"><span class="badge {severity}">{grave}</span> {title} <span class="place">{file}:{line}</span></a>
<span class="status {status}">{word}</span></li>
"""
# Findings that are named below the worst one.
NEXT_MAX = 4


def verdict_counts(summary: Summary, say: Words) -> Iterator[Html]:
    """Yield a summary of the verdicts."""
    first, rest = lead(summary, say)
    yield markup('<p class="lead"><b>{first}</b> {rest}</p>', first=first, rest=rest)
    yield from (markup("<p>{text}</p>", text=text) for text in sentences(summary, say))


def open_findings(summary: Summary, say: Words) -> Iterator[Html]:
    """Yield the counts of findings that a person must decide."""
    open_ones = warnings(summary, say)
    if still := [markup("<p><b>{what}</b> {means}</p>", what=what, means=means) for what, means in open_ones]:
        yield markup('<div class="notice">{still}</div>', still=still)


def worst(issues: Sequence[Issue], body: ReportBody, say: Words) -> Iterator[Html]:
    """Yield the first confirmed finding, given the issues worst first, with its proof and its patch, and the next."""
    groups = defect_groups(issue for issue in issues if issue.status in REAL)
    for issue, _ in groups[:1]:
        patch = body.patches.get(issue.id)
        yield markup(
            WORST,
            kind=say("Most dangerous confirmed findings")
            if issue.status == "confirmed"
            else say("Most dangerous proved finding"),
            more=say("Evidence, conditions and code"),
            href=link_to(id=issue.id),
            severity=issue.severity,
            grave=say(issue.severity),
            exposure=exposure_badge(issue),
            title=finding_title(issue, body.titles),
            file=issue.candidate.file,
            line=issue.candidate.line,
            consequences=in_lines(issue.opinion.consequences or issue.candidate.description),
            proof=proof_head(issue.proof, say),
            remedy="" if patch and patch.state == "fixed" else _remedy(issue, say),
            patch=patch_part(patch, say),
            next=_next([one.issue for one in groups[1:]], body, say),
        )


def _next(issues: Sequence[Issue], body: ReportBody, say: Words) -> Html | str:
    """Return links to the findings that follow the worst one."""
    if not issues:
        return ""
    more = len(issues) - NEXT_MAX
    rest = say("and {number} more: see the list", number=f"{more:,}")
    links = [
        markup(
            NEXT,
            href=link_to(id=issue.id),
            severity=issue.severity,
            grave=say(issue.severity),
            title=finding_title(issue, body.titles),
            file=issue.candidate.file,
            line=issue.candidate.line,
            status=issue.status,
            word=say(WORDS[issue.status]),
        )
        for issue in issues[:NEXT_MAX]
    ]
    return markup(
        '<ul class="next">{links}{rest}</ul>',
        links=links,
        rest=markup("<li>{rest}</li>", rest=rest) if more > 0 else "",
    )


def _remedy(issue: Issue, say: Words) -> Html:
    remedy = in_lines(issue.opinion.suggestions or issue.candidate.suggestion)
    return markup('<p class="remedy"><b>{title}</b> {remedy}</p>', title=say("What to do:"), remedy=remedy)


def model_usage(run: Part, say: Words) -> Iterator[Html]:
    """Yield the usage of the model: as text, by stage, and by response time."""
    facts = list(model_usage_facts(run, say))
    if not facts:
        return
    yield markup(
        '<section id="asking"><h2>{title}</h2><dl>{facts}</dl><div class="panels two">{charts}</div></section>',
        title=say("Model, cost and time"),
        facts=[
            markup("<div><dt>{name}</dt><dd>{said}</dd></div>", name=capital(name), said=text) for name, text in facts
        ],
        charts=list(_charts(run["model"], say)),
    )


def _charts(model: Part, say: Words) -> Iterator[Html]:
    if stages := model.get("by_stage"):
        costs = [one.get("cost") for one in stages.values()]
        unit = "cost" if None not in costs and any(costs) else "tokens"
        rows = [_stage(name, one, unit, say) for name, one in stages.items()]
        unit = say("dollars") if unit == "cost" else say("tokens")
        yield _chart(say("By stage"), unit, bars(rows, f"{say('By stage')}: {unit}"))
    if times := model.get("latency"):
        heads = [_until(one["to"], times) for one in times]
        numbers = [(head, one["calls"]) for head, one in zip(heads, times, strict=True)]
        unit = say("responses by time in seconds")
        yield _chart(say("Response time"), unit, columns(numbers, unit))


def _stage(name: str, usage: Part, unit: str, say: Words) -> Bar:
    tokens = usage.get("prompt", 0) + usage.get("completion", 0)
    size, number = (usage["cost"], f"{usage['cost']:.4f}") if unit == "cost" else (tokens, f"{tokens:,}")
    text = "{stage}: {calls} answers, {tokens} tokens"
    title = say(text, stage=name, calls=f"{usage.get('calls', 0):,}", tokens=f"{tokens:,}")
    return Bar(title, number, [("plain", size)], {})


def _until(seconds: float | None, times: Sequence[Part]) -> str:
    """Return the label of a histogram bin: its upper bound, or for the last bin its lower bound."""
    if seconds is not None:
        return f"≤ {seconds:g}"
    ends = [one["to"] for one in times if one["to"] is not None]
    return f"> {max(ends):g}" if ends else "any"


def _chart(title: str, unit: str, drawn: Html) -> Html:
    return markup(
        '<div class="panel"><h2>{title} <small>{unit}</small></h2>{drawn}</div>', title=title, unit=unit, drawn=drawn
    )
