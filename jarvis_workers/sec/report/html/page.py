"""Render a report as one HTML file that loads nothing and can be read in a browser, on paper, or without scripts.

The page contains the FIRST_SHOWN best findings as plain HTML; its script replaces them with all findings, filtered and
paginated.  A content security policy allows the style and the script of the page by their hashes, so that a browser
runs nothing else, regardless of the scanned code.
"""

import heapq
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from jarvis_workers.markup import Html, markup, page_head, written
from jarvis_workers.sec.report.defect_groups import defect_groups
from jarvis_workers.sec.report.html import overview
from jarvis_workers.sec.report.html.about import about_rules
from jarvis_workers.sec.report.html.card import card
from jarvis_workers.sec.report.html.exclusion_sections import exclusion_list, notes
from jarvis_workers.sec.report.html.listing import listing
from jarvis_workers.sec.report.html.verdict_summary import model_usage, open_findings, worst
from jarvis_workers.sec.report.i18n import words_of
from jarvis_workers.sec.report.verdicts import has_verdicts, worst_first
from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.words import TRANSLATED_TEXT, Words, worded

Part = Mapping[str, Any]

FIRST_SHOWN = 100
DISMISSED_MAX = 5_000
REVISION = re.compile(r"(?:\.git)?(?:@[0-9a-f]{40,64})?\Z")


def render_html(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report; `body.excerpts`, if present, maps ids of findings to the surrounding code."""
    summary, excerpts, say = body.summary, body.excerpts, words_of(run)
    judged = has_verdicts(summary)
    issues = worst_first(body.issues)
    all_issues = [*issues, *heapq.nlargest(DISMISSED_MAX, body.dismissed, key=lambda issue: issue.score)]
    title = say("Security report: {name}", name=_name(run))
    style, script = asset("report.css") + _page_heads(title), asset("report.js")
    texts = TRANSLATED_TEXT.findall(script)
    named, url = str(run.get("id") or "last"), run.get("source_url")
    yield Template(worded(asset("report.html"), say)).substitute(
        head=page_head(title, style, script, language=say.code),
        name=written(_name(run)),
        facts=written(_facts(run, say)),
        verdict=written([*overview.verdict(summary, run, say), *notes(summary, run, say)]),
        numbers=written(overview.numbers(summary, issues, say)),
        charts=written(overview.charts(summary, issues, say)),
        worst=written([*worst(issues, body, say), *open_findings(summary, say)]) if judged else "",
        asking=written(model_usage(run, say)),
        shown=_shown(issues, say),
        findings=written(_cards(issues, body, say, judged=judged, run=named, source_url=url)),
        code=written(_about_code(issues, excerpts, say)),
        fired=written(overview.rules_title(summary, say)),
        rules=written(overview.rules(issues, say)),
        about=written(about_rules(issues, say)),
        aside=written(exclusion_list(body, say)),
        gaps=written(overview.unchecked_files(summary, say)),
        advice=written(overview.advice(summary, say)),
        run=written(_run(run)),
        listing=listing(all_issues, body, say, judged=judged, texts=texts, run=named, source_url=url),
        script=script,
    )


def _cards(issues: Sequence[Issue], body: ReportBody, say: Words, **options: Any) -> Iterator[Html]:
    for issue, others in defect_groups(issues)[:FIRST_SHOWN]:
        yield card(issue, body, say, others=others, **options)


@cache
def asset(name: str) -> str:
    """Return the text of a resource file of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")


def _page_heads(title: str) -> str:
    """Return the style of printed pages: page number and title, escaped so that it cannot end the string."""
    written_out = "".join(
        letter if letter.isalnum() and letter.isascii() else f"\\{ord(letter):06x}" for letter in title
    )
    return (
        "@page { margin: 16mm 14mm; "
        f'@top-left {{ content: "{written_out}"; font: 8pt sans-serif; color: #5a6577; }} '
        '@bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #5a6577; } }\n'
    )


def _name(run: Part) -> str:
    root = REVISION.sub("", str(run.get("scanned_root") or "").rstrip("/"))
    return root.rpartition("/")[2] or root or "source"


def _facts(run: Part, say: Words) -> Iterator[Html]:
    facts = (
        run.get("scanned_root"),
        _moment(run.get("ended_at") or run.get("created_at"), say),
        f"jarvis {run['version']}" if run.get("version") else None,
        say("run {id}", id=run["id"]) if run.get("id") else None,
        None if run.get("state", "done") == "done" else run["state"],
    )
    return (markup("<li>{fact}</li>", fact=fact) for fact in facts if fact)


def _moment(text: object, say: Words) -> str | None:
    return datetime.fromisoformat(text).strftime(say("%d %B %Y, %H:%M UTC")) if isinstance(text, str) else None


def _shown(issues: Sequence[Issue], say: Words) -> Html:
    if len(issues) <= FIRST_SHOWN:
        return written(say("{all} listed", all=f"{len(issues):,}"))
    text = "The first {some} of {all}; the others need JavaScript, or another format"
    return written(say(text, some=FIRST_SHOWN, all=f"{len(issues):,}"))


def _about_code(issues: Sequence[Issue], excerpts: Mapping[str, Any], say: Words) -> Iterator[Html]:
    shown = sum(issue.id in excerpts for issue in issues)
    if shown == len(issues):
        return
    if not excerpts:
        text = say("No code excerpts: the scanned source was not available for this report.")
    else:
        text = say(
            "Code is shown for the {some} highest-scoring of {all} findings.",
            some=f"{shown:,}",
            all=f"{len(issues):,}",
        )
    yield markup('<p class="aside">{text}</p>', text=text)


def _run(run: Part) -> Iterator[Html]:
    for name, value in run.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        yield markup("<tr><th scope=row>{name}</th><td>{said}</td></tr>", name=name, said=text)
