"""Say what verdicts come to, and what asking for them took.

The most dangerous confirmed finding stands first of all, one click from its evidence and from what to do.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.sec.report.html.charts import Bar, bars, columns, link_to
from jarvis_workers.sec.report.html.markup import Html, in_lines, markup
from jarvis_workers.sec.report.verdicts import lead, took, warnings

__all__ = ["asking", "found", "worst"]

Body = Mapping[str, Any]
WORST = """
<section class="worst"><p class="kind">Most dangerous, confirmed</p>
<h2><a href="{href}"><span class="badge {severity}">{severity}</span> {rule}
<span class="place">{file}:{line}</span></a></h2>
<p>{consequences}</p><p class="remedy"><b>What to do:</b> {remedy}</p>
<p><a href="{href}">Evidence, conditions and the code</a></p></section>
"""


def found(summary: Body) -> Iterator[Html]:
    """Yield what the verdicts come to, and what is open."""
    first, rest = lead(summary)
    yield markup('<p class="lead"><b>{first}</b> {rest}</p>', first=first, rest=rest)
    if still := [markup("<p><b>{what}</b> {means}</p>", what=what, means=means) for what, means in warnings(summary)]:
        yield markup('<div class="notice">{still}</div>', still=still)


def worst(issues: Sequence[Body]) -> Iterator[Html]:
    """Yield the first of the confirmed findings, which come in the order in which they are shown."""
    issue = next((one for one in issues if one["status"] == "confirmed"), None)
    if issue:
        yield markup(
            WORST,
            href=link_to(id=issue["id"]),
            severity=issue["severity"],
            rule=issue["pattern"],
            file=issue["file"],
            line=issue["line"],
            consequences=in_lines(issue.get("consequences") or issue["description"]),
            remedy=in_lines(issue.get("suggestions") or issue["suggestion"]),
        )


def asking(run: Body) -> Iterator[Html]:
    """Yield who was asked, and what that took: in words, by stage, and by the time of an answer."""
    facts = list(took(run))
    if not facts:
        return
    yield markup(
        '<section id="asking"><h2>Model, cost and time</h2><dl>{facts}</dl>'
        '<div class="panels two">{charts}</div></section>',
        facts=[
            markup("<div><dt>{name}</dt><dd>{said}</dd></div>", name=name.capitalize(), said=said)
            for name, said in facts
        ],
        charts=list(_charts(run["model"])),
    )


def _charts(model: Body) -> Iterator[Html]:
    if stages := model.get("by_stage"):
        unit = "cost" if any(one.get("cost") for one in stages.values()) else "tokens"
        rows = [_stage(name, one, unit) for name, one in stages.items()]
        yield _chart("By stage", "dollars" if unit == "cost" else "tokens", bars(rows, f"{unit} by stage"))
    if times := model.get("latency"):
        heads = [_until(one["to"], times) for one in times]
        shown = columns([(head, one["calls"]) for head, one in zip(heads, times, strict=True)], "answers by seconds")
        yield _chart("Time of an answer", "answers by seconds", shown)


def _stage(name: str, taken: Body, unit: str) -> Bar:
    tokens = taken.get("prompt", 0) + taken.get("completion", 0)
    cost = taken.get("cost") or 0.0
    size, number = (cost, f"{cost:.4f}") if unit == "cost" else (tokens, f"{tokens:,}")
    return Bar(f"{name}: {taken.get('calls', 0):,} answers, {tokens:,} tokens", number, [("plain", size)], {})


def _until(seconds: float | None, times: Sequence[Body]) -> str:
    """Name a part of the scale by where it ends; the last has no end, and is named by where it begins."""
    if seconds is not None:
        return f"≤ {seconds:g}"
    ends = [one["to"] for one in times if one["to"] is not None]
    return f"> {max(ends):g}" if ends else "any"


def _chart(title: str, unit: str, drawn: Html) -> Html:
    return markup(
        '<div class="panel"><h2>{title} <small>{unit}</small></h2>{drawn}</div>', title=title, unit=unit, drawn=drawn
    )
