"""Read a JSON or SARIF report file as the body of a report, for comparison with another one.

The file is untrusted: its size is bounded, each finding is validated, and malformed input is rejected. SARIF does not
record excluded files and the minimum confidence.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import unquote_to_bytes

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_workers.constraints import located
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, shown
from jarvis_workers.sec.finding import pattern_of
from jarvis_workers.sec.report.sarif_results import OWN_PRINT
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.report_json import body_from_json
from jarvis_workers.sec.run_reports.baselines import is_of_jarvis, load_report
from jarvis_workers.sec.severity import WEIGHTS, likelihood_of

NUMBER = re.compile(r"[\d,]+")
CWE_TAG = "external/cwe/cwe-"
Part = Mapping[str, Any]
# What a comparison does not need of a finding.
UNSAID = {"gid": 0, "language": "", "category": "", "description": "", "suggestion": ""}


class ReportFile(NamedTuple):
    """The body and the `run` part of a report; for `is_sarif` the scope of the scan is incomplete."""

    body: ReportBody
    run: dict[str, Any]
    is_sarif: bool


class FileIssue(BaseModel):
    """The fields of a finding that a comparison needs."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    id: Annotated[str, Field(max_length=64)]
    fingerprint: Annotated[str, Field(pattern=r"\A[0-9a-f]{16}\z")]
    pattern: str
    file: str
    line: int
    evidence: str = ""
    severity: Literal["high", "medium", "low"]
    confidence: Annotated[float, Field(ge=0, le=1)]
    score: Annotated[float, Field(ge=0, le=10)]
    status: Literal["proved", "confirmed", "review", "undecided", "heuristic", "dismissed"]
    cwe: int = 0
    suppression: dict[str, Any] | None = None


class FileSummary(BaseModel):
    """The part of a report's summary about files that were not checked."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    not_checked: list[dict[Literal["file", "reason"], str]] = []
    excluded: list[dict[Literal["path", "reason"], str]] = []
    left_out: dict[str, int] = {}
    not_listed: int = 0
    dismissed_not_listed: int = 0
    below_min_confidence: int = 0


def read_report_file(named: str) -> ReportFile:
    """Return the report in a file. Raises UsageError with a one-line message if it is unreadable or malformed."""
    where = plain(named)
    written = load_report(named, where)
    try:
        report = _of_json(written) if "issues" in written else _of_sarif(written)
    except (ValidationError, KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{where} is not a JSON or SARIF report of jarvis, or damaged: {_short(error)}") from error
    if "baseline" in report.run:
        raise UsageError(f"{where} lists only findings new to its own baseline; give a report of a full scan")
    return report._replace(run={**report.run, "file": where})


def _of_json(written: Part) -> ReportFile:
    body = body_from_json(
        {
            "summary": FileSummary.model_validate(written["summary"]).model_dump(),
            "issues": [_checked(one) for one in written["issues"]],
            "dismissed": [_checked(one) for one in written.get("dismissed", ())],
            "suppressed": [_checked(one) for one in written.get("suppressed", ())],
        }
    )
    return ReportFile(body, _mapping(written["run"]), is_sarif=False)


def _of_sarif(written: Part) -> ReportFile:
    log, *others = written["runs"]
    run = _mapping(_mapping(log["properties"])["run"])
    weaknesses = {rule["id"]: _cwe(rule) for rule in log["tool"]["driver"]["rules"]}
    prefix = str(run.get("path_prefix") or "")
    issues = [_checked(_issue(result, weaknesses, prefix)) for result in log["results"]]
    issues += [
        _checked(_foreign_issue(result, prefix)) for one in others for result in one["results"] if is_of_jarvis(result)
    ]
    notes = [note for one in log["invocations"] for note in one.get("toolExecutionNotifications", ())]
    summary = {"not_checked": list(_not_checked(notes, prefix)), "not_listed": sum(map(_number, notes))}
    body = {"summary": FileSummary.model_validate(summary).model_dump(), "issues": issues}
    return ReportFile(body_from_json(body), run, is_sarif=True)


def _checked(issue: object) -> dict[str, Any]:
    return UNSAID | FileIssue.model_validate(issue).model_dump(exclude_none=True)


def _issue(result: Part, weaknesses: Mapping[str, int], prefix: str) -> dict[str, Any]:
    place = result["locations"][0]["physicalLocation"]
    return _judged(result) | {
        "pattern": pattern_of(result["ruleId"]),
        "file": _file(place, prefix),
        "line": place["region"]["startLine"],
        "evidence": place["region"].get("snippet", {}).get("text", ""),
        "cwe": weaknesses.get(result["ruleId"], 0),
    }


def _foreign_issue(result: Part, prefix: str) -> dict[str, Any]:
    """Return a finding of another analyzer, whose rule and place in SARIF are those of the analyzer."""
    properties = result["properties"]
    file = {"file": properties["file"].removeprefix(f"{prefix}/") if prefix else properties["file"]}
    return _judged(result) | {name: properties[name] for name in ("pattern", "line", "evidence", "cwe")} | file


def _judged(result: Part) -> dict[str, Any]:
    properties = result["properties"]
    suppressions = result.get("suppressions") or []
    aside = {"suppression": suppressions[0]} if suppressions and properties["status"] != "dismissed" else {}
    return {
        "id": properties["id"],
        "fingerprint": result["partialFingerprints"][OWN_PRINT].partition(":")[0],
        "severity": _severity(properties["score"], properties["confidence"]),
        **{name: properties[name] for name in ("confidence", "score", "status")},
        **aside,
    }


def _severity(score: float, confidence: float) -> str:
    """Return the severity, derived from the score, which is the confidence times the weight of the severity."""
    weight = round(score / confidence) if confidence else 0
    return next((name for name, value in WEIGHTS.items() if value == weight), likelihood_of(confidence))


def _file(place: Part, prefix: str) -> str:
    """Return the path from the scanned root, as URIs are relative to the top of the repository."""
    file = shown(unquote_to_bytes(place["artifactLocation"]["uri"]))
    return file.removeprefix(f"{prefix}/") if prefix else file


def _cwe(rule: Part) -> int:
    tags = [tag for tag in rule["properties"]["tags"] if tag.startswith(CWE_TAG)]
    return int(tags[0].removeprefix(CWE_TAG)) if tags else 0


def _not_checked(notes: list[Part], prefix: str) -> Iterator[dict[str, str]]:
    for note in notes:
        if note["descriptor"]["id"] == "not-checked" and note.get("locations"):
            file = _file(note["locations"][0]["physicalLocation"], prefix)
            yield {"file": file, "reason": "not checked, according to its report"}


def _number(note: Part) -> int:
    """Return the number of unlisted findings given by a notification."""
    text = note["message"]["text"]
    match = NUMBER.search(text) if note["descriptor"]["id"] == "not-listed" and " findings;" in text else None
    return int(match[0].replace(",", "")) if match else 0


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("it contains no run")
    return value


def _short(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return plain(located(error.errors(include_url=False)[0]))[:200]
    return plain(f"{type(error).__name__} {error}")[:200]
