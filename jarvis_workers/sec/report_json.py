"""Conversion of a report's body to and from JSON, including reports written by older versions."""

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

from jarvis_workers.sec.assessment import REPORTED, EvidenceQuote, ReproScript, Verdict
from jarvis_workers.sec.fuzzing_outcome import FuzzedTarget, FuzzingOutcome
from jarvis_workers.sec.proof.proof import Proof, ProofSource
from jarvis_workers.sec.report_document import (
    BaselineSummary,
    CanaryOutcome,
    DiscoveryOutcome,
    EscalationCount,
    ExcludedTree,
    Issue,
    IssueSuppression,
    ReadingOutcome,
    ReportBody,
    ReportGap,
    Summary,
    SuppressionRemark,
)
from jarvis_workers.sec.trace import TraceLocation

Row = dict[str, Any]
BASE = Issue._fields[: Issue._fields.index("path")]
VERDICT = (*REPORTED, "verification", "cluster")
PROOF = tuple(name for name in Proof._fields if name not in ("blob", "attempt"))
BEYOND_BASE = tuple(Issue._field_defaults[name] for name in Issue._fields[len(BASE) :])
WITH_PATH = (*BASE, "path")
STEP = itemgetter(*TraceLocation._fields)
ISSUE_FIELDS = {*BASE, "path", "suppression", "judged", "test_code", "proof", "also_reported", *VERDICT}
# Numbers that are written only if they are not zero.
COUNTED = frozenset(name for name in Summary._fields if name.startswith("judged_") or name.endswith("not_listed"))


def body_from_json(row: Mapping[str, Any]) -> ReportBody:
    """Return the body that `body_to_json`, of this or an older version, has written."""
    lists = (row.get(name, ()) for name in ("issues", "dismissed", "suppressed"))
    issues, dismissed, suppressed = ([_issue(one) for one in rows] for rows in lists)
    return ReportBody(_summary(row["summary"]), issues, dismissed, suppressed)


def body_to_json(body: ReportBody) -> Row:
    """Return summary and issues, with lists of dismissed and suppressed issues if there are any."""
    lists = {"issues": body.issues, "dismissed": body.dismissed, "suppressed": body.suppressed}
    rows = {
        name: list(map(issue_to_json, candidate)) for name, candidate in lists.items() if candidate or name == "issues"
    }
    return {"summary": summary_to_json(body.summary), **rows}


def issue_to_json(issue: Issue) -> Row:
    """Return a finding as a JSON object, for reports and files."""
    row: Row = dict(zip(BASE, issue, strict=False))
    if issue.column is None:
        del row["column"]
    if not issue.root_cause:
        del row["root_cause"]
    if issue.path:
        row["path"] = [dict(zip(TraceLocation._fields, step, strict=True)) for step in issue.path]
    if issue.suppression:
        row["suppression"] = issue.suppression._asdict()
    if issue.judged is not None:
        row["judged"] = issue.judged
    optional = {"test_code": issue.test_code, "also_reported": list(issue.also_reported)}
    row |= {name: value for name, value in optional.items() if value}
    if issue.proof:
        row["proof"] = proof_to_json(issue.proof)
    if issue.verdict:
        row |= verdict_to_json(issue.verdict) | {"verification": issue.verification, "cluster": issue.cluster}
    if issue.extra:
        row |= issue.extra
    return row


def summary_to_json(summary: Summary) -> Row:
    """Return a summary as a JSON object."""
    row = summary._asdict() | {
        "top_risk_files": list(summary.top_risk_files),
        "not_checked": _rows(summary.not_checked),
        "unused_suppressions": list(map(_remark_to_json, summary.unused_suppressions)),
        "suppressions_without_reason": list(map(_remark_to_json, summary.suppressions_without_reason)),
        "baseline": _baseline_to_json(summary.baseline) if summary.baseline else None,
        "canary": summary.canary._asdict() if summary.canary else None,
        "escalation": summary.escalation._asdict() if summary.escalation else None,
        "discovery": summary.discovery._asdict() if summary.discovery else None,
        "reading": summary.reading._asdict() if summary.reading else None,
        "fuzzing": {"targets": _rows(summary.fuzzing.targets)} if summary.fuzzing else None,
        "excluded": _rows(summary.excluded),
    }
    del row["extra"]
    return {name: value for name, value in row.items() if not _is_absent(name, value)} | dict(summary.extra)


def verdict_to_json(verdict: Verdict) -> Row:
    """Return a verdict as a JSON object; its status is that of the finding."""
    row = {name: getattr(verdict, field) for name, field in REPORTED.items()}
    return row | {"quotes": _rows(verdict.evidence), "commands": _rows(verdict.commands)}


