"""Render a report as one HTML file that loads nothing and can be read in a browser, on paper, or without scripts.

The page contains the FIRST_SHOWN best findings as plain HTML; its script replaces them with all findings, filtered and
paginated.  A content security policy allows the style and the script of the page by their hashes, so that a browser
runs nothing else, regardless of the scanned code.
"""

import heapq
import json
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

from jarvis_workers.escape import visible, visible_lines
from jarvis_workers.markup import Html, markup, page_head, script_data, written
from jarvis_workers.sec.assessment import TEXTS
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.defect_groups import defect_groups
from jarvis_workers.sec.report.fired_rules import finding_title, rule_of
from jarvis_workers.sec.report.html import overview
from jarvis_workers.sec.report.html.card import TRIAGE, about_anchor, about_rules, card
from jarvis_workers.sec.report.html.exclusion_sections import exclusion_list, notes
from jarvis_workers.sec.report.html.verdict_section import proof_parts
from jarvis_workers.sec.report.html.verdict_summary import model_usage, open_findings, worst
from jarvis_workers.sec.report.i18n import words_of
from jarvis_workers.sec.report.json import DENSE
from jarvis_workers.sec.report.patches import patch_lines, patch_summary
from jarvis_workers.sec.report.verdicts import PROOF_STATES, WORDS, has_verdicts, rating_texts, worst_first
from jarvis_workers.sec.report_document import Excerpt, Issue, ReportBody, ReportPatch
from jarvis_workers.sec.trace import TraceLocation
from jarvis_workers.sourcelinks import link_to_file
from jarvis_workers.words import TRANSLATED_TEXT, Words, worded

# Serialize the findings for the page's script: one JSON text that cannot contain a tag.

# Maximum size of all verdicts in characters, the same as for code.
VERDICTS_MAX = 4_000_000


class _Numbers(dict[Hashable, int]):
    """Map that assigns the next number to each new value."""

    def __missing__(self, value: Hashable) -> int:
        self[value] = len(self)
        return self[value]


class _Tables(NamedTuple):
    """The values that findings refer to by number."""

    files: _Numbers
    rules: _Numbers
    texts: _Numbers
    statuses: _Numbers
    causes: _Numbers
    titles: _Numbers
    analyzers: _Numbers


def listing(
    issues: Sequence[Issue],
    body: ReportBody,
    say: Words,
    *,
    judged: bool = False,
    texts: Sequence[str] = (),
    run: str = "last",
    source_url: str | None = None,
) -> Html:
    """Return the JSON for the script: `issues` of a report in display order, and translations of the `texts`.

    `run` is the id of the run, for commands.
    """
    tables = _Tables(*(_Numbers() for _ in _Tables._fields))
    files, excerpts = tables.files, body.excerpts
    rows = [_row(issue, tables, finding_title(issue, body.titles)) for issue in issues]
    triage = {visible(issue.id): say(TRIAGE[issue.judged]) for issue in issues if issue.judged is not None}
    return script_data(
        {
            "run": visible(run),
            "severities": WORST_FIRST,
            **{name: list(getattr(tables, name)) for name in ("rules", "texts", "statuses", "titles", "analyzers")},
            "causes": [visible(str(cause)) for cause in tables.causes],
            "findings": rows,
            "paths": {visible(issue.id): _steps(issue.path, files) for issue in issues if issue.path},
            **({"triage": triage} if triage else {}),
            "excerpts": {
                visible(issue.id): _excerpt(excerpts[issue.id], files) for issue in issues if issue.id in excerpts
            },
            **(_judged(issues, files, say) if judged else {}),
            **({"patches": _patches(issues, body.patches, say)} if body.patches else {}),
            **_translations([*texts, *WORST_FIRST, *tables.statuses], say),
            "files": list(files),
            **({"links": _links(issues, source_url)} if source_url else {}),
        }
    )


def _row(issue: Issue, tables: _Tables, title: str) -> tuple[Any, ...]:
    return (
        visible(issue.id),
        tables.files[visible(issue.candidate.file)],
        issue.candidate.line,
        tables.rules[_rule(issue)],
        tables.texts[visible(issue.candidate.description), visible(issue.candidate.suggestion)],
        issue.candidate.confidence,
        WORST_FIRST.index(issue.severity),
        tables.statuses[visible(issue.status)],
        issue.score,
        visible(issue.candidate.evidence),
        visible(issue.fingerprint),
        issue.cluster or 0,
        tables.causes[issue.root_cause] if issue.root_cause else None,
        tables.titles[visible(title)],
        tables.analyzers[tuple(map(visible, issue.analyzers))],
    )


