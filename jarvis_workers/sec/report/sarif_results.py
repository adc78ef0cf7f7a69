"""Write findings as SARIF results: where each is, how sure, and by what it is known again.

A finding is known by its fingerprint, which holds no line number, and by its place among those of one fingerprint.
What a model has confirmed is a warning at least; what is undecided or to review is of kind `review`, and what is
dismissed is suppressed from outside: by a verdict, not by a comment.
"""

import heapq
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.report.escape import visible
from jarvis_workers.sec.report.json import dense
from jarvis_workers.sec.report.sarif_rules import LEVELS
from jarvis_workers.sec.report.verdicts import MEANS, TEXTS, WORDS, verdict_text
from jarvis_workers.sec.report_document import EvidenceQuote, Issue, ReportBody, scripts_to_json
from jarvis_workers.sec.severity import WEIGHTS
from jarvis_workers.sec.trace import TraceLocation

__all__ = ["GZIPPED_MAX", "RESULTS_MAX", "SOURCE_ROOT", "Numbered", "artifact", "fit", "message", "number", "result"]

Part = dict[str, Any]

SOURCE_ROOT = "%SRCROOT%"
# What GitHub takes: 25,000 results, and 10 MB gzipped, of which this much is left to the results.
RESULTS_MAX = 25_000
GZIPPED_MAX = 8_000_000
# Of kind `review`, since nobody knows whether it fails.
UNKNOWN = ("review", "undecided")
FACTS = ("id", "gid", "category", "confidence", "score", "status")
TOLD = ("has_risk", *TEXTS, "reason", "verification", "cluster", "judged")
PROPERTIES = (*FACTS, "has_risk", *TEXTS, "reason", "commands", "verification", "cluster", "judged")
SAID_MAX = 2_000
BEST_SCORE = max(WEIGHTS.values())


class Numbered(NamedTuple):
    """A finding, and which of those with its fingerprint it is."""

    issue: Issue
    ordinal: int


def number(body: ReportBody) -> list[Numbered]:
    """Return all findings of a body, those set aside in their places: their twins stay who they are."""
    issues = body.issues
    if body.suppressed or body.dismissed:
        issues = sorted(body.findings, key=_place)
    seen = Counter[str]()
    numbered = []
    for issue in issues:
        seen[issue.fingerprint] += 1
        numbered.append(Numbered(issue, seen[issue.fingerprint]))
    return numbered


def fit(found: Sequence[Numbered], rules: Mapping[str, int], most: int, gzipped_max: int) -> Sequence[Numbered]:
    """Keep what GitHub takes, of highest score, in its order."""
    kept = _best(found, most)
    while kept and (size := _gzipped(kept, rules)) > gzipped_max:
        kept = _best(kept, int(len(kept) * gzipped_max / size * 0.9))
    return kept


def result(found: Numbered, rules: Mapping[str, int]) -> Part:
    """Return a SARIF result; `rules` says where each rule stands."""
    issue, ordinal = found
    known_by = f"{issue.fingerprint}:{ordinal}"
    region = {"startLine": max(1, issue.line), "snippet": {"text": issue.evidence}}
    written: Part = {
        "ruleId": issue.pattern,
        "ruleIndex": rules[issue.pattern],
        **_weight(issue),
        "message": message(_message_text(issue)),
        "locations": [{"physicalLocation": {"artifactLocation": artifact(issue.file), "region": region}}],
        # GitHub heeds the first name alone; the second is for those who look for ours.
        "partialFingerprints": {"primaryLocationLineHash": known_by, "jarvis/v1": known_by},
        "rank": round(issue.score / BEST_SCORE * 100, 1),
        "properties": _properties(issue),
    }
    if quotes := issue.quotes:
        written["relatedLocations"] = [_quoted(place, quote) for place, quote in enumerate(quotes, 1)]
    if steps := issue.path:
        written["codeFlows"] = [{"threadFlows": [{"locations": [{"location": _step(step)} for step in steps]}]}]
    if suppressions := list(_suppressions(issue)):
        written["suppressions"] = suppressions
    return written


def _properties(issue: Issue) -> Part:
    found = {name: getattr(issue, name) for name in FACTS}
    found |= {name: value for name in TOLD if (value := getattr(issue, name)) not in (None, "")}
    if issue.commands:
        found["commands"] = scripts_to_json(issue.commands)
    return {name: found[name] for name in PROPERTIES if name in found}


def _weight(issue: Issue) -> Part:
    """Return level and kind: of another kind than `fail`, SARIF allows no level but `none`."""
    if issue.status in UNKNOWN:
        return {"kind": "review", "level": "none"}
    level = LEVELS[issue.severity]
    return {"level": "warning" if issue.status == "confirmed" and level == "note" else level}


def _message_text(issue: Issue) -> str:
    """Return what a service shows first: the words of a verdict, where there are any, before those of the rule."""
    rule = f"{issue.description} {issue.suggestion}"
    if issue.status in UNKNOWN:
        reason = _short(issue.reason or MEANS[issue.status]).removesuffix(".")
        return f"{WORDS[issue.status].capitalize()}: {reason}. {rule}"
    told = [_short(text) for text in (issue.consequences, issue.trigger_path, issue.suggestions)]
    return " ".join(["Confirmed:", *filter(None, told)]) if issue.status == "confirmed" and any(told) else rule


def _short(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= SAID_MAX else f"{said[:SAID_MAX]}…"


def _quoted(number: int, quote: EvidenceQuote) -> Part:
    first = max(1, quote.line)
    text = quote.quote.strip("\n")
    region = {"startLine": first, "endLine": first + text.count("\n"), "snippet": {"text": text}}
    place = {"artifactLocation": artifact(quote.file), "region": region}
    return {"id": number, "physicalLocation": place, "message": {"text": "Evidence of the verdict."}}


def _suppressions(issue: Issue) -> Iterator[Part]:
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
    """Return where a file is, by the bytes of its path; a colon in it is no scheme."""
    return {"uri": quote(from_shown(file)), "uriBaseId": SOURCE_ROOT}


def message(text: str) -> Part:
    """Return a message that shows the text: no link and no place to fill in starts in it."""
    shown = re.sub(r"[\\\[\]]", r"\\\g<0>", visible(text)) if "](" in text else visible(text)
    return {"text": shown.replace("{", "{{").replace("}", "}}") if re.search(r"\{\d+\}", shown) else shown}


def _place(issue: Issue) -> tuple[bytes, int, str]:
    return from_shown(issue.file), issue.line, issue.pattern


def _best(found: Sequence[Numbered], most: int) -> Sequence[Numbered]:
    """Suppressed findings go first, then dismissed ones, then those of lowest score."""
    if len(found) <= most:
        return found
    worth = [(not issue.suppression, issue.status != "dismissed", issue.score) for issue, _ in found]
    chosen = heapq.nlargest(most, range(len(found)), key=lambda place: (worth[place], -place))
    return [found[place] for place in sorted(chosen)]


def _gzipped(found: Iterable[Numbered], rules: Mapping[str, int]) -> int:
    """Measure with the quickest compression, which is not the best: it is never less than what is uploaded."""
    press = zlib.compressobj(level=1)
    return sum(len(press.compress(text)) for text in _texts(found, rules)) + len(press.flush())


def _texts(found: Iterable[Numbered], rules: Mapping[str, int]) -> Iterator[bytes]:
    return (dense(result(one, rules)).encode() for one in found)
