"""The body of a report as values: its findings and its summary, with conversion to and from JSON.

Named tuples are used because there are up to 25,000 findings: they are created and copied as fast as rows of JSON.
Fields that other versions have written and this one lacks are kept unchanged in `extra`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.sec.trace import TraceLocation

__all__ = [
    "BaselineSummary",
    "CanaryOutcome",
    "EvidenceQuote",
    "Excerpt",
    "ExcludedTree",
    "Issue",
    "IssueSuppression",
    "IssueVerdict",
    "ReportBody",
    "ReportGap",
    "ReproScript",
    "Summary",
    "SuppressionRemark",
    "body_from_json",
    "body_to_json",
    "issue_to_json",
    "quotes_from_json",
    "scripts_from_json",
    "scripts_to_json",
    "summary_to_json",
]

Row = dict[str, Any]


class EvidenceQuote(NamedTuple):
    """Lines of a file that a verdict quotes."""

    file: str
    line: int
    quote: str


class ReproScript(NamedTuple):
    """A script that an agent ran, for reproduction in a copy of the source."""

    interpreter: str
    script: str


class IssueSuppression(NamedTuple):
    """Why a finding does not count, in the terms of SARIF: `kind` is inSource or external."""

    kind: str
    justification: str | None = None


class IssueVerdict(NamedTuple):
    """The verdict on a candidate; `reason` explains why it is neither confirmed nor dismissed."""

    status: str
    has_risk: bool | None = None
    preconditions: str = ""
    trigger_path: str = ""
    consequences: str = ""
    suggestions: str = ""
    quotes: tuple[EvidenceQuote, ...] = ()
    reason: str | None = None
    commands: tuple[ReproScript, ...] = ()


class Issue(NamedTuple):
    """A finding of a report.

    `column` counts characters from 1, None in older stores.  `path` is the trace that leads to it.  `judged` is the
    triage state of a finding that still counts.  The fields from `has_risk` on are the verdict, if it `has_verdict`;
    `cluster` is numbered from 1, None during the run.
    """

    id: str
    gid: int
    language: str
    category: str
    pattern: str
    file: str
    line: int
    column: int | None
    evidence: str
    description: str
    suggestion: str
    confidence: float
    severity: str
    score: float
    status: str
    cwe: int
    fingerprint: str
    path: tuple[TraceLocation, ...] = ()
    suppression: IssueSuppression | None = None
    judged: bool | str | None = None
    has_verdict: bool = False
    has_risk: bool | None = None
    preconditions: str = ""
    trigger_path: str = ""
    consequences: str = ""
    suggestions: str = ""
    quotes: tuple[EvidenceQuote, ...] = ()
    reason: str | None = None
    commands: tuple[ReproScript, ...] = ()
    verification: str = ""
    cluster: int | None = None
    extra: Mapping[str, Any] | None = None

    def with_verdict(self, verdict: IssueVerdict, verification: str, cluster: int | None) -> "Issue":
        """Return the finding with its verdict."""
        return self._replace(has_verdict=True, verification=verification, cluster=cluster, **verdict._asdict())


class ReportGap(NamedTuple):
    """A file that was not checked, or not in full, and the reason."""

    file: str
    reason: str


class ExcludedTree(NamedTuple):
    """A directory that was left out, and the reason."""

    path: str
    reason: str


class SuppressionRemark(NamedTuple):
    """A comment that suppresses nothing, with the reason, or that gives no reason itself."""

    file: str
    line: int
    text: str
    reason: str | None = None


class BaselineSummary(NamedTuple):
    """Comparison with a baseline: the number of known findings, and of those that are gone (None: not determined)."""

    known: int
    gone: int | None
    facts: Mapping[str, Any]

    @property
    def what(self) -> str:
        """The report or revision."""
        return str(self.facts["what"])

    @property
    def not_listed(self) -> int:
        """Number of findings that the baseline did not list."""
        return int(self.facts.get("not_listed") or 0)

    @property
    def state(self) -> str | None:
        """Final state of the baseline's run, if it did not check everything."""
        state: str | None = self.facts.get("state")
        return state


class CanaryOutcome(NamedTuple):
    """The verdict on a known bug among the candidates."""

    status: str
    reason: str | None = None