def _rule(issue: Issue) -> tuple[str, str, int, str, str]:
    """Return the id of a rule, category, weakness, the name in suppression comments, and the anchor of its texts."""
    rule = rule_of(issue)
    return (
        visible(rule),
        visible(issue.candidate.category),
        issue.candidate.cwe,
        visible(issue.candidate.pattern),
        about_anchor(rule),
    )


def _links(issues: Sequence[Issue], source_url: str) -> dict[str, str]:
    """Return a URL template, with a placeholder for the line, for each file with findings, by displayed name."""
    return {
        visible(file): link_to_file(source_url, file) for file in sorted({issue.candidate.file for issue in issues})
    }


def _steps(path: Sequence[TraceLocation], files: _Numbers) -> list[tuple[int, int, str]]:
    return [(files[visible(step.file)], step.line, visible(step.note)) for step in path]


def _translations(texts: Sequence[Any], say: Words) -> dict[str, Any]:
    """Return the texts in the language of the report, empty in English."""
    other = {text: say(text) for text in texts}
    return {} if all(text == translation for text, translation in other.items()) else {"say": other}


def _excerpt(excerpt: Excerpt, files: _Numbers) -> Sequence[Any]:
    """Return an excerpt without trailing empty values; most excerpts are one piece with one marked line."""
    first, lines, marks, _, more = excerpt
    others = [(files[visible(one.file)], one.first, [visible(line) for line in one.lines], one.marks) for one in more]
    fields = (first, [visible(line) for line in lines], marks, others)
    return fields if others else fields[:3] if marks else fields[:2]


def _judged(issues: Sequence[Issue], files: _Numbers, say: Words) -> dict[str, Any]:
    """Return the verdicts, worst findings first, up to the size limit."""
    verdicts, left = {}, VERDICTS_MAX
    for issue in issues:
        fields = _verdict(issue, files, say)
        left -= len(DENSE.encode(fields)) if any(fields) else 0
        if left < 0:
            break
        if any(fields):
            verdicts[visible(issue.id)] = fields
    questions = {issue.cluster or 0: visible_lines(issue.verification or "") for issue in issues}
    return {"words": {status: say(word) for status, word in WORDS.items()}, "clusters": questions, "verdicts": verdicts}


def _patches(issues: Sequence[Issue], patches: Mapping[str, ReportPatch], say: Words) -> dict[str, Any]:
    """Return what the gates said of the patches, and their lines with their kinds, up to the size limit."""
    shown, left = dict[str, Any](), VERDICTS_MAX
    for issue in issues:
        patch = patches.get(issue.id)
        left -= len(patch.diff) if patch else 0
        if patch and left >= 0:
            rows = [(kind, visible(text)) for kind, text in patch_lines(patch)]
            shown[visible(issue.id)] = (visible_lines(patch_summary(patch, say)), rows)
    return shown


def _verdict(issue: Issue, files: _Numbers, say: Words) -> Sequence[Any]:
    verdict = issue.opinion
    texts = [visible_lines(getattr(verdict, name)) for name in TEXTS]
    return (
        visible_lines(verdict.reason or ""),
        texts if any(texts) else [],
        [(files[visible(one.file)], one.line, visible_lines(one.quote)) for one in verdict.evidence],
        [(visible(one.interpreter), visible_lines(one.script)) for one in verdict.commands],
        [(title, visible_lines(text)) for title, text in rating_texts(issue, say).items()],
        visible(verdict.exposure),
        *([_proof(issue.proof, say)] if issue.proof else []),
    )


def _proof(proof: Proof, say: Words) -> Sequence[Any]:
    facts, blocks = proof_parts(proof, say)
    shown = [(visible(name), visible_lines(text)) for name, text in blocks]
    return proof.state, say(PROOF_STATES[proof.state]), visible_lines(facts), shown


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
        gaps=written(overview.file_lists(summary, say)),
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
