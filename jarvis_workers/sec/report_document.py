"""The body of a report as values: its findings and its summary.

The types are named tuples because a report has up to 25,000 findings: they are created and copied as fast as JSON rows.
`extra` holds, unchanged, the fields that other versions write and this version lacks.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.sec.alerts.alert import Alert
from jarvis_workers.sec.assessment import NO_VERDICT, Verdict
from jarvis_workers.sec.finding import Candidate, analyzer_of, derived_severity, is_failed_allocation
from jarvis_workers.sec.fuzzing_outcome import FuzzingOutcome
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.severity import score_of
from jarvis_workers.sec.trace import TraceLocation, is_from_outside

# The "file" of a scan that is not complete without a file that it has not read.
WHOLE_TREE = "."


class IssueSuppression(NamedTuple):
    """The reason why a finding does not count, in SARIF terms: `kind` is inSource or external."""

    kind: str
    justification: str | None = None


class Witness(NamedTuple):
    """What another analyzer says of the same defect, in the file of the finding, by its rule (`gcc:use-after-free`)."""

    rule: str
    line: int
    text: str


class Issue(NamedTuple):
    """A finding of a report: a candidate with what is known of it.

    The `fingerprint` is that of the candidate in the scanned tree, also if the paths of a report are below another
    directory.  Findings with the same `root_cause` are one defect; older reports have none.  `path` is the trace that
    leads to it, which the `candidate` does not repeat.  `judged` is the triage state of a finding that still
    counts; `test_code` means that its file is not part of the program.  `proof` is what came of attempts to prove it,
    None if none was planned; `also_reported` is what models said of the same defect, `witnesses` what other analyzers
    said.  A verdict that confirms and rates a finding determines its severity and score; it answers the question
    `verification` of a `cluster`, which is numbered from 1, None during the run.
    """

    id: str
    gid: int
    candidate: Candidate
    severity: str
    score: float
    status: str
    fingerprint: str
    root_cause: str = ""
    path: tuple[TraceLocation, ...] = ()
    suppression: IssueSuppression | None = None
    judged: bool | str | None = None
    test_code: bool = False
    proof: Proof | None = None
    also_reported: tuple[str, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    verdict: Verdict | None = None
    verification: str = ""
    cluster: int | None = None
    extra: Mapping[str, Any] | None = None

    def value(self, name: str) -> Any:
        """Return the value of a field of the finding or its candidate, as in the JSON report."""
        return getattr(self.candidate if name in Candidate._fields else self, name)

    @property
    def rules(self) -> frozenset[str]:
        """The rules that report it: its own, and those of its witnesses."""
        return frozenset((self.candidate.pattern, *(one.rule for one in self.witnesses)))

    @property
    def analyzers(self) -> tuple[str, ...]:
        """The analyzers that report it, by name."""
        return tuple(sorted(set(map(analyzer_of, self.rules))))

    @property
    def opinion(self) -> Verdict:
        """The verdict; without one, a verdict that says nothing."""
        return self.verdict or NO_VERDICT

    @property
    def derived_severity(self) -> str:
        """The severity without configuration and verdict."""
        outside = any(is_from_outside(step.note) for step in self.path)
        one = self.candidate
        return derived_severity(one.pattern, one.confidence, one.cwe, outside=outside, test=self.test_code)

    @property
    def needs_oom(self) -> bool:
        """Whether it is a failed allocation that is not handled."""
        return is_failed_allocation(self.candidate.pattern, self.path)

    @property
    def is_rated(self) -> bool:
        """Whether the severity is that of a verdict, and not that of the rule."""
        return self.status in ("proved", "confirmed") and bool(self.opinion.severity)

    def with_verdict(self, verdict: Verdict, verification: str, cluster: int | None) -> "Issue":
        """Return the finding with its verdict."""
        judged = self._replace(status=verdict.status, verdict=verdict, verification=verification, cluster=cluster)
        if not judged.is_rated:
            return judged
        return judged._replace(severity=verdict.severity, score=score_of(self.candidate.confidence, verdict.severity))

    def with_proof(self, proof: Proof) -> "Issue":
        """Return a confirmed finding with its proof."""
        return self._replace(status="proved" if proof.state == "proved" else self.status, proof=proof)


class ReportGap(NamedTuple):
    """A file that was not checked, or not in full, and the reason."""

    file: str
    reason: str


class ExcludedTree(NamedTuple):
    """A directory that was left out, and the reason."""

    path: str
    reason: str


class SuppressionRemark(NamedTuple):
    """A suppression comment that suppresses nothing, with an explanation, or that gives no reason."""

    file: str
    line: int
    text: str
    reason: str | None = None


class BaselineSummary(NamedTuple):
    """Comparison with a baseline: the number of known findings, and of those now gone (None if not determined)."""

    known: int
    gone: int | None
    facts: Mapping[str, Any]

    @property
    def what(self) -> str:
        """The report or revision that is the baseline."""
        return str(self.facts["what"])

    @property
    def not_listed(self) -> int:
        """Number of findings that the baseline did not list."""
        return int(self.facts.get("not_listed") or 0)

    @property
    def state(self) -> str | None:
        """Final state of the baseline's run, None if it checked everything."""
        state: str | None = self.facts.get("state")
        return state


