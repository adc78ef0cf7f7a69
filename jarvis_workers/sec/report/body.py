"""Build what every format of a report says.

The body depends on the candidates and on what was not looked at, and on nothing else: not on
times, workers or order of work.  Nothing is dropped without a number that says so.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha1
from typing import Any

from jarvis_workers.sec.finding import CATEGORY_ORDER, SEVERITIES, Candidate

WORST_FIRST = tuple(reversed(SEVERITIES))
TOP_FILES = 10
ID_LENGTH = 6

Numbered = tuple[int, Candidate]


def build(
    numbered: Sequence[Numbered],
    *,
    scanned_files: int,
    not_checked: Sequence[tuple[str, str]] = (),
    left_out: Mapping[str, int] | None = None,
    excluded: Sequence[tuple[str, str]] = (),
    min_confidence: float = 0.4,
) -> dict[str, Any]:
    """Return {"summary": ..., "issues": [...]}, the issues in the order of the candidates.

    `numbered` gives each candidate its gid.  `not_checked` and `excluded` are (file, reason); `left_out` counts
    files by reason.  Candidates below `min_confidence` are counted in the summary, not listed.
    """
    told = [(gid, candidate) for gid, candidate in numbered if candidate.confidence >= min_confidence]
    names = _ids([candidate for _, candidate in told])
    issues = [_issue(name, gid, candidate) for name, (gid, candidate) in zip(names, told, strict=True)]
    return {
        "summary": {
            **_totals(issues),
            "scanned_files": scanned_files,
            "not_checked": [{"file": file, "reason": reason} for file, reason in sorted(set(not_checked))],
            "below_min_confidence": len(numbered) - len(told),
            "left_out": dict(sorted((left_out or {}).items())),
            "excluded": [{"path": path, "reason": reason} for path, reason in sorted(set(excluded))],
        },
        "issues": issues,
    }


def _totals(issues: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for issue in issues:
        scores[issue["file"]].append(issue["score"])
    riskiest = sorted(scores, key=lambda file: (-round(sum(scores[file]), 2), file))
    categories = Counter(issue["category"] for issue in issues)
    others = sorted(categories.keys() - set(CATEGORY_ORDER))
    return {
        "total": len(issues),
        "by_language": dict(sorted(Counter(issue["language"] for issue in issues).items())),
        "by_category": _in_order(categories, [*CATEGORY_ORDER, *others]),
        "by_severity": _in_order(Counter(issue["severity"] for issue in issues), WORST_FIRST),
        "score_sum": round(sum(issue["score"] for issue in issues), 2),
        "top_risk_files": riskiest[:TOP_FILES],
    }


def _in_order(counts: Counter[str], order: Iterable[str]) -> dict[str, int]:
    return {name: counts[name] for name in order if counts[name]}


def _issue(name: str, gid: int, candidate: Candidate) -> dict[str, Any]:
    return {
        "id": name,
        "gid": gid,
        "language": candidate.language,
        "category": candidate.category,
        "pattern": candidate.pattern,
        "file": candidate.file,
        "line": candidate.line,
        "evidence": candidate.evidence,
        "description": candidate.description,
        "suggestion": candidate.suggestion,
        "confidence": candidate.confidence,
        "severity": candidate.severity,
        "score": candidate.score,
        "status": "heuristic",
        "cwe": candidate.cwe,
        "fingerprint": candidate.fingerprint,
    }


def _ids(candidates: Sequence[Candidate]) -> list[str]:
    """Give each the shortest name of at least six digits that no other of this report shares."""
    full = [_full_id(candidate) for candidate in candidates]
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for name in full:
        groups[name[: 1 + ID_LENGTH]].add(name)
    lengths = {short: _length_apart(names) for short, names in groups.items()}
    return [name[: lengths[name[: 1 + ID_LENGTH]]] for name in full]


def _full_id(candidate: Candidate) -> str:
    key = f"{candidate.file}:{candidate.line}:{candidate.category}:{candidate.pattern}"
    prefix = "R" if candidate.language == "rust" else "C"
    return prefix + sha1(key.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()


def _length_apart(names: set[str]) -> int:
    length = 1 + ID_LENGTH
    while len({name[:length] for name in names}) < len(names):
        length += 1
    return length
