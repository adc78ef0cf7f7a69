"""Select the candidates of a run to report: above the confidence threshold, neither suppressed nor judged false, and
not in its baseline.

In a run with learned rules, the confidence of a rule is adjusted by the triage verdicts on its earlier findings. This
module applies the adjustment when it reads candidates; the store has the confidence stated by the rules, or that which
follows from who else reports the defect.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from jarvis_workers.sec.alerts.agreement import confidence_of
from jarvis_workers.sec.finding import DISCOVERED, FOREIGN, FOUND_BY_MODEL, Candidate, Numbered
from jarvis_workers.sec.judge.triage_reasons import TriageReason, closest_reasons
from jarvis_workers.sec.report.exclusions import exclusions_of
from jarvis_workers.sec.same_defect import merged_alerts, merged_reports
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.pipelines import IMPORT
from jarvis_workers.sec.store import baselines, candidates, judgements
from jarvis_workers.sec.store.candidates import StoredCandidate
from jarvis_workers.sec.triage_states import TriageVerdict, moved_by
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

# The candidates among which those with a reason are searched.
NEAR_MAX = 5_000


def counted_of(session: "Session", run: Run) -> Iterator[Numbered]:
    """Yield the candidates that count, with their gids, in order."""
    least = SecOptions.of(run).min_confidence
    aside = exclusions_of(baseline_of(session, run), judged_of(session, run))
    return (
        (gid, candidate)
        for gid, candidate in aside.counted(all_of(session, run), least)
        if not candidate.is_weaker(least)
    )


def number_candidates(session: "Session", run: Run) -> None:
    """Assign gids to the candidates of a run, before the first stage that refers to candidates by gid.

    What other analyzers have found is merged with a candidate of a rule that counts, if it is the same defect, and with
    what another one has found. What a search has discovered is merged likewise.
    """
    reports = candidates.of_rule(session, run.id, DISCOVERED)
    alerts = candidates.of_rule(session, run.id, FOREIGN) if SecOptions.of(run).has_alerts else []
    for pattern, those in ((DISCOVERED, reports), (FOREIGN, alerts)):
        if those:
            candidates.merge(session, run.id, pattern, {})
    _number(session, run)
    _merge_alerts(session, run, alerts)
    if not reports:
        return
    there = candidates.numbered_in(session, run.id, {one.candidate.file for one in reports})
    counted = {gid for gid, _ in counted_of(session, run)}
    merge_reports(
        session,
        run,
        reports,
        (one for one in there if one.gid in counted and one.candidate.pattern not in FOUND_BY_MODEL),
    )


def _merge_alerts(session: "Session", run: Run, alerts: Sequence[StoredCandidate]) -> None:
    """Merge findings of other analyzers with those of rules that are the same defect, and with each other."""
    if not alerts:
        return
    there = candidates.numbered_in(session, run.id, {one.candidate.file for one in alerts})
    least, by_id = SecOptions.of(run).min_confidence, {one.id: one.candidate for one in there}
    # Also with what is suppressed, judged or known: its witnesses say nothing new.
    ours = [(row, one) for row, one in by_id.items() if FOREIGN not in one.pattern]
    theirs = [(row, one) for row, one in by_id.items() if FOREIGN in one.pattern and not one.is_weaker(least)]
    witnesses = defaultdict[int, list[int]](list)
    for row, into in merged_alerts(theirs, ours).items():
        witnesses[into].append(row)
    standing = {row: by_id[row] for row in [*witnesses, *(row for row, _ in theirs)]}
    confidences = {
        row: confidence_of(one, map(by_id.__getitem__, witnesses[row]), scanned=run.kind != IMPORT)
        for row, one in standing.items()
    }
    # A weak finding of ours that stays weak takes none along.
    merged = {row: into for into, those in witnesses.items() if confidences[into] >= least for row in those}
    candidates.merge(session, run.id, FOREIGN, merged)
    candidates.set_confidences(session, {row: new for row, new in confidences.items() if row not in merged})
    _number(session, run)


def merge_reports(
    session: "Session",
    run: Run,
    reports: Sequence[StoredCandidate],
    standing: Iterable[StoredCandidate],
    repeats: Mapping[int, int] = MappingProxyType({}),
) -> None:
    """Merge reports, all of one rule, with the standing candidates that are the same defect; number again.

    Of some it is known which candidates they repeat, by the ids of the rows.
    """
    others = (one for one in reports if one.id not in repeats)
    places = [[(one.id, one.candidate) for one in those] for those in (others, standing)]
    if reports:
        candidates.merge(session, run.id, reports[0].candidate.pattern, {**repeats, **merged_reports(*places)})
    _number(session, run)


def _number(session: "Session", run: Run) -> None:
    options = SecOptions.of(run)
    candidates.number(session, run.id, options.min_confidence, options.rules.learned)


def all_of(session: "Session", run: Run) -> Iterator[Numbered]:
    """Yield all candidates of a run with their gids, in order."""
    return _weighed(run, candidates.read(session, run.id))


def some_of(session: "Session", run: Run, gids: Collection[int]) -> list[tuple[int, Candidate]]:
    """Return the candidates with the given gids, in order."""
    return list(_weighed(run, candidates.of_gids(session, run.id, gids)))


def baseline_of(session: "Session", run: Run) -> dict[str, int] | None:
    """Return the number of baseline findings by fingerprint, or None if the run has no baseline."""
    return None if SecOptions.of(run).baseline is None else baselines.read(session, run.id)


def judged_of(session: "Session", run: Run) -> Mapping[str, TriageVerdict]:
    """Return the triage verdicts at the time of submission, by fingerprint."""
    return judgements.attached(session, run.id)


def reasons_for(session: "Session", run: Run, numbered: Collection[Numbered]) -> tuple[TriageReason, ...]:
    """Return people's reasons on findings of the run in the same files as these candidates, or of the same rules."""
    judged = judgements.with_reasons(session, run.id)
    if not judged:
        return ()
    files, rules = {one.file for _, one in numbered}, {one.pattern for _, one in numbered}
    near = candidates.near(session, run.id, files, rules, NEAR_MAX)
    return closest_reasons(_reasons_on(near, judged), files, rules)


def reasons_by_cluster(
    session: "Session", run: Run, clusters: Sequence[Collection[Numbered]]
) -> list[tuple[TriageReason, ...]]:
    """Return what `reasons_for` returns for each cluster, with one query for the candidates, not one for each."""
    judged = judgements.with_reasons(session, run.id)
    reasons = list(_reasons_on(candidates.every(session, run.id), judged)) if judged else []
    return [_closest(reasons, cluster) for cluster in clusters]


def _closest(reasons: Iterable[TriageReason], cluster: Collection[Numbered]) -> tuple[TriageReason, ...]:
    files, rules = {one.file for _, one in cluster}, {one.pattern for _, one in cluster}
    return closest_reasons((one for one in reasons if one.file in files or one.rule in rules), files, rules)


def _reasons_on(near: Iterable[Candidate], judged: Mapping[str, TriageVerdict]) -> Iterator[TriageReason]:
    for one in near:
        if judgement := judged.get(one.fingerprint):
            yield TriageReason(one.file, one.pattern, *judgement)


def _weighed(run: Run, numbered: Iterable[tuple[int, Candidate]]) -> Iterator[tuple[int, Candidate]]:
    learned = SecOptions.of(run).rules.learned
    for gid, candidate in numbered:
        moved = learned.get(candidate.pattern)
        yield gid, candidate if moved is None else candidate._replace(confidence=moved_by(candidate.confidence, moved))