def proof_to_json(proof: Proof) -> Row:
    """Return a proof as a JSON object."""
    row = {name: getattr(proof, name) for name in PROOF}
    return row | {"sources": _rows(proof.sources), "stack": list(proof.stack)}


def _verdict(row: Mapping[str, Any]) -> Verdict:
    fields = {field: row[name] for name, field in REPORTED.items() if name in row}
    status: Any = "confirmed" if row["status"] == "proved" else row["status"]
    quotes = tuple(EvidenceQuote(one["file"], one["line"], one["quote"]) for one in row.get("quotes", ()))
    scripts = tuple(ReproScript(one["interpreter"], one["script"]) for one in row.get("commands", ()))
    return Verdict(row["gid"], status, **{**fields, "evidence": quotes, "commands": scripts})


def _proof(row: Mapping[str, Any]) -> Proof:
    fields = {name: row[name] for name in PROOF if name in row}
    sources = tuple(ProofSource(**one) for one in row.get("sources", ()))
    return Proof(**fields)._replace(sources=sources, stack=tuple(row.get("stack", ())))


def _issue(row: Mapping[str, Any]) -> Issue:
    names = tuple(row)
    if names == BASE:  # true for most rows, possibly with a path added; creating these directly is much faster
        return Issue._make((*row.values(), *BEYOND_BASE))
    if names == WITH_PATH:
        *base, path = row.values()
        return Issue._make((*base, _path(path), *BEYOND_BASE[1:]))
    fields = {"column": None, **{name: value for name, value in row.items() if name not in REPORTED}}
    if "has_risk" in row:
        fields["verdict"] = _verdict(row)
    if "path" in row:
        fields["path"] = _path(row["path"])
    if suppression := row.get("suppression"):
        fields["suppression"] = IssueSuppression(suppression["kind"], suppression.get("justification"))
    if "proof" in row:
        fields["proof"] = _proof(row["proof"])
    if "also_reported" in row:
        fields["also_reported"] = tuple(row["also_reported"])
    if unknown := row.keys() - ISSUE_FIELDS:
        fields = {name: value for name, value in fields.items() if name not in unknown}
        fields["extra"] = {name: row[name] for name in row if name in unknown}
    return Issue(**fields)


def _path(rows: Iterable[Mapping[str, Any]]) -> tuple[TraceLocation, ...]:
    return tuple(map(TraceLocation._make, map(STEP, rows)))


def _summary(row: Mapping[str, Any]) -> Summary:
    fields = {name: row[name] for name in Summary._fields if name in row and name != "extra"}
    baseline, canary = row.get("baseline"), row.get("canary")
    names = ("escalation", "discovery", "reading", "fuzzing")
    escalation, discovery, reading, fuzzing = (row.get(name) for name in names)
    return Summary(**fields)._replace(
        not_checked=[ReportGap(gap["file"], gap["reason"]) for gap in row.get("not_checked", ())],
        unused_suppressions=[_remark(remark) for remark in row.get("unused_suppressions", ())],
        suppressions_without_reason=[_remark(remark) for remark in row.get("suppressions_without_reason", ())],
        baseline=_baseline(baseline) if baseline else None,
        canary=CanaryOutcome(canary["status"], canary.get("reason")) if canary else None,
        escalation=EscalationCount(escalation["escalated"], escalation["verified"]) if escalation else None,
        discovery=DiscoveryOutcome(**discovery) if discovery else None,
        reading=ReadingOutcome(**reading) if reading else None,
        fuzzing=FuzzingOutcome([FuzzedTarget(**one) for one in fuzzing["targets"]]) if fuzzing else None,
        excluded=[ExcludedTree(tree["path"], tree["reason"]) for tree in row.get("excluded", ())],
        extra={name: value for name, value in row.items() if name not in fields},
    )


def _remark(row: Mapping[str, Any]) -> SuppressionRemark:
    return SuppressionRemark(row["file"], row["line"], row["text"], row.get("reason"))


def _remark_to_json(remark: SuppressionRemark) -> Row:
    return {name: value for name, value in remark._asdict().items() if value is not None}


def _baseline(row: Mapping[str, Any]) -> BaselineSummary:
    facts = {name: value for name, value in row.items() if name not in ("known", "gone")}
    return BaselineSummary(row["known"], row.get("gone"), facts)


def _baseline_to_json(baseline: BaselineSummary) -> Row:
    fixed = {} if baseline.gone is None else {"gone": baseline.gone}
    return {"known": baseline.known, **fixed, **baseline.facts}


def _rows(values: Iterable[Any]) -> list[Row]:
    """Return named tuples as JSON objects by field names."""
    return [value._asdict() for value in values]


def _is_absent(name: str, value: object) -> bool:
    return value is None or (name in COUNTED and not value)
