"""The verdicts of agents on the candidates of a run, for its report.

A candidate without a verdict is undecided, with a reason: its job failed, was cancelled, or was not reached.  A finding
whose proof was a job that failed or was cancelled is not proved, for that reason.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from jarvis_workers.pipeline.stages import stages_of
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.judge.canary import CANARY_GID
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.body import CONFIRMED, PROVED
from jarvis_workers.sec.report.verdict_index import VerdictIndex
from jarvis_workers.sec.report_document import CanaryOutcome, EscalationCount, Issue, Witness
from jarvis_workers.sec.stages.candidates import some_of
from jarvis_workers.sec.stages.judge_options import CLUSTER_STAGE, PROVE_STAGE, SEEN_STAGE, VERIFY_STAGE, JudgeOptions
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.payloads import CandidatesPayload
from jarvis_workers.sec.stages.pipelines import IMPORT
from jarvis_workers.sec.stages.proof_selection import VerdictRating, reason_without_proof
from jarvis_workers.sec.store import clusters, proofs, verdicts
from jarvis_workers.sec.store.candidates import merged_texts, witnesses
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

CHUNK = 500
NOT_REACHED = "it was not verified before the run ended"
JUDGED_TRUE = "the model dismissed a finding that was marked true in triage"
OBEYS_TEXT = (
    "it was dismissed; in this run the model did not confirm a known bug whose names and texts ask to dismiss it"
)
NOT_CHOSEN = "not asked about: it is not among the {:,} highest-scoring candidates of rules (--max-findings)"


def has_verdicts(run: Run) -> bool:
    """Return whether a run includes verification by agents."""
    return any(stage.name == VERIFY_STAGE for stage in stages_of(run.kind))


def can_be_fixed(run: Run) -> bool:
    """Return whether findings of a run can be fixed: those with verdicts, and those that a user has imported."""
    return has_verdicts(run) or run.kind == IMPORT


def verdicts_of(session: "Session", run: Run) -> VerdictIndex | None:
    """Return what is known of the verdicts on candidates; None for a run without verification."""
    if not has_verdicts(run):
        return None
    chosen, statuses = _candidates_of(run, _planned(session, run)), verdicts.statuses(session, run.id)
    proved = [gid for gid in proofs.proved(session, run.id) if statuses.get(gid) == CONFIRMED]
    statuses |= dict.fromkeys(proved, PROVED)
    return VerdictIndex(counted_statuses(session, run, statuses), verdicts.severities(session, run.id), chosen)


def canary_of(session: "Session", run: Run) -> CanaryOutcome | None:
    """Return the verdict on the canary, or None if the run has none: it judges nothing, or had nothing to judge."""
    if not has_verdicts(run) or not JudgeOptions.of(run).canary:
        return None
    verdict = verdicts_by_gid(session, run, [CANARY_GID]).get(CANARY_GID)
    if verdict is None and not jobs.outcomes(session, run.id, VERIFY_STAGE):
        return None
    verdict = verdict or no_verdict(CANARY_GID, NOT_REACHED)
    return CanaryOutcome(verdict.status, verdict.reason)


def may_dismiss(session: "Session", run: Run) -> bool:
    """Return whether dismissals count: not those of a model that has obeyed the words of a known bug."""
    canary = canary_of(session, run)
    return canary is None or canary.status not in ("dismissed", "review")


def counted_verdict(verdict: Verdict, believed: bool) -> Verdict:
    """Return a verdict as it counts in its run, whose dismissals are `believed` or not."""
    return verdict if believed or verdict.status != "dismissed" else verdict.for_review(OBEYS_TEXT)


def counted_statuses(session: "Session", run: Run, statuses: Mapping[int, str]) -> dict[int, str]:
    """Return the statuses of verdicts as they count in their run."""
    if may_dismiss(session, run):
        return dict(statuses)
    return {gid: "review" if status == "dismissed" else status for gid, status in statuses.items()}


def escalation_of(session: "Session", run: Run) -> EscalationCount | None:
    """Return how many of the verified candidates were escalated, or None if the run escalates none."""
    if JudgeOptions.of(run).escalate is None:
        return None
    return EscalationCount(*verdicts.escalated(session, run.id, besides=CANARY_GID))


def witnesses_of(session: "Session", run: Run) -> dict[int, tuple[Witness, ...]]:
    """Return by gid what other analyzers say of the same defect."""
    there = witnesses(session, run.id) if SecOptions.of(run).has_alerts else {}
    return {
        gid: tuple(Witness(one.pattern, one.line, one.description) for one in those) for gid, those in there.items()
    }


def with_verdicts(session: "Session", run: Run, issues: Iterable[Issue]) -> Iterator[Issue]:
    """Yield issues with their verdicts."""
    theirs = witnesses_of(session, run)
    issues = (issue._replace(witnesses=theirs.get(issue.gid, ())) for issue in issues)
    if not has_verdicts(run):
        yield from issues
        return
    about = _clusters(session, run)
    planned = _planned(session, run)
    reasons = dict(_reasons(planned)) | dict(_reasons(jobs.outcomes(session, run.id, VERIFY_STAGE)))
    chosen, most = _candidates_of(run, planned), JudgeOptions.of(run).max_findings
    unproved = {gid: Proof("failed", reason=why) for gid, why in _reasons(jobs.outcomes(session, run.id, PROVE_STAGE))}
    reports, waiting = merged_texts(session, run.id, models_only=True), iter(issues)
    believed = may_dismiss(session, run)
    while chunk := list(islice(waiting, CHUNK)):
        gids = [issue.gid for issue in chunk]
        judged_by_gid, proofs_by_gid = verdicts_by_gid(session, run, gids), proofs.of_gids(session, run.id, gids)
        without_proof = dict(_without_proof(session, run, judged_by_gid))
        for issue in chunk:
            gid = issue.gid
            number, verification = about.get(gid, (None, ""))
            verdict = judged_by_gid.get(gid)
            if verdict is None and chosen is not None and gid not in chosen:
                verdict = Verdict(gid, "heuristic", reason=NOT_CHOSEN.format(most))
            verdict = verdict or no_verdict(gid, reasons.get(gid, NOT_REACHED))
            if issue.judged is True and verdict.status == "dismissed":
                verdict = verdict.for_review(JUDGED_TRUE)
            verdict = counted_verdict(verdict, believed)
            judged = issue.with_verdict(verdict, verification, number)
            judged = judged._replace(also_reported=tuple(reports.get(gid, ())))
            proof = proofs_by_gid.get(gid) or unproved.get(gid) or without_proof.get(gid)
            yield judged.with_proof(proof) if proof and verdict.status == CONFIRMED else judged


def verdicts_by_gid(session: "Session", run: Run, gids: Collection[int]) -> dict[int, Verdict]:
    """Return the existing verdicts on candidates, by gid."""
    return {one.gid: one for one in verdicts.of_gids(session, run.id, gids)}


def _without_proof(session: "Session", run: Run, found: Mapping[int, Verdict]) -> Iterator[tuple[int, Proof]]:
    """Yield the confirmed findings of which no proof is asked, in a run that proves findings."""
    options = JudgeOptions.of(run)
    confirmed = [gid for gid, verdict in found.items() if verdict.status == CONFIRMED] if options.prove else []
    for gid, candidate in some_of(session, run, confirmed):
        rating = VerdictRating(found[gid].severity, found[gid].exposure)
        if why := reason_without_proof(candidate, options, rating):
            yield gid, Proof("failed", reason=why)


def no_verdict(gid: int, reason: str) -> Verdict:
    """Return the verdict on a candidate that has none."""
    return Verdict(gid, "undecided", reason=reason)


def _clusters(session: "Session", run: Run) -> dict[int, tuple[int, str]]:
    """Return the number and the condition of each candidate's cluster; clusters are numbered by their first gids."""
    numbered = enumerate(clusters.read(session, run.id), 1)
    return {gid: (number, cluster.verification) for number, cluster in numbered for gid in cluster.gids}


def _planned(session: "Session", run: Run) -> list[StageJob]:
    """Return the jobs that were planned for candidates, those for what models have seen last."""
    return [*jobs.outcomes(session, run.id, CLUSTER_STAGE), *jobs.outcomes(session, run.id, SEEN_STAGE)]


def _candidates_of(run: Run, planned: Sequence[StageJob]) -> frozenset[int] | None:
    """Return the candidates that a model is asked about, as soon as they are chosen; None for all of them."""
    if JudgeOptions.of(run).max_findings is None or not planned:
        return None
    return frozenset(gid for job in planned for gid in _gids(job))


def _gids(job: StageJob) -> Sequence[int]:
    return CandidatesPayload.from_json(job.payload).gids


def _reasons(outcomes: Sequence[StageJob]) -> Iterator[tuple[int, str]]:
    for job in outcomes:
        why = {"failed": f"its job failed: {job.reason}", "cancelled": "its job was cancelled"}.get(job.state)
        if why:
            yield from ((gid, why) for gid in _gids(job))
