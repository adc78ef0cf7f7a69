"""Conversion of a report's body to and from JSON, including reports written by older versions."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from types import NoneType
from typing import Any, get_args, get_type_hints

from jarvis_workers.sec.assessment import REPORTED, EvidenceQuote, ReproScript, Verdict
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.proof.proof import Proof, ProofSource
from jarvis_workers.sec.report_document import BaselineSummary, Issue, IssueSuppression, ReportBody, Summary, Witness
from jarvis_workers.sec.trace import TraceLocation

Row = dict[str, Any]
# What every finding has, in its order; the last name is missing in older reports.
BASE = (
    *("id", "gid", "language", "category", "pattern", "file", "line", "column", "evidence", "description"),
    *("suggestion", "confidence", "severity", "score", "status", "cwe", "fingerprint", "root_cause"),
)
PLACE = tuple(name for name in Candidate._fields if name not in ("suppressed", "trail"))
OWN = tuple(name for name in Issue._fields if name in BASE)
VERDICT = (*REPORTED, "verification", "cluster")
PROOF = tuple(name for name in Proof._fields if name not in ("blob", "attempt"))
# The values of BASE among those of a finding and its candidate, and the reverse.
_VALUES = itemgetter(*((*Issue._fields, *Candidate._fields).index(name) for name in BASE))
_PLACE, _OWN = (itemgetter(*map(BASE.index, names)) for names in (PLACE, OWN))
BEYOND_BASE = tuple(Issue._field_defaults[name] for name in Issue._fields[Issue._fields.index("path") :])
WITH_PATH = (*BASE, "path")
STEP = itemgetter(*TraceLocation._fields)
ISSUE_FIELDS = {*BASE, "path", "suppression", "judged", "test_code", "proof", "also_reported", "witnesses", *VERDICT}
REMARKS = ("unused_suppressions", "suppressions_without_reason")
# Numbers, and those by analyzer, that are written only if they are not zero.
COUNTED = frozenset(
    name for name in Summary._fields if name.startswith(("judged_", "by_analyzer")) or name.endswith("not_listed")
)


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
    row: Row = dict(zip(BASE, _VALUES(issue + issue.candidate), strict=True))
    if issue.candidate.column is None:
        del row["column"]
    if not issue.root_cause:
        del row["root_cause"]
    if issue.path:
        row["path"] = [dict(zip(TraceLocation._fields, step, strict=True)) for step in issue.path]
    if issue.suppression:
        row["suppression"] = issue.suppression._asdict()
    if issue.judged is not None:
        row["judged"] = issue.judged
    others = {"also_reported": list(issue.also_reported), "witnesses": _rows(issue.witnesses)}
    optional = {"test_code": issue.test_code, **others}
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
    row = {name: _to_json(value) for name, value in summary._asdict().items() if name != "extra"}
    remarks = {name: [_present(remark) for remark in row[name]] for name in REMARKS}
    row |= remarks | {"baseline": _baseline_to_json(summary.baseline) if summary.baseline else None}
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
        return _base(tuple(row.values()), BEYOND_BASE)
    if names == WITH_PATH:
        *base, path = row.values()
        return _base(base, (_path(path), *BEYOND_BASE[1:]))
    fields = {name: row[name] for name in Issue._fields if name in row and name in ISSUE_FIELDS}
    fields["candidate"] = Candidate(**{name: row[name] for name in PLACE if name in row})
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
    if "witnesses" in row:
        fields["witnesses"] = tuple(Witness(one["rule"], one["line"], one["text"]) for one in row["witnesses"])
    if unknown := row.keys() - ISSUE_FIELDS:
        fields["extra"] = {name: row[name] for name in row if name in unknown}
    return Issue(**fields)


def _base(values: Sequence[Any], others: Sequence[Any]) -> Issue:
    id_, gid, *own = _OWN(values)
    return Issue._make((id_, gid, Candidate._make((*_PLACE(values), None, None)), *own, *others))


def _path(rows: Iterable[Mapping[str, Any]]) -> tuple[TraceLocation, ...]:
    return tuple(map(TraceLocation._make, map(STEP, rows)))


def _summary(row: Mapping[str, Any]) -> Summary:
    fields = {name: row[name] for name in Summary._fields if name in row and name != "extra"}
    baseline = fields.pop("baseline", None)
    summary: Summary = _of_json(Summary, fields)
    return summary._replace(
        baseline=_baseline(baseline) if baseline else None,
        extra={name: value for name, value in row.items() if name not in Summary._fields or name == "extra"},
    )


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _of_json(hint: Any, value: Any) -> Any:
    """Return the value of a type, such as a named tuple, a list of them or None, that `_to_json` has written."""
    if hasattr(hint, "_fields"):
        hints = _hints(hint)
        return hint(**{name: _of_json(hints[name], value[name]) for name in hint._fields if name in value})
    inner = next((one for one in get_args(hint) if one is not NoneType), None)
    if value is None or not hasattr(inner, "_fields"):
        return value
    return [_of_json(inner, one) for one in value] if isinstance(value, list) else _of_json(inner, value)


def _to_json(value: Any) -> Any:
    """Return named tuples as objects by field names, also within each other and in lists."""
    if hasattr(value, "_fields"):
        return {name: _to_json(one) for name, one in zip(value._fields, value, strict=True)}
    return [*map(_to_json, value)] if isinstance(value, list | tuple) else value


def _present(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


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
