"""Render findings as SARIF results: location, confidence and fingerprints.

A finding is identified by its fingerprint, without a line number, and its ordinal among those with the same one.
A confirmed finding is at least a warning; an undecided one or one for review is of kind `review`; a
dismissed one has an external suppression: by a verdict, not by a comment.
"""

import heapq
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from jarvis_workers.escape import visible
from jarvis_workers.paths import from_shown
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.finding import WITHOUT_RULE
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.fired_rules import rule_of
from jarvis_workers.sec.report.json import dense
from jarvis_workers.sec.report.patches import patch_description
from jarvis_workers.sec.report.sarif_rules import LEVELS
from jarvis_workers.sec.report.verdicts import MEANS, REAL, WORDS, urgency, verdict_text
from jarvis_workers.sec.report_document import (
    Issue,
    PatchReplacement,
    ReportBody,
    ReportPatch,
)
from jarvis_workers.sec.report_json import proof_to_json, verdict_to_json
from jarvis_workers.sec.severity import WEIGHTS
from jarvis_workers.sec.trace import TraceLocation

Part = dict[str, Any]
Row = TypeVar("Row")
# The greatest is omitted last.
Worth = tuple[bool, bool, bool, float]

SOURCE_ROOT = "%SRCROOT%"
# The partial fingerprint of findings of jarvis.
OWN_PRINT = "jarvis/v1"
# GitHub's limits: 25,000 results, and 10 MB gzipped; the results may use this part of the size.
RESULTS_MAX = 25_000
GZIPPED_MAX = 8_000_000
# Of kind `review`, since the outcome is unknown.
UNKNOWN = ("review", "undecided")
FACTS = ("id", "gid", "category", "confidence", "score", "status")
# Other findings with the same root cause that a result names.
PLACES_MAX = 10
# Optional properties around those of the verdict.
BEFORE_VERDICT, AFTER_VERDICT = ("root_cause", "also_reported", "witnesses"), ("verification", "cluster", "judged")
TEXT_MAX = 2_000
# A file name that cannot end a link or start a placeholder.
LABEL = re.compile(r"[\w.+-]{1,100}", re.ASCII)
BEST_SCORE = max(WEIGHTS.values())
# The least rank of a verdict, and the room above it for the score.
RANKS = {"proved": (80, 20), "confirmed": (60, 20)}


class Numbered(NamedTuple):
    """A finding, its ordinal among those with its fingerprint, and some others with its root cause."""

    issue: Issue
    ordinal: int
    others: tuple[Issue, ...] = ()


def number(body: ReportBody) -> list[Numbered]:
    """Return all findings of a body, including those set aside, so that ordinals do not change."""
    issues = body.issues
    if body.suppressed or body.dismissed:
        issues = sorted(body.findings, key=_place)
    causes: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        causes[issue.root_cause].append(issue)
    seen = Counter[str]()
    numbered = []
    for issue in issues:
        seen[issue.fingerprint] += 1
        same = causes[issue.root_cause][: PLACES_MAX + 1] if issue.root_cause else ()
        others = [one for one in same if one is not issue][:PLACES_MAX]
        numbered.append(Numbered(issue, seen[issue.fingerprint], tuple(others)))
    return numbered


class Fitted(NamedTuple, Generic[Row]):
    """The results that are within the limits, and an upper bound of their gzipped size."""

    rows: Sequence[Row]
    gzipped: int


def fit(
    rows: Sequence[Row], most: int, gzipped_max: int, write: Callable[[Row], Part], worth: Callable[[Row], Worth]
) -> Fitted[Row]:
    """Keep the results that are worth most, within GitHub's limits and in their original order."""
    selection = _best(rows, most, worth)
    while (size := _gzipped(map(write, selection))) > gzipped_max and selection:
        selection = _best(selection, int(len(selection) * gzipped_max / size * 0.9), worth)
    return Fitted(selection, size)