class CanaryOutcome(NamedTuple):
    """The verdict on a known bug among the candidates."""

    status: str
    reason: str | None = None


class EscalationCount(NamedTuple):
    """The number of candidates about which a stronger model was asked, and that of all candidates with a verdict."""

    escalated: int
    verified: int


class DiscoveryOutcome(NamedTuple):
    """How many functions a model has searched in a run of an earlier version, of those chosen, and lines in none."""

    functions: int
    chosen: int
    searched: int
    lines_outside: int = 0


class ReadingOutcome(NamedTuple):
    """Counts of files for models to read, of those read to their end, of conversations, and of lines, all and read."""

    files: int
    read: int
    groups: int
    lines: int
    lines_read: int


class Summary(NamedTuple):
    """Totals over all findings of a report that count, including those that are not listed.

    `by_status`, `at_risk` (by severity) and `dismissed` are None if no verdicts were requested; `left_out` counts files
    by reason.  `by_analyzer` counts the findings that each analyzer reports, `by_analyzer_alone` those that no other
    does; both are empty without other analyzers.  `root_causes`, and those with a confirmed finding, are None if not
    all findings are listed.
    """

    total: int = 0
    root_causes: int | None = None
    confirmed_root_causes: int | None = None
    by_language: Mapping[str, int] = {}
    by_category: Mapping[str, int] = {}
    by_severity: Mapping[str, int] = {}
    by_analyzer: Mapping[str, int] = {}
    by_analyzer_alone: Mapping[str, int] = {}
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
    escalation: EscalationCount | None = None
    discovery: DiscoveryOutcome | None = None
    reading: ReadingOutcome | None = None
    fuzzing: FuzzingOutcome | None = None
    not_listed: int = 0
    rules_fired: int | None = None
    left_out: Mapping[str, int] = {}
    excluded: Sequence[ExcludedTree] = ()
    extra: Mapping[str, Any] = {}

    @property
    def files_not_checked(self) -> int:
        """The number of files with a part that was not checked, such as several functions of one."""
        return len({gap.file for gap in self.not_checked})


class Excerpt(NamedTuple):
    """Some lines of a file, with the number of the first line; invisible characters are escaped.

    `marks` are other lines that belong to the finding, with their kind: a quote, or a step of its trace.  `more` are
    such lines elsewhere, each piece with its `file`.
    """

    first: int
    lines: tuple[str, ...]
    marks: tuple[tuple[int, str], ...] = ()
    file: str = ""
    more: tuple["Excerpt", ...] = ()


class PatchReplacement(NamedTuple):
    """The lines from `first` up to, not including, `last` of a file become `text`; lines are numbered from 1."""

    file: str
    first: int
    last: int
    text: str


class ReportPatch(NamedTuple):
    """A patch for a finding: "fixed", "refused" or "not done" with the `reason`, and the gates by result.

    `diff` is the patch in git's format, `message` that of its commit; `replacements` apply to the scanned files.
    `older` are errors that stand without it, and that the input of the proof reaches with it; `second_look` has the
    lines of a second look at the function.
    """

    state: str
    reason: str = ""
    passed: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    message: str = ""
    diff: str = ""
    replacements: tuple[PatchReplacement, ...] = ()
    older: tuple[str, ...] = ()
    second_look: tuple[str, ...] = ()


class ReportedAlert(NamedTuple):
    """An alert of another analyzer, where it is in the tree, and the finding that it is, or that it was merged with.

    It has no `file` if it is not placed, and no `gid` either if its finding does not count.
    """

    alert: Alert
    file: str = ""
    line: int = 0
    gid: int | None = None
    is_merged: bool = False


class ReportBody(NamedTuple):
    """A report without its `run` part.

    `suppressed` are set aside by comments or in triage, `dismissed` by a verdict.  Besides the stored parts, formats
    show `excerpts` of the code and `patches` by ids of findings, translated `titles` of rules by name, and `alerts` of
    other analyzers, all of them.
    """

    summary: Summary
    issues: Sequence[Issue] = ()
    dismissed: Sequence[Issue] = ()
    suppressed: Sequence[Issue] = ()
    excerpts: Mapping[str, Excerpt] = {}
    titles: Mapping[str, str] = {}
    patches: Mapping[str, ReportPatch] = {}
    alerts: Sequence[ReportedAlert] = ()

    @property
    def findings(self) -> list[Issue]:
        """All listed findings, those set aside last."""
        return [*self.issues, *self.suppressed, *self.dismissed]

    def map_findings(self, change: Callable[[Issue], Issue]) -> "ReportBody":
        """Return the body with each finding changed."""
        lists = (self.issues, self.dismissed, self.suppressed)
        issues, dismissed, suppressed = (list(map(change, findings)) for findings in lists)
        return self._replace(issues=issues, dismissed=dismissed, suppressed=suppressed)
