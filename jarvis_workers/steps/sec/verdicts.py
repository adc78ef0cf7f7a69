"""The verdicts of agents on the candidates of a run, for its report.

A candidate without a verdict is undecided, with a reason: its job failed, was cancelled, or was not reached.  A finding
whose proof was a job that failed or was cancelled is not proved, for that reason.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from jarvis_workers.pipeline.stages import stages_of
from jarvis_workers.sec.judge.canary import CANARY_GID
from jarvis_workers.sec.report.body import CONFIRMED, PROVED
from jarvis_workers.sec.report.verdict_index import VerdictIndex
from jarvis_workers.sec.report_document import CanaryOutcome, EscalationCount, Issue, IssueProof, IssueVerdict
from jarvis_workers.sec.report_json import quotes_from_json, scripts_from_json
from jarvis_workers.steps.sec.candidates import some_of
from jarvis_workers.steps.sec.cluster_file import STEP as CLUSTERING
from jarvis_workers.steps.sec.cluster_file import VERIFY
from jarvis_workers.steps.sec.judge_options import PROVE_STAGE, JudgeOptions
from jarvis_workers.steps.sec.payloads import CandidatesPayload
from jarvis_workers.steps.sec.proof_selection import VerdictRating, why_not_asked
from jarvis_workers.steps.sec.verify_seen import STEP as SEEN
from jarvis_workers.store import clusters, jobs, proofs, verdicts
from jarvis_workers.store.candidates import merged_texts
from jarvis_workers.store.values import NewProof, NewVerdict, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

CHUNK = 500
NOT_REACHED = "it was not verified before the run ended"
JUDGED_TRUE = "the model dismissed a finding that was marked true in triage"
NOT_CHOSEN = "not asked about: it is not among the {:,} highest-scoring candidates of rules (--max-findings)"
TEXTS = ("preconditions", "trigger_path", "consequences", "suggestions")


def has_verdicts(run: Run) -> bool:
    """Return whether a run includes verification by agents."""
    return any(stage.name == VERIFY for stage in stages_of(run.kind))


def verdicts_of(session: "Session", run: Run) -> VerdictIndex | None:
    """Return what is known of the verdicts on candidates; None for a run without verification."""
    if not has_verdicts(run):
        return None
    chosen, statuses = _candidates_of(run, _planned(session, run)), verdicts.statuses(session, run.id)
    proved = [gid for gid in proofs.proved(session, run.id) if statuses.get(gid) == CONFIRMED]
    statuses |= dict.fromkeys(proved, PROVED)
    return VerdictIndex(statuses, verdicts.severities(session, run.id), chosen)


def canary_of(session: "Session", run: Run) -> CanaryOutcome | None:
    """Return the verdict on the canary, or None if the run has none."""
    if not JudgeOptions.of(run).canary:
        return None
    verdict = verdict_fields_of(session, run, [CANARY_GID]).get(CANARY_GID) or no_verdict(NOT_REACHED)
    return CanaryOutcome(verdict.status, verdict.reason)


def escalation_of(session: "Session", run: Run) -> EscalationCount | None:
    """Return how many of the verified candidates were escalated, or None if the run escalates none."""
    if JudgeOptions.of(run).escalate is None:
        return None
    return EscalationCount(*verdicts.escalated(session, run.id, besides=CANARY_GID))


def with_verdicts(session: "Session", run: Run, issues: Iterable[Issue]) -> Iterator[Issue]:
    """Yield issues with their verdicts."""
    if not has_verdicts(run):
        yield from issues
        return
    about = _clusters(session, run)
    planned = _planned(session, run)
    reasons = dict(_reasons(planned)) | dict(_reasons(jobs.outcomes(session, run.id, VERIFY)))
    chosen, most = _candidates_of(run, planned), JudgeOptions.of(run).max_findings
    unproved = {
        gid: IssueProof("failed", reason=why) for gid, why in _reasons(jobs.outcomes(session, run.id, PROVE_STAGE))
    }
    reports, waiting = merged_texts(session, run.id), iter(issues)
    while chunk := list(islice(waiting, CHUNK)):
        verdicts_by_gid = verdict_fields_of(session, run, [issue.gid for issue in chunk])
        proofs_by_gid = proofs_of(session, run, [issue.gid for issue in chunk])
        not_asked = dict(_not_asked(session, run, verdicts_by_gid))
        for issue in chunk:
            gid = issue.gid
            number, verification = about.get(gid, (None, ""))
            verdict = verdicts_by_gid.get(gid)
            if verdict is None and chosen is not None and gid not in chosen:
                verdict = IssueVerdict("heuristic", reason=NOT_CHOSEN.format(most))
            verdict = verdict or no_verdict(reasons.get(gid, NOT_REACHED))
            if issue.judged is True and verdict.status == "dismissed":
                verdict = verdict._replace(status="review", reason=JUDGED_TRUE)
            judged = issue.with_verdict(verdict, verification, number)
            judged = judged._replace(also_reported=tuple(reports.get(gid, ())))
            proof = proofs_by_gid.get(gid) or unproved.get(gid) or not_asked.get(gid)
            yield judged.with_proof(proof) if proof and verdict.status == CONFIRMED else judged


def verdict_fields_of(session: "Session", run: Run, gids: Collection[int]) -> dict[int, IssueVerdict]:
    """Return the existing verdicts on candidates, by gid."""
    return {one.gid: _fields(one) for one in verdicts.of_gids(session, run.id, gids)}


def proofs_of(session: "Session", run: Run, gids: Collection[int]) -> dict[int, IssueProof]:
    """Return what came of the attempts to prove findings, by gid."""
    return {one.gid: _proof(one) for one in proofs.of_gids(session, run.id, gids)}


def _not_asked(session: "Session", run: Run, found: Mapping[int, IssueVerdict]) -> Iterator[tuple[int, IssueProof]]:
    """Yield the confirmed findings of which no proof is asked, in a run that proves findings."""
    options = JudgeOptions.of(run)
    confirmed = [gid for gid, verdict in found.items() if verdict.status == CONFIRMED] if options.prove else []
    for gid, candidate in some_of(session, run, confirmed):
        rating = VerdictRating(found[gid].verdict_severity, found[gid].exposure)
        if why := why_not_asked(candidate, options, rating):
            yield gid, IssueProof("failed", reason=why)


def _proof(row: NewProof) -> IssueProof:
    return IssueProof(
        state=row.state,
        kind=row.kind,
        attempts=row.attempts,
        command=row.command,
        output=row.output,
        stack=tuple(json.loads(row.stack)),
        reason=row.reason,
        sandbox=row.sandbox,
        blob=row.files,
    )


def no_verdict(reason: str) -> IssueVerdict:
    """Return the verdict fields of an issue without a verdict."""
    return IssueVerdict("undecided", reason=reason)


def _clusters(session: "Session", run: Run) -> dict[int, tuple[int, str]]:
    """Return the number and the condition of each candidate's cluster; clusters are numbered by their first gids."""
    numbered = enumerate(clusters.read(session, run.id), 1)
    return {gid: (number, cluster.verification) for number, cluster in numbered for gid in cluster.gids}


def _planned(session: "Session", run: Run) -> list[StageJob]:
    """Return the jobs that were planned for candidates, those for what models have seen last."""
    return [*jobs.outcomes(session, run.id, CLUSTERING), *jobs.outcomes(session, run.id, SEEN)]


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


def _fields(verdict: NewVerdict) -> IssueVerdict:
    return IssueVerdict(
        status=verdict.status,
        has_risk=verdict.has_risk,
        **{name: getattr(verdict, name) for name in TEXTS},
        quotes=quotes_from_json(json.loads(verdict.evidence)),
        reason=verdict.reason,
        commands=scripts_from_json(json.loads(verdict.commands)),
        analysis=verdict.analysis,
        exposure=verdict.exposure,
        verdict_severity=verdict.severity,
        verdict_confidence=verdict.confidence,
    )