def result(numbered: Numbered, rules: Mapping[str, int]) -> Part:
    """Return a SARIF result; `rules` is the index of each rule."""
    issue, ordinal, others = numbered
    known_by = f"{issue.fingerprint}:{ordinal}"
    written: Part = {
        "ruleId": rule_of(issue),
        "ruleIndex": rules[rule_of(issue)],
        **_weight(issue),
        "message": {"text": message(message_text(issue))["text"] + _links(others, 1 + len(issue.opinion.evidence))},
        "locations": [
            {"physicalLocation": {"artifactLocation": artifact(issue.candidate.file), "region": _region(issue)}}
        ],
        # GitHub uses only the first name; the second is for consumers of our own fingerprints.
        "partialFingerprints": {"primaryLocationLineHash": known_by, OWN_PRINT: known_by},
        "rank": _rank(issue),
        "properties": _properties(issue),
    }
    if related := [*map(_quoted, issue.opinion.evidence), *map(_same_root_cause, others)]:
        written["relatedLocations"] = [{"id": place, **location} for place, location in enumerate(related, 1)]
    if steps := issue.path:
        written["codeFlows"] = [{"threadFlows": [{"locations": [{"location": _step(step)} for step in steps]}]}]
    if suppressions := list(suppressions_of(issue)):
        written["suppressions"] = suppressions
    return written


def open_first(numbered: Sequence[Numbered]) -> list[Numbered]:
    """Return the findings by urgency; those that are set aside come last."""
    return sorted(numbered, key=lambda one: (one.issue.suppression is not None, *urgency(one.issue)))


def _rank(issue: Issue) -> float:
    """Return the priority of a result, from 0 to 100; confirmed findings are above 60, proved ones above 80."""
    share = issue.score / BEST_SCORE
    if issue.suppression or not issue.verdict:
        return round(share * 100, 1)
    least, room = RANKS.get(issue.status, (0, 60))
    return round(least + share * room, 1)


def fixes(patch: ReportPatch | None, proof: Proof | None) -> Part:
    """Return the property `fixes` of a result with a patch that passed, else nothing."""
    if patch is None or not patch.replacements:
        return {}
    files = dict.fromkeys(one.file for one in patch.replacements)
    changes = [
        {
            "artifactLocation": artifact(file),
            "replacements": [_replacement(one) for one in patch.replacements if one.file == file],
        }
        for file in files
    ]
    return {"fixes": [{"description": message(patch_description(patch, proof)), "artifactChanges": changes}]}


def _replacement(one: PatchReplacement) -> Part:
    """Return a replacement of whole lines."""
    region = {"startLine": one.first, "startColumn": 1, "endLine": one.last, "endColumn": 1}
    return {"deletedRegion": region, "insertedContent": {"text": one.text}}


def _region(issue: Issue) -> Part:
    """Return the region of a line, with the whole line as snippet; columns count characters, as in `columnKind`."""
    line = max(1, issue.candidate.line)
    column = {"startColumn": issue.candidate.column} if issue.candidate.column else {}
    return {"startLine": line, **column, "endLine": line, "snippet": {"text": issue.candidate.evidence}}


def _properties(issue: Issue) -> Part:
    before, after = ({name: getattr(issue, name) for name in names} for names in (BEFORE_VERDICT, AFTER_VERDICT))
    fields = before | (verdict_to_json(issue.verdict) if issue.verdict else {}) | after
    # The quotes are related locations.
    fields["witnesses"] = [one._asdict() for one in issue.witnesses]
    verdict = {name: value for name, value in fields.items() if name != "quotes" and value not in (None, "", (), [])}
    if issue.proof:
        verdict["proof"] = proof_to_json(issue.proof)
    return {name: issue.value(name) for name in FACTS} | verdict


def _weight(issue: Issue) -> Part:
    """Return level and kind; SARIF allows only the level `none` for kinds other than `fail`."""
    if issue.status in UNKNOWN:
        return {"kind": "review", "level": "none"}
    level = LEVELS[issue.severity]
    return {"level": "warning" if issue.status in REAL and level == "note" else level}


def message_text(issue: Issue) -> str:
    """Return the text that a service shows first: the verdict, if any, takes precedence over the text of the rule."""
    rule = f"{issue.candidate.description} {issue.candidate.suggestion}"
    if issue.status in UNKNOWN:
        reason = _short(issue.opinion.reason or MEANS[issue.status]).removesuffix(".")
        return f"{WORDS[issue.status].capitalize()}: {reason}. {rule}"
    verdict = issue.opinion
    parts = [_short(text) for text in (verdict.consequences, verdict.trigger_path, verdict.suggestions)]
    word = WORDS.get(issue.status, "").capitalize()
    # The rule of what a model has found says only the weakness.
    own = (
        [f"{_short(issue.candidate.description).removesuffix('.')}."] if issue.candidate.pattern in WITHOUT_RULE else []
    )
    return " ".join([f"{word}:", *own, *filter(None, parts)]) if issue.status in REAL and any(parts) else rule