class Summary(NamedTuple):
    """Totals of a report over all findings that count, including those that it does not list.

    `by_status`, `at_risk` (by severity) and `dismissed` are None if no verdicts were requested; `left_out` counts files
    by reason.
    """

    total: int = 0
    by_language: Mapping[str, int] = {}
    by_category: Mapping[str, int] = {}
    by_severity: Mapping[str, int] = {}
    score_sum: float = 0.0
    top_risk_files: Sequence[str] = ()
    by_status: Mapping[str, int] | None = None
    at_risk: Mapping[str, int] | None = None
    dismissed: int | None = None
    dismissed_not_listed: int = 0
    scanned_files: int = 0
    not_checked: Sequence[ReportGap] = ()
    below_min_confidence: int = 0
    suppressed: int = 0
    judged_false: int = 0
    judged_wontfix: int = 0
    judged_later: int = 0
    unused_suppressions: Sequence[SuppressionRemark] = ()
    suppressions_without_reason: Sequence[SuppressionRemark] = ()
    unused_suppressions_not_listed: int = 0
    suppressions_without_reason_not_listed: int = 0
    baseline: BaselineSummary | None = None
    canary: CanaryOutcome | None = None
    not_listed: int = 0
    rules_fired: int | None = None
    left_out: Mapping[str, int] = {}
    excluded: Sequence[ExcludedTree] = ()
    extra: Mapping[str, Any] = {}


class Excerpt(NamedTuple):
    """Some lines of a file with the number of the first, invisible characters escaped.

    `marks` are other lines that belong to the finding, with their kind: a quote, or a step of its trace.  `more` are
    such lines elsewhere, each piece with its `file`.
    """

    first: int
    lines: tuple[str, ...]
    marks: tuple[tuple[int, str], ...] = ()
    file: str = ""
    more: tuple["Excerpt", ...] = ()


class ReportBody(NamedTuple):
    """A report without its `run` part.

    `suppressed` are set aside by comments or in triage, `dismissed` by a verdict.  Besides the stored parts, formats
    show `excerpts` of the code by ids of findings, and `titles` of rules by name.
    """

    summary: Summary
    issues: Sequence[Issue] = ()
    dismissed: Sequence[Issue] = ()
    suppressed: Sequence[Issue] = ()
    excerpts: Mapping[str, Excerpt] = {}
    titles: Mapping[str, str] = {}

    @property
    def findings(self) -> list[Issue]:
        """All listed findings, those set aside last."""
        return [*self.issues, *self.suppressed, *self.dismissed]


BASE = Issue._fields[: Issue._fields.index("path")]
VERDICT = Issue._fields[Issue._fields.index("has_risk") : Issue._fields.index("extra")]
BEYOND_BASE = tuple(Issue._field_defaults.values())
KNOWN = {*BASE, "path", "suppression", "judged", *VERDICT}
# Numbers that are written only if they are not zero.
COUNTED = frozenset(name for name in Summary._fields if name.startswith("judged_") or name.endswith("not_listed"))


def body_from_json(row: Mapping[str, Any]) -> ReportBody:
    """Return the body that `body_to_json` of this or an older version wrote."""
    lists = (row.get(name, ()) for name in ("issues", "dismissed", "suppressed"))
    issues, dismissed, suppressed = ([_issue(one) for one in rows] for rows in lists)
    return ReportBody(_summary(row["summary"]), issues, dismissed, suppressed)


def body_to_json(body: ReportBody) -> Row:
    """Return summary and issues, with lists of dismissed and suppressed issues if there are any."""
    lists = {"issues": body.issues, "dismissed": body.dismissed, "suppressed": body.suppressed}
    rows = {name: list(map(issue_to_json, found)) for name, found in lists.items() if found or name == "issues"}
    return {"summary": summary_to_json(body.summary), **rows}


def issue_to_json(issue: Issue) -> Row:
    """Return a finding in the form of reports and files."""
    row: Row = dict(zip(BASE, issue, strict=False))
    if issue.column is None:
        del row["column"]
    if issue.path:
        row["path"] = _rows(issue.path)
    if issue.suppression:
        row["suppression"] = issue.suppression._asdict()
    if issue.judged is not None:
        row["judged"] = issue.judged
    if issue.has_verdict:
        row.update(zip(VERDICT, issue[-1 - len(VERDICT) : -1], strict=True))
        row["quotes"], row["commands"] = _rows(issue.quotes), scripts_to_json(issue.commands)
    if issue.extra:
        row |= issue.extra
    return row


