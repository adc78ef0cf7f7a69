"""Build what every format of a report says.

The body depends on the candidates and on what was not looked at, and on nothing else: not on
times, workers or order of work.  Nothing is dropped without a number that says so: the summary
counts every finding, also those beyond ISSUES_MAX, which are not listed.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from itertools import pairwise
from typing import Any

from jarvis_workers.sec.finding import (
    CATEGORY_ORDER,
    SEVERITIES,
    Candidate,
    Found,
    fingerprint_of,
    score_of,
    severity_of,
)

WORST_FIRST = tuple(reversed(SEVERITIES))
TOP_FILES = 10
ID_LENGTH = 6
# More than anybody reads; a scan that finds more is to be narrowed.
ISSUES_MAX = 25_000
MIN_CONFIDENCE = 0.4

Described = Candidate | Found
Numbered = tuple[int, Described]


@dataclass(slots=True)
class Findings:
    """What a report says of the candidates: `issues` are the listed ones, the numbers are of all."""

    issues: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    weaker: int = 0
    score_sum: float = 0.0
    languages: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    severities: Counter[str] = field(default_factory=Counter)
    file_scores: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


def gather(numbered: Iterable[Numbered], min_confidence: float = MIN_CONFIDENCE, most: int = ISSUES_MAX) -> Findings:
    """Go once through the candidates, each with its gid; keep the `most` of highest score, in the order they came."""
    findings, names = Findings(), list[str]()
    counted = _counted(numbered, min_confidence, findings, names)
    best = heapq.nlargest(most, counted, key=lambda entry: score_of(entry[2].confidence))
    lengths = _lengths(names)
    findings.issues = [
        _issue(names[place], lengths, (gid, found)) for place, gid, found in sorted(best, key=lambda entry: entry[0])
    ]
    return findings


def every_issue(read: Callable[[], Iterable[Numbered]], min_confidence: float) -> Iterator[dict[str, Any]]:
    """Yield all that `gather` counts, under the same names; goes through the candidates twice and keeps none."""
    lengths = _lengths([_full_id(found) for _, found in read() if found.confidence >= min_confidence])
    for gid, found in read():
        if found.confidence >= min_confidence:
            yield _issue(_full_id(found), lengths, (gid, found))


def build(
    findings: Findings,
    *,
    scanned_files: int,
    not_checked: Sequence[tuple[str, str]] = (),
    left_out: Mapping[str, int] | None = None,
    excluded: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Return {"summary": ..., "issues": [...]}.

    `not_checked` and `excluded` are (file, reason); `left_out` counts files by reason.
    """
    not_listed = findings.total - len(findings.issues)
    return {
        "summary": {
            **_totals(findings),
            "scanned_files": scanned_files,
            "not_checked": [{"file": file, "reason": reason} for file, reason in sorted(set(not_checked))],
            "below_min_confidence": findings.weaker,
            **({"not_listed": not_listed} if not_listed else {}),
            "left_out": dict(sorted((left_out or {}).items())),
            "excluded": [{"path": path, "reason": reason} for path, reason in sorted(set(excluded))],
        },
        "issues": findings.issues,
    }


def _counted(
    numbered: Iterable[Numbered], min_confidence: float, findings: Findings, names: list[str]
) -> Iterator[tuple[int, int, Described]]:
    """Count and name the candidates on their way to the choice."""
    for gid, found in numbered:
        if found.confidence < min_confidence:
            findings.weaker += 1
            continue
        score = score_of(found.confidence)
        findings.score_sum += score
        findings.file_scores[found.file] += score
        findings.languages[found.language] += 1
        findings.categories[found.category] += 1
        findings.severities[severity_of(found.confidence)] += 1
        names.append(_full_id(found))
        yield findings.total, gid, found
        findings.total += 1


def _totals(findings: Findings) -> dict[str, Any]:
    scores = findings.file_scores
    riskiest = sorted(scores, key=lambda file: (-round(scores[file], 2), file))
    others = sorted(findings.categories.keys() - set(CATEGORY_ORDER))
    return {
        "total": findings.total,
        "by_language": dict(sorted(findings.languages.items())),
        "by_category": _in_order(findings.categories, [*CATEGORY_ORDER, *others]),
        "by_severity": _in_order(findings.severities, WORST_FIRST),
        "score_sum": round(findings.score_sum, 2),
        "top_risk_files": riskiest[:TOP_FILES],
    }


def _in_order(counts: Counter[str], order: Iterable[str]) -> dict[str, int]:
    return {name: counts[name] for name in order if counts[name]}


def _issue(full: str, lengths: Mapping[str, int], numbered: Numbered) -> dict[str, Any]:
    gid, found = numbered
    return {
        "id": full[: lengths.get(full[: 1 + ID_LENGTH], 1 + ID_LENGTH)],
        "gid": gid,
        "language": found.language,
        "category": found.category,
        "pattern": found.pattern,
        "file": found.file,
        "line": found.line,
        "evidence": found.evidence,
        "description": found.description,
        "suggestion": found.suggestion,
        "confidence": found.confidence,
        "severity": severity_of(found.confidence),
        "score": score_of(found.confidence),
        "status": "heuristic",
        "cwe": found.cwe,
        "fingerprint": fingerprint_of(found.file, found.pattern, found.evidence),
    }


def _full_id(found: Described) -> str:
    key = f"{found.file}:{found.line}:{found.category}:{found.pattern}"
    prefix = "R" if found.language == "rust" else "C"
    return prefix + sha1(key.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()


def _lengths(names: Iterable[str]) -> dict[str, int]:
    """Say how long a name must be where six digits are shared: as long as tells all that share them apart."""
    shared: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in pairwise(sorted(names)):
        short = one[: 1 + ID_LENGTH]
        if one != other and other.startswith(short):
            shared[short] |= {one, other}
    return {short: _length_apart(group) for short, group in shared.items()}


def _length_apart(names: set[str]) -> int:
    length = 1 + ID_LENGTH
    while len({name[:length] for name in names}) < len(names):
        length += 1
    return length
