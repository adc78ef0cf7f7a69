"""Prove confirmed findings that their verification has not tried to prove: the step of stage `prove`.

Such findings were confirmed by an escalation, or on a machine without a sandbox, or their conversation ended early.
Findings with the same sink are proved together.  A finding that cannot be proved stays confirmed, and the report says
why there is no proof.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.finding import Candidate, Numbered
from jarvis_workers.sec.judge.reading_tools import reading_toolbox
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.proof.proving import prover
from jarvis_workers.sec.proof.run_tool import run_proof
from jarvis_workers.sec.stages.candidates import some_of
from jarvis_workers.sec.stages.fuzz_record import commit_of_attempts
from jarvis_workers.sec.stages.judge_options import PROVE_STAGE, JudgeOptions
from jarvis_workers.sec.stages.payloads import CandidatesPayload
from jarvis_workers.sec.stages.proof_questions import question_of
from jarvis_workers.sec.stages.proof_selection import untried_places
from jarvis_workers.sec.stages.proof_targets import recorder, target_of
from jarvis_workers.sec.stages.scanned_tree import ScannedTree, has_sandbox
from jarvis_workers.sec.store import verdicts
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import transcripts
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


WEIGHT = 100
LABEL_LENGTH = 160
TEXTS = ("preconditions", "trigger_path", "consequences")
NO_SANDBOX = "this machine has no sandbox to run a proof in"


@dataclass(frozen=True)
class ProveWork:
    """A confirmed finding to prove (`numbered` has those at the same place), and the transcript so far."""

    job: Claimed
    numbered: Sequence[Numbered]
    verdict: Verdict
    snapshot_id: str
    options: JudgeOptions
    lines: list[bytes]

    @property
    def candidate(self) -> Candidate:
        return self.numbered[0][1]


def plan_on(run: Run, _: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per place of confirmed findings that a sanitizer can show, and that were not tried before."""
    options = JudgeOptions.of(run)
    if not options.prove:
        return
    with earlier.read() as session:
        places = list(untried_places(session, run, options))
    for place in places:
        yield NewJob(
            PROVE_STAGE,
            AGENT_QUEUE,
            f"{place.file[-LABEL_LENGTH:]}:{place.line}",
            sha256(json.dumps(place.gids).encode()).hexdigest(),
            payload=CandidatesPayload(place.gids).to_json(),
            weight=round(WEIGHT * place.score),
        )


def load(session: "Session", run: Run, job: Claimed) -> ProveWork:
    """Return the findings of the job, with the first verdict."""
    gids = CandidatesPayload.from_json(job.payload).gids
    numbered = some_of(session, run, gids)
    found = verdicts.of_gids(session, run.id, gids[:1])
    if not numbered or not found:
        raise StepFailed(f"job {job.id}: its findings do not exist")
    lines = transcripts.lines(session, job.id)
    return ProveWork(job, numbered, found[0], run.snapshot_id, JudgeOptions.of(run), lines)


async def converse(work: ProveWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Prove a finding, or commit the reason why it is not proved."""
    if not has_sandbox(runtime):
        return _unproved(work, NO_SANDBOX, runtime, blobs)
    tree = await ScannedTree.unpack(runtime, blobs, work.snapshot_id, work.options)
    index = tree.index
    with ExitStack() as resources:
        targets = [await in_thread(target_of, candidate, index) for _, candidate in work.numbered]
        try:
            runner = await in_thread(tree.open_runner, targets[0], resources)
        except StepFailed as error:
            return _unproved(work, str(error), runtime, blobs)
        verdict = {name: getattr(work.verdict, name) for name in TEXTS}
        built = await in_thread(lambda: runner.built_targets)
        question = await asyncio.to_thread(question_of, work.numbered, verdict, work.options, index, built)
        tools = reading_toolbox(index, run_proof(runner, *targets, crashes=recorder(index)))
        with runtime.open(work.job, work.options.group, question.about, work.lines) as talk:
            proving = prover(question, tools, talk.profiles[0], talk.marks, work.options.agent_limits)
            found = await talk.lead(proving.run(), proving.agent, {"about": question.about})
            if proving.stopped and is_caused_by_answers(proving.stopped):
                await talk.forget()
        crashes = list(proving.ledger.crashes.values())
        return await in_thread(commit_of_attempts, _by_gid(work, found), crashes, runtime.tier, blobs)


def _unproved(work: ProveWork, reason: str, runtime: AgentRuntime, blobs: Blobs) -> Commit:
    return commit_of_attempts(_by_gid(work, [Proof("failed", reason=reason)]), (), runtime.tier, blobs)


def _by_gid(work: ProveWork, found: Sequence[Proof]) -> Iterator[tuple[int, Proof]]:
    """Return the proof of each finding; a single one is that of all."""
    each = found if len(found) > 1 else [*found] * len(work.numbered)
    return zip((gid for gid, _ in work.numbered), each, strict=True)
