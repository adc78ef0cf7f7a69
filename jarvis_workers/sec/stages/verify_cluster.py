"""Verify the candidates of one cluster, and prove what is a risk: the step of stage `verify`.

A candidate that stays undecided is not a failure of its job: it is reported as not checked, with the reason.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.errors import StepFailed
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.canary import CANARY_GID, Canary, canary_for
from jarvis_workers.sec.judge.question import ClusterQuestion, prepare
from jarvis_workers.sec.judge.reading_tools import reading_toolbox
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.judge.verification import Verification
from jarvis_workers.sec.stages.candidates import reasons_for, some_of
from jarvis_workers.sec.stages.fuzz_record import commit_of_attempts
from jarvis_workers.sec.stages.given_attempts import given_for
from jarvis_workers.sec.stages.judge_options import VERIFY_STAGE, JudgeOptions
from jarvis_workers.sec.stages.payloads import VerifyPayload
from jarvis_workers.sec.stages.proof_questions import investigation_of
from jarvis_workers.sec.stages.results import VerdictResult
from jarvis_workers.sec.stages.scanned_tree import ScannedTree, has_sandbox
from jarvis_workers.sec.stages.unverified import seen_results, unasked, undecided
from jarvis_workers.sec.store import candidates
from jarvis_workers.sec.store.candidates import NamedBy
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import transcripts
from jarvis_workers.store.values import Claimed, Commit, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


@dataclass(frozen=True)
class VerifyWork:
    """The candidates to verify, and the transcript of the conversation so far.

    `named` says who has named them, in a run that proves.
    """

    job: Claimed
    cluster: ClusterQuestion
    snapshot_id: str
    options: JudgeOptions
    lines: list[bytes]
    canary: Canary | None = None
    reported: tuple[Candidate, ...] = ()
    named: tuple[NamedBy, ...] = ()

    @property
    def follows_up(self) -> bool:
        """Whether what is seen beside the candidates becomes a candidate; else it is listed, if not `reported`."""
        return self.job.stage == VERIFY_STAGE


def load(session: "Session", run: Run, job: Claimed) -> VerifyWork:
    """Return the candidates of the job."""
    payload, options = VerifyPayload.from_json(job.payload), JudgeOptions.of(run)
    canary = canary_for(run.snapshot_id) if payload.gids == (CANARY_GID,) else None
    result = [(CANARY_GID, canary.candidate)] if canary else some_of(session, run, payload.gids)
    if len(result) != len(set(payload.gids)):
        raise StepFailed(f"job {job.id}: only {len(result)} of its {len(payload.gids)} candidates exist")
    cluster = ClusterQuestion(
        payload.verification,
        tuple(result),
        options.lang,
        votes=options.votes,
        second_look=options.second_look,
        escalates=options.escalate is not None,
        severities=options.rules.severity,
        notes=options.notes,
        reasons=() if canary else reasons_for(session, run, result),
        reports=_reports(session, run, payload.gids),
    )
    named = tuple(candidates.named_by(session, run.id, payload.gids)) if options.prove and not canary else ()
    return VerifyWork(job, cluster, run.snapshot_id, options, transcripts.lines(session, job.id), canary, named=named)


def _reports(session: "Session", run: Run, gids: Collection[int]) -> Mapping[int, Sequence[str]]:
    """Return what models have reported of the same defects."""
    texts = candidates.merged_texts(session, run.id)
    return {gid: texts[gid] for gid in gids if gid in texts}


async def converse(work: VerifyWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Run the conversations of a cluster; commit a verdict on each of its candidates."""
    tree = await ScannedTree.unpack(runtime, blobs, work.snapshot_id, work.options)
    index = CodeIndex(work.canary) if work.canary else tree.index
    prepared = await asyncio.to_thread(prepare, work.cluster, index)
    about, options = prepared.about, work.options
    groups = options.second_group, options.escalate
    with ExitStack() as resources, runtime.open(work.job, options.group, about, work.lines, *groups) as talk:
        scripts = [] if work.canary else talk.scripts(tree.root)
        tools = reading_toolbox(index, *scripts)
        bench = tree.lazy_bench(resources)
        runs = options.prove and not work.canary and has_sandbox(runtime)
        given = await in_thread(given_for, work.named, blobs) if runs else {}
        investigation = await in_thread(investigation_of, prepared, options, bench, given) if runs else None
        verification = Verification(
            prepared,
            tools,
            profiles=talk.profiles,
            marks=talk.marks,
            limits=options.agent_limits,
            investigation=investigation,
        )
        verdicts = await talk.lead(verification.run(), verification.agent, {"about": about}, verification.hidden)
        if any(map(is_caused_by_answers, verification.stopped)):
            await talk.forget()
        result = VerdictResult(tuple(verdict._replace(sandbox=runtime.tier) for verdict in verdicts))
        if work.canary:
            return Commit(results=(result,))
        others = unasked(verification, work.reported, follows_up=work.follows_up)
        gaps = (*undecided(work.cluster, verdicts), *others)
        proofs = list(investigation.proofs(work.cluster.defects, verdicts)) if investigation else []
        beside = list(investigation.ledger.crashes.values()) if investigation else []
        shown = await in_thread(commit_of_attempts, proofs, beside, runtime.tier, blobs)
        seen = seen_results(verification) if work.follows_up else ()
        return Commit(not_checked=gaps, results=(result, *seen, *shown.results), blobs=shown.blobs)
