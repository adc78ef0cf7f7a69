"""Build the body of a report, which every format renders.

The body depends only on the candidates and on the list of unchecked files, not on times, workers or the order of work.
Everything omitted is counted: the summary counts every finding, including those beyond ISSUES_MAX, which are not
listed.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha1
from itertools import pairwise
from typing import Any

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.finding import OURS, WITHOUT_RULE, Candidate, Numbered, RootCauseIds, analyzer_of, rule_id
from jarvis_workers.sec.report.defect_groups import count_root_causes
from jarvis_workers.sec.report.exclusions import Exclusions, exclusions_of
from jarvis_workers.sec.report.verdict_index import VerdictIndex
from jarvis_workers.sec.report_document import (
    BaselineSummary,
    CanaryOutcome,
    ExcludedTree,
    Issue,
    ReportBody,
    ReportGap,
    Summary,
    SuppressionRemark,
    Witness,
)
from jarvis_workers.sec.severity import CATEGORY_ORDER, SEVERITIES, score_of
from jarvis_workers.sec.suppressions import WITHOUT_REASON
from jarvis_workers.sec.trace import read_trail
from jarvis_workers.sec.triage_states import NOTHING_JUDGED, TriageVerdict
from jarvis_workers.source.languages import is_test

WORST_FIRST = tuple(reversed(SEVERITIES))
TOP_FILES = 10
ID_LENGTH = 6
# More findings than a user can read; a scan that exceeds this limit should be narrowed.
ISSUES_MAX = 25_000
REMARKS_MAX = 1_000
MIN_CONFIDENCE = 0.4
PROVED, CONFIRMED, REVIEW, DISMISSED = "proved", "confirmed", "review", "dismissed"
STATUSES = (PROVED, CONFIRMED, REVIEW, "undecided", "heuristic")
AT_RISK = frozenset({PROVED, CONFIRMED, REVIEW})

# By rule.
Severities = Mapping[str, str]
AS_IT_IS: Severities = {}
AS_IT_IS_RATED: Mapping[int, str] = {}
Witnesses = Mapping[int, Sequence[Witness]]
NO_WITNESSES: Witnesses = {}


class _Ids:
    """The ids of findings and of root causes; `add` all candidates first.

    They depend on all candidates that are sure enough, so that a finding has the same ids with and without a baseline,
    verdicts and people's decisions.
    """

    def __init__(self, min_confidence: float) -> None:
        self._least = min_confidence
        self._names: list[str] = []
        self._causes = RootCauseIds()

    def add(self, numbered: Iterable[Numbered]) -> Iterator[Numbered]:
        """Yield the candidates, and take them into account."""
        for gid, candidate in numbered:
            if not candidate.is_weaker(self._least):
                self._names.append(_full_id(candidate))
                self._causes.add(candidate)
            yield gid, candidate

    @cached_property
    def _lengths(self) -> Mapping[str, int]:
        return _lengths(self._names)

    def of_finding(self, candidate: Candidate) -> str:
        """Return a short id, longer where several findings share it."""
        full = _full_id(candidate)
        return full[: self._lengths.get(full[: 1 + ID_LENGTH], 1 + ID_LENGTH)]

    def of_root_cause(self, candidate: Candidate) -> str:
        """Return the id of the root cause of a candidate."""
        return self._causes.id_of(candidate)


@dataclass(slots=True)
class Findings:
    """Findings of a report: `issues` are the listed ones, the totals count all."""

    issues: list[Issue] = field(default_factory=list)
    total: int = 0
    weaker: int = 0
    score_sum: float = 0.0
    languages: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    rules: set[str] = field(default_factory=set)
    severities: Counter[str] = field(default_factory=Counter)
    file_scores: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    statuses: Counter[str] = field(default_factory=Counter)
    at_risk: Counter[str] = field(default_factory=Counter)
    analyzers: Counter[str] = field(default_factory=Counter)
    analyzers_alone: Counter[str] = field(default_factory=Counter)
    dismissed: list[Issue] = field(default_factory=list)
    suppressed: list[Issue] = field(default_factory=list)
    aside: Exclusions = field(default_factory=Exclusions)


def gather(
    numbered: Iterable[Numbered],
    min_confidence: float = MIN_CONFIDENCE,
    most: int = ISSUES_MAX,
    *,
    severities: Severities = AS_IT_IS,
    baseline: Mapping[str, int] | None = None,
    judged: Mapping[str, TriageVerdict] = NOTHING_JUDGED,
    verdicts: VerdictIndex | None = None,
    witnesses: Witnesses = NO_WITNESSES,
) -> Findings:
    """Collect the candidates, each with its gid, in one pass; keep the `most` with the highest score, in order.

    `severities` are the configured severities of rules, regardless of the confidence; `baseline` is the number of
    baseline findings by fingerprint: these are set aside, as are findings suppressed by a comment or `judged` false.
    `verdicts` are None if none were requested; a dismissed candidate is set aside, and the severity of a rated one is
    that of its verdict. `witnesses` are what other analyzers say of findings, by gid.
    """
    findings, ids = Findings(aside=exclusions_of(baseline, judged, verdicts)), _Ids(min_confidence)
    aside = findings.aside
    those = aside.counted(ids.add(numbered), min_confidence)
    counted = _counted(those, min_confidence, findings, severities, witnesses)
    rated = verdicts.severities if verdicts else AS_IT_IS_RATED
    best = heapq.nlargest(most, counted, key=lambda entry: _weigh(entry[2], severities, rated.get(entry[1]))[1])
    findings.issues = [
        _issue(ids, (gid, candidate), severities, aside.mark(candidate))
        for _, gid, candidate in sorted(best, key=lambda entry: entry[0])
    ]
    findings.dismissed = [_issue(ids, one, severities)._replace(status=DISMISSED) for one in aside.dismissed]
    findings.suppressed = [_set_aside(_issue(ids, one, severities), one[1], aside) for one in aside.suppressed]
    return findings


def _set_aside(issue: Issue, candidate: Candidate, aside: Exclusions) -> Issue:
    judged = None if candidate.suppressed is not None else aside.mark(candidate)
    return issue._replace(suppression=aside.suppression(candidate), judged=judged)


def every_issue(
    read: Callable[[], Iterable[Numbered]],
    min_confidence: float,
    *,
    severities: Severities = AS_IT_IS,
    baseline: Mapping[str, int] | None = None,
    judged: Mapping[str, TriageVerdict] = NOTHING_JUDGED,
) -> Iterator[Issue]:
    """Yield all issues that `gather` counts without verdicts, under the same ids.

    This reads the candidates twice and stores none.
    """
    ids, aside = _Ids(min_confidence), exclusions_of(baseline, judged)
    for _ in ids.add(read()):
        pass
    for gid, candidate in aside.counted(read(), min_confidence):
        if not candidate.is_weaker(min_confidence):
            yield _issue(ids, (gid, candidate), severities, aside.mark(candidate))


def build(
    findings: Findings,
    *,
    scanned_files: int,
    not_checked: Sequence[tuple[str, str]] = (),
    left_out: Mapping[str, int] | None = None,
    excluded: Sequence[tuple[str, str]] = (),
    remarks: Iterable[Sequence[Any]] = (),
    baseline: Mapping[str, Any] | None = None,
    canary: CanaryOutcome | None = None,
) -> ReportBody:
    """Return the body of a report.

    `not_checked` and `excluded` are (file, reason); `left_out` counts files by reason; `remarks` are (file, line,
    suppression comment, remark); `baseline` describes the baseline of the comparison, `canary` the result for a known
    bug among the candidates.
    """
    aside, not_listed = findings.aside, findings.total - len(findings.issues)
    remarked = _remarked(remarks)
    summary = _totals(findings)._replace(
        root_causes=None if not_listed else count_root_causes(findings.issues),
        confirmed_root_causes=(
            None if not_listed or aside.verdicts is None else count_root_causes(findings.issues, CONFIRMED)
        ),
        scanned_files=scanned_files,
        not_checked=[ReportGap(*gap) for gap in sorted(set(not_checked))],
        below_min_confidence=findings.weaker,
        suppressed=aside.total_suppressed,
        judged_false=aside.total_judged_false,
        judged_wontfix=aside.total_wontfix,
        judged_later=aside.total_later,
        baseline=_compared(aside, baseline) if baseline is not None else None,
        canary=canary,
        not_listed=not_listed,
        rules_fired=len(findings.rules) if not_listed else None,
        left_out=dict(sorted((left_out or {}).items())),
        excluded=[ExcludedTree(*tree) for tree in sorted(set(excluded))],
        **remarked,
    )
    return ReportBody(summary, findings.issues, findings.dismissed, findings.suppressed)


def _counted(
    numbered: Iterable[Numbered],
    min_confidence: float,
    findings: Findings,
    severities: Severities,
    witnesses: Witnesses,
) -> Iterator[tuple[int, int, Candidate]]:
    """Count the candidates, and yield those that may be listed."""
    for gid, candidate in numbered:
        if candidate.is_weaker(min_confidence):
            findings.weaker += 1
            continue
        verdicts = findings.aside.verdicts
        rated = verdicts.severities.get(gid) if verdicts else None
        severity, score = _weigh(candidate, severities, rated)
        findings.score_sum += score
        findings.file_scores[candidate.file] += score
        findings.languages[candidate.language] += 1
        findings.categories[candidate.category] += 1
        findings.rules.add(rule_id(candidate.pattern, candidate.cwe))
        findings.severities[severity] += 1
        analyzers = {analyzer_of(candidate.pattern), *(analyzer_of(one.rule) for one in witnesses.get(gid, ()))}
        findings.analyzers.update(analyzers)
        findings.analyzers_alone.update(analyzers if len(analyzers) == 1 else ())
        if verdicts is not None:
            status = verdicts.status(gid)
            # A model's verdict does not override a person's.
            status = REVIEW if status == DISMISSED else status
            findings.statuses[status] += 1
            findings.at_risk[severity] += status in AT_RISK
        yield findings.total, gid, candidate
        findings.total += 1


def _totals(findings: Findings) -> Summary:
    """Return the totals and, if there are verdicts, the counts by status and the possible risks by severity."""
    scores = findings.file_scores
    riskiest = sorted(scores, key=lambda file: (-round(scores[file], 2), file))
    others = sorted(findings.categories.keys() - set(CATEGORY_ORDER))
    is_mixed = findings.analyzers.keys() - {OURS}
    summary = Summary(
        total=findings.total,
        by_language=dict(sorted(findings.languages.items())),
        by_category=_in_order(findings.categories, [*CATEGORY_ORDER, *others]),
        by_severity=_in_order(findings.severities, WORST_FIRST),
        by_analyzer=dict(sorted(findings.analyzers.items())) if is_mixed else {},
        by_analyzer_alone=dict(sorted(findings.analyzers_alone.items())) if is_mixed else {},
        score_sum=round(findings.score_sum, 2),
        top_risk_files=riskiest[:TOP_FILES],
    )
    aside = findings.aside
    if aside.verdicts is None:
        return summary
    return summary._replace(
        by_status=_in_order(findings.statuses, STATUSES),
        at_risk=_in_order(findings.at_risk, WORST_FIRST),
        dismissed=aside.total_dismissed,
        dismissed_not_listed=aside.total_dismissed - len(findings.dismissed),
    )


def _remarked(remarks: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Separate the remarks on suppressions that suppress nothing from remarks on those that merely lack a reason."""
    unused, silent = list[SuppressionRemark](), list[SuppressionRemark]()
    for file, line, text, says in sorted(map(tuple, remarks)):
        if says == WITHOUT_REASON:
            silent.append(SuppressionRemark(file, line, text))
        else:
            unused.append(SuppressionRemark(file, line, text, says))
    return {
        "unused_suppressions": unused[:REMARKS_MAX],
        "suppressions_without_reason": silent[:REMARKS_MAX],
        "unused_suppressions_not_listed": max(0, len(unused) - REMARKS_MAX),
        "suppressions_without_reason_not_listed": max(0, len(silent) - REMARKS_MAX),
    }


