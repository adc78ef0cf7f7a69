"""Verify what models have seen beside the candidates that they were asked about: the step of stage `verify_seen`.

What is the same defect as a finding that stays in the report is merged with it.  Each of the others is a candidate of
its own: the first MOST are verified once, the others are undecided for that reason.  What is seen on this occasion is
listed and not followed up.
"""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.finding import FOUND_BY_MODEL, SEEN_BY_MODEL
from jarvis_workers.sec.judge.clustering import CLAIM
from jarvis_workers.sec.report.body import AT_RISK
from jarvis_workers.sec.stages import verify_cluster
from jarvis_workers.sec.stages.candidates import counted_of, merge_reports
from jarvis_workers.sec.stages.judge_options import SEEN_STAGE
from jarvis_workers.sec.stages.payloads import SeenPayload
from jarvis_workers.sec.stages.results import VerdictResult
from jarvis_workers.sec.stages.unverified import undecided
from jarvis_workers.sec.stages.verify_cluster import VerifyWork
from jarvis_workers.sec.store import candidates, verdicts
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

# Of one run: enough for what is seen by chance, and no second scan by models.
MOST = 100
LABEL_LENGTH = 160
NOT_ASKED = f"not asked about: a run verifies at most {MOST} of the defects that models see beside their candidates"


def number_seen(session: "Session", run: Run) -> None:
    """Merge what models have seen with the findings that repeat it, and number the others after all candidates."""
    candidates.merge(session, run.id, SEEN_BY_MODEL, {})
    seen, statuses = candidates.of_rule(session, run.id, SEEN_BY_MODEL), verdicts.statuses(session, run.id)
    there = candidates.numbered_in(session, run.id, {one.candidate.file for one in seen})
    standing = [
        one for one in there if one.candidate.pattern != SEEN_BY_MODEL and statuses.get(one.gid or 0) in AT_RISK
    ]
    merge_reports(session, run, seen, standing)


def plan_on(run: Run, _: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job for each of the first MOST candidates, and one that says of the others that none is asked."""
    with earlier.read() as session:
        seen = [(gid, one) for gid, one in counted_of(session, run) if one.pattern == SEEN_BY_MODEL]
    for gid, candidate in seen[:MOST]:
        label = f"{candidate.file[-LABEL_LENGTH:]}:{candidate.line}"
        yield _job(label, SeenPayload((gid,), CLAIM))
    if others := tuple(gid for gid, _ in seen[MOST:]):
        yield _job(f"{len(others)} more than {MOST}", SeenPayload(others, CLAIM, is_asked=False))


def load(session: "Session", run: Run, job: Claimed) -> VerifyWork:
    """Return the candidates of the job, and what need not be listed if the model sees it."""
    work = verify_cluster.load(session, run, job)
    if not _needs_model(work):
        return work
    at_risk = [gid for gid, status in verdicts.statuses(session, run.id).items() if status in AT_RISK]
    reported = [one for _, one in candidates.of_gids(session, run.id, at_risk)]
    reported += [one.candidate for rule in sorted(FOUND_BY_MODEL) for one in candidates.of_rule(session, run.id, rule)]
    return replace(work, reported=tuple(reported))


async def converse(work: VerifyWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Verify the candidate; of those that no model is asked about, commit that they are undecided."""
    if _needs_model(work):
        return await verify_cluster.converse(work, blobs, runtime)
    unasked = [Verdict(gid, "undecided", reason=NOT_ASKED) for gid, _ in work.cluster.candidates]
    result = VerdictResult(tuple(one._replace(sandbox=runtime.tier) for one in unasked))
    return Commit(not_checked=tuple(undecided(work.cluster, unasked)), results=(result,))


def _needs_model(work: VerifyWork) -> bool:
    return SeenPayload.from_json(work.job.payload).is_asked


def _job(label: str, payload: SeenPayload) -> NewJob:
    content = payload.to_json()
    return NewJob(SEEN_STAGE, AGENT_QUEUE, label, sha256(content.encode()).hexdigest(), payload=content)