def summary_to_json(summary: Summary) -> Row:
    """Return a summary in the form of reports."""
    row = summary._asdict() | {
        "top_risk_files": list(summary.top_risk_files),
        "not_checked": _rows(summary.not_checked),
        "unused_suppressions": list(map(_remark_to_json, summary.unused_suppressions)),
        "suppressions_without_reason": list(map(_remark_to_json, summary.suppressions_without_reason)),
        "baseline": _baseline_to_json(summary.baseline) if summary.baseline else None,
        "canary": summary.canary._asdict() if summary.canary else None,
        "excluded": _rows(summary.excluded),
    }
    del row["extra"]
    return {name: value for name, value in row.items() if not _is_absent(name, value)} | dict(summary.extra)


def quotes_from_json(rows: Iterable[Mapping[str, Any]]) -> tuple[EvidenceQuote, ...]:
    """Return the quotes of a verdict."""
    return tuple(EvidenceQuote(row["file"], row["line"], row["quote"]) for row in rows)


def scripts_from_json(rows: Iterable[Mapping[str, Any]]) -> tuple[ReproScript, ...]:
    """Return the scripts of a verdict."""
    return tuple(ReproScript(row["interpreter"], row["script"]) for row in rows)


def scripts_to_json(scripts: Iterable[ReproScript]) -> list[Row]:
    """Return the scripts of a verdict in the form of reports."""
    return _rows(scripts)


def _issue(row: Mapping[str, Any]) -> Issue:
    if tuple(row) == BASE:  # most are, and are created in half the time
        return Issue._make((*row.values(), *BEYOND_BASE))
    fields = {"column": None, **row, "has_verdict": "has_risk" in row}
    if "path" in row:
        fields["path"] = tuple(TraceLocation(step["file"], step["line"], step["note"]) for step in row["path"])
    if suppression := row.get("suppression"):
        fields["suppression"] = IssueSuppression(suppression["kind"], suppression.get("justification"))
    if "quotes" in row:
        fields["quotes"] = quotes_from_json(row["quotes"])
    if "commands" in row:
        fields["commands"] = scripts_from_json(row["commands"])
    if unknown := row.keys() - KNOWN:
        fields = {name: value for name, value in fields.items() if name not in unknown}
        fields["extra"] = {name: row[name] for name in row if name in unknown}
    return Issue(**fields)


def _summary(row: Mapping[str, Any]) -> Summary:
    known = {name: row[name] for name in Summary._fields if name in row and name != "extra"}
    baseline, canary = row.get("baseline"), row.get("canary")
    return Summary(**known)._replace(
        not_checked=[ReportGap(gap["file"], gap["reason"]) for gap in row.get("not_checked", ())],
        unused_suppressions=[_remark(remark) for remark in row.get("unused_suppressions", ())],
        suppressions_without_reason=[_remark(remark) for remark in row.get("suppressions_without_reason", ())],
        baseline=_baseline(baseline) if baseline else None,
        canary=CanaryOutcome(canary["status"], canary.get("reason")) if canary else None,
        excluded=[ExcludedTree(tree["path"], tree["reason"]) for tree in row.get("excluded", ())],
        extra={name: value for name, value in row.items() if name not in known},
    )


def _remark(row: Mapping[str, Any]) -> SuppressionRemark:
    return SuppressionRemark(row["file"], row["line"], row["text"], row.get("reason"))


def _remark_to_json(remark: SuppressionRemark) -> Row:
    return {name: value for name, value in remark._asdict().items() if value is not None}


def _baseline(row: Mapping[str, Any]) -> BaselineSummary:
    facts = {name: value for name, value in row.items() if name not in ("known", "gone")}
    return BaselineSummary(row["known"], row.get("gone"), facts)


def _baseline_to_json(baseline: BaselineSummary) -> Row:
    gone = {} if baseline.gone is None else {"gone": baseline.gone}
    return {"known": baseline.known, **gone, **baseline.facts}


def _rows(values: Iterable[Any]) -> list[Row]:
    """Return named tuples as JSON objects by field names."""
    return [value._asdict() for value in values]


def _is_absent(name: str, value: object) -> bool:
    return value is None or (name in COUNTED and not value)