def verdict_sentence(issue: Issue) -> str:
    """Return what a verdict says of a finding, without the text of its rule; empty if there is none, or it says no."""
    if issue.status in UNKNOWN:
        return f"{WORDS[issue.status].capitalize()}: {_short(issue.opinion.reason or MEANS[issue.status])}"
    parts = [_short(text) for text in (issue.opinion.consequences, issue.opinion.trigger_path) if text]
    return f"{WORDS[issue.status].capitalize()}: {' '.join(parts)}".strip() if issue.status in REAL else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TEXT_MAX else f"{line[:TEXT_MAX]}…"


def _links(others: Sequence[Issue], first: int) -> str:
    """Return a sentence with links to the related locations of other findings, which GitHub shows only if linked."""
    if not others:
        return ""
    links = (f"[{_label(issue)}]({number})" for number, issue in enumerate(others, first))
    return f" Same root cause: {', '.join(links)}."


def _label(issue: Issue) -> str:
    name = issue.candidate.file.rpartition("/")[2]
    return f"{name}:{issue.candidate.line}" if LABEL.fullmatch(name) else f"line {issue.candidate.line}"


def _same_root_cause(issue: Issue) -> Part:
    place = {"artifactLocation": artifact(issue.candidate.file), "region": _region(issue)}
    return {"physicalLocation": place, "message": {"text": f"Same root cause: {issue.id}."}}


def _quoted(quote: EvidenceQuote) -> Part:
    first = max(1, quote.line)
    text = quote.quote.strip("\n")
    region = {"startLine": first, "endLine": first + text.count("\n"), "snippet": {"text": text}}
    place = {"artifactLocation": artifact(quote.file), "region": region}
    return {"physicalLocation": place, "message": {"text": "Evidence for the verdict."}}


def suppressions_of(issue: Issue) -> Iterator[Part]:
    """Yield the suppressions of a finding: those by a comment or a person, and that by a verdict."""
    if suppression := issue.suppression:
        why = suppression.justification
        yield {"kind": suppression.kind, **({"justification": visible(why)} if why else {})}
    if issue.status == "dismissed":
        against = verdict_text(issue) or MEANS["dismissed"]
        yield {"kind": "external", "status": "accepted", "justification": visible(_short(against))}


def _step(step: TraceLocation) -> Part:
    place = {"artifactLocation": artifact(step.file), "region": {"startLine": max(1, step.line)}}
    return {"physicalLocation": place, "message": message(step.note)}


def artifact(file: str) -> Part:
    """Return the location of a file from the bytes of its path; a colon in it is percent-encoded."""
    return {"uri": quote(from_shown(file)), "uriBaseId": SOURCE_ROOT}


def message(text: str) -> Part:
    """Return a message in which the text cannot start a link or a placeholder."""
    shown = re.sub(r"[\\\[\]]", r"\\\g<0>", visible(text)) if "](" in text else visible(text)
    return {"text": shown.replace("{", "{{").replace("}", "}}") if re.search(r"\{\d+\}", shown) else shown}


def _place(issue: Issue) -> tuple[bytes, int, str]:
    return from_shown(issue.candidate.file), issue.candidate.line, issue.candidate.pattern


def worth_of(issue: Issue) -> Worth:
    """Return what a finding is worth: suppressed findings are omitted first, then dismissed ones, then low scores.

    Findings that a model has confirmed are omitted last.
    """
    return not issue.suppression, issue.status != "dismissed", issue.status in REAL, issue.score


def _best(rows: Sequence[Row], most: int, worth: Callable[[Row], Worth]) -> Sequence[Row]:
    """Return at most `most` rows, those that are worth most."""
    if len(rows) <= most:
        return rows
    worths = [worth(row) for row in rows]
    indexes = heapq.nlargest(most, range(len(rows)), key=lambda place: (worths[place], -place))
    return [rows[place] for place in sorted(indexes)]


def _gzipped(parts: Iterable[Part]) -> int:
    """Return an upper bound of the gzipped size, measured with the fastest compression level."""
    press = zlib.compressobj(level=1)
    return sum(len(press.compress(dense(part).encode())) for part in parts) + len(press.flush())
