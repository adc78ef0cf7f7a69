"""Write a report as one HTML file that loads nothing and is read in a browser, on paper, or without scripts.

The page holds the FIRST_SHOWN best findings as plain HTML; its script takes their place with all of them, filtered and
in pages.  Its own style and script are named by their hashes, so that a browser runs nothing else, whatever the
scanned code holds.
"""

import heapq
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.html import overview
from jarvis_workers.sec.report.html.aside import aside, notes
from jarvis_workers.sec.report.html.card import card
from jarvis_workers.sec.report.html.judged import asking, worst
from jarvis_workers.sec.report.html.listing import listing
from jarvis_workers.sec.report.html.markup import Html, markup, written
from jarvis_workers.sec.report.verdicts import has_verdicts, rank

Body = Mapping[str, Any]
Issues = Sequence[Mapping[str, Any]]

FIRST_SHOWN = 100
DISMISSED_MAX = 5_000
REVISION = re.compile(r"(?:\.git)?(?:@[0-9a-f]{40,64})?\Z")


def render_html(body: Body, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report; `body["excerpts"]`, if it is there, holds the code around findings by their ids."""
    summary, excerpts = body["summary"], body.get("excerpts", {})
    judged = has_verdicts(summary)
    issues = sorted(body["issues"], key=_worst_first if judged else _severest_first)
    gone = heapq.nlargest(DISMISSED_MAX, body.get("dismissed", ()), key=lambda issue: issue["score"])
    style, script = _asset("report.css"), _asset("report.js")
    yield Template(_asset("report.html")).substitute(
        policy=_policy(style, script),
        style=style,
        name=written(_name(run)),
        facts=written(_facts(run)),
        verdict=written([*overview.verdict(summary), *notes(summary)]),
        numbers=written(overview.numbers(summary, issues)),
        charts=written(overview.charts(summary, issues)),
        worst=written(worst(issues)) if judged else "",
        asking=written(asking(run)),
        shown=_shown(issues),
        findings=written(card(issue, excerpts.get(issue["id"]), judged=judged) for issue in issues[:FIRST_SHOWN]),
        code=written(_about_code(issues, excerpts)),
        rules=written(overview.rules(issues)),
        aside=written(aside(body)),
        gaps=written(overview.gaps(summary)),
        advice=written(overview.advice(summary)),
        run=written(_run(run)),
        listing=listing([*issues, *gone], excerpts, judged=judged),
        script=script,
    )


def _severest_first(issue: Body) -> tuple[float, ...]:
    return WORST_FIRST.index(issue["severity"]), -issue["score"]


def _worst_first(issue: Body) -> tuple[float, ...]:
    return rank(issue), *_severest_first(issue)


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _name(run: Body) -> str:
    root = REVISION.sub("", str(run.get("scanned_root") or "").rstrip("/"))
    return root.rpartition("/")[2] or root or "source"


def _facts(run: Body) -> Iterator[Html]:
    facts = (
        run.get("scanned_root"),
        _moment(run.get("ended_at") or run.get("created_at")),
        f"jarvis {run['version']}" if run.get("version") else None,
        f"run {run['id']}" if run.get("id") else None,
        None if run.get("state", "done") == "done" else run["state"],
    )
    return (markup("<li>{fact}</li>", fact=fact) for fact in facts if fact)


def _moment(text: object) -> str | None:
    return datetime.fromisoformat(text).strftime("%d %B %Y, %H:%M UTC") if isinstance(text, str) else None


def _shown(issues: Issues) -> Html:
    if len(issues) <= FIRST_SHOWN:
        return written(f"{len(issues):,} listed")
    return written(f"The first {FIRST_SHOWN} of {len(issues):,}; the others need JavaScript, or another format")


def _about_code(issues: Issues, excerpts: Mapping[str, Any]) -> Iterator[Html]:
    shown = sum(issue["id"] in excerpts for issue in issues)
    if shown == len(issues):
        return
    if not excerpts:
        yield markup('<p class="aside">Without excerpts: the scanned source was not at hand for this report.</p>')
        return
    yield markup(
        '<p class="aside">Code is shown around {some} of {all} findings, those of the highest scores.</p>',
        some=f"{shown:,}",
        all=f"{len(issues):,}",
    )


def _run(run: Body) -> Iterator[Html]:
    for name, value in run.items():
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        yield markup("<tr><th scope=row>{name}</th><td>{said}</td></tr>", name=name, said=said)