def _compared(aside: Exclusions, baseline: Mapping[str, Any]) -> BaselineSummary:
    """Return the comparison with the baseline, without the field `fixed` if only part of the tree was scanned."""
    fixed = None if baseline.get("partial") else aside.gone
    return BaselineSummary(
        aside.in_baseline, fixed, {name: value for name, value in baseline.items() if name != "partial"}
    )


def _in_order(counts: Counter[str], order: Iterable[str]) -> dict[str, int]:
    return {name: counts[name] for name in order if counts[name]}


def _weigh(candidate: Candidate, severities: Severities, rated: str | None = None) -> tuple[str, float]:
    """Return severity and score; `rated` is the severity of a verdict."""
    severity = rated or candidate.severity_under(severities)
    return severity, score_of(candidate.confidence, severity)


def _issue(ids: _Ids, numbered: Numbered, severities: Severities, judged: bool | str | None = None) -> Issue:
    gid, candidate = numbered
    severity, score = _weigh(candidate, severities)
    return Issue(
        id=ids.of_finding(candidate),
        gid=gid,
        candidate=candidate._replace(column=candidate.column or None, trail=None),
        severity=severity,
        score=score,
        status="heuristic",
        fingerprint=candidate.fingerprint,
        root_cause=ids.of_root_cause(candidate),
        path=read_trail(candidate.trail) if candidate.trail else (),
        judged=judged,
        test_code=is_test(from_shown(candidate.file)),
    )


def _full_id(candidate: Candidate) -> str:
    own = f":{candidate.cwe}:{candidate.description}" if candidate.pattern in WITHOUT_RULE else ""
    key = f"{candidate.file}:{candidate.line}:{candidate.category}:{candidate.pattern}{own}"
    prefix = "R" if candidate.language == "rust" else "C"
    return prefix + sha1(key.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()


def _lengths(names: Iterable[str]) -> dict[str, int]:
    """Return, for each short id that several findings share, the length that makes their ids unique."""
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
