"""Prove confirmed findings that their verification has not tried to prove: the step of stage `prove`.

Such findings were confirmed by an escalation, or on a machine without a sandbox, or their conversation ended early.
Findings with the same sink are proved together.  A finding that cannot be proved stays confirmed, and the report says
why there is no proof.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sec.assessment import Exposure, Verdict
from jarvis_workers.sec.bench.proof_bench import ProofTree
from jarvis_workers.sec.finding import Candidate, Numbered, defect_of
from jarvis_workers.sec.judge.investigation import BenchState, GivenCall, Investigation, bench_tool
from jarvis_workers.sec.judge.question import ClusterQuestion, VerificationQuestion, prepare
from jarvis_workers.sec.judge.reading_tools import reading_tools
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.judge.verification import ROLES
from jarvis_workers.sec.proof.attempts import AttemptLedger
from jarvis_workers.sec.proof.crashes import Crash
from jarvis_workers.sec.proof.proof import Proof, ProofTarget
from jarvis_workers.sec.proof.proving import ProofQuestion, prover, verdict_text
from jarvis_workers.sec.proof.run_tool import ProofAim, ProofRunner, run_proof, run_proof_of
from jarvis_workers.sec.reading.hypotheses import GivenAttempt
from jarvis_workers.sec.severity import score_of
from jarvis_workers.sec.stages.candidates import some_of
from jarvis_workers.sec.stages.fuzz_record import commit_of_crashes
from jarvis_workers.sec.stages.given_attempts import GIVEN_MAX
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.payloads import CandidatesPayload
from jarvis_workers.sec.stages.proof_runner import BenchRunner, open_runner
from jarvis_workers.sec.stages.proof_selection import VerdictRating, may_be_asked, places_to_prove, why_not_asked
from jarvis_workers.sec.stages.proof_targets import recorder, target_of
from jarvis_workers.sec.stages.results import commit_of_proofs
from jarvis_workers.sec.stages.tree_index import index_of
from jarvis_workers.sec.store import proofs, verdicts
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import transcripts
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


STEP = "prove"
WEIGHT = 100
LABEL_LENGTH = 160
TEXTS = ("preconditions", "trigger_path", "consequences")
ENTRIES = (b"LLVMFuzzerTestOneInput", b"main")
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
        tried, statuses = proofs.tried(session, run.id), verdicts.statuses(session, run.id)
        confirmed = [gid for gid, status in statuses.items() if status == "confirmed" and gid not in tried]
        ratings = {gid: VerdictRating(*one) for gid, one in verdicts.ratings(session, run.id).items()}
        places = places_to_prove(some_of(session, run, confirmed), options, ratings)
    for (file, line), found in places.items():
        gids = tuple(gid for gid, _ in found)
        score = max(score_of(one.confidence, options.rules.severity.get(one.pattern)) for _, one in found)
        yield NewJob(
            STEP,
            AGENT_QUEUE,
            f"{file[-LABEL_LENGTH:]}:{line}",
            sha256(json.dumps(gids).encode()).hexdigest(),
            payload=CandidatesPayload(gids).to_json(),
            weight=round(WEIGHT * score),
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
    if runtime.tier == Tier.C:
        return _commit(work, [Proof("failed", reason=NO_SANDBOX)], runtime, blobs)
    root = await runtime.unpack(blobs, work.snapshot_id)
    with ExitStack() as resources:
        tree = await in_thread(proof_tree, root, work.snapshot_id, work.options, blobs)
        index = index_of(root)
        targets = [await in_thread(target_of, candidate, index) for _, candidate in work.numbered]
        try:
            runner = await in_thread(open_runner, runtime, tree, targets[0], resources)
        except StepFailed as error:
            return _commit(work, [Proof("failed", reason=str(error))], runtime, blobs)
        found, beside = await _prove(work, runtime, runner, targets, index)
        return await in_thread(_commit, work, found, runtime, blobs, beside)


async def _prove(
    work: ProveWork, runtime: AgentRuntime, runner: BenchRunner, targets: Sequence[ProofTarget], index: CodeIndex
) -> tuple[Sequence[Proof], Sequence[Crash]]:
    """Return the proof of each finding, and the errors beside them."""
    verdict = {name: getattr(work.verdict, name) for name in TEXTS}
    built = await in_thread(lambda: runner.built_targets)
    question = await asyncio.to_thread(question_of, work.numbered, verdict, work.options, index, built)
    tools = Toolbox([*reading_tools(index), run_proof(runner, *targets, crashes=recorder(index))])
    with runtime.open(work.job, work.options.group, question.about, work.lines) as talk:
        proving = prover(question, tools, talk.profiles[0], talk.marks, work.options.agent_limits)
        found = await talk.lead(proving.run(), proving.agent, {"about": question.about})
        if proving.stopped and is_caused_by_answers(proving.stopped):
            await talk.forget()
    return found, list(proving.ledger.crashes.values())


def question_of(
    numbered: Sequence[Numbered],
    verdict: Mapping[str, str],
    options: JudgeOptions,
    index: CodeIndex,
    built: Sequence[str] | None = None,
) -> ProofQuestion:
    """Return the question about findings at a place; `verdict` has the TEXTS of a verdict. This reads files.

    What a build command has `built` can be run, instead of the sources of programs and fuzz targets.
    """
    prepared = prepare(ClusterQuestion("", tuple(numbered[:1]), "en"), index)
    targets = "\n".join(entry_points(index, numbered[0][1].file) if built is None else built)
    return ProofQuestion(
        candidate=next(iter(prepared.texts.values())),
        verdict=verdict_text(verdict),
        parts=[(ROLES["en"][part.role], part.text("decided")) for part in prepared.code.parts],
        targets=targets,
        attempts=options.proof_attempts,
        built=options.proof_build is not None,
        findings=len(numbered),
    )


def entry_points(index: CodeIndex, file: str) -> list[str]:
    """Return the program and the fuzz target whose sources are nearest to a file."""
    entries = [index.definition(name, file) for name in ENTRIES]
    return [f"{found.path}#{place.name}" for found, place in filter(None, entries)]


def proof_tree(root: Path, snapshot_id: str, options: JudgeOptions, blobs: Blobs) -> ProofTree:
    """Return the tree of a run for a bench; reads the archive of the project."""
    archive = blobs.read(options.proof_archive) if options.proof_build and options.proof_archive else b""
    return ProofTree(root, snapshot_id, options.proof_build, archive)


def _commit(
    work: ProveWork, found: Sequence[Proof], runtime: AgentRuntime, blobs: Blobs, beside: Sequence[Crash] = ()
) -> Commit:
    """Save the proof of each finding; a single one is that of all."""
    each = found if len(found) > 1 else [*found] * len(work.numbered)
    gids = [gid for gid, _ in work.numbered]
    proved = commit_of_proofs(zip(gids, each, strict=True), runtime.tier, blobs)
    crashes = commit_of_crashes(beside, runtime.tier, blobs)
    return Commit(results=(*proved.results, *crashes.results), blobs=(*proved.blobs, *crashes.blobs))


# The investigation of a cluster: what attempts shall show of its candidates, and the bench on which they run.


class AttemptBench(Protocol):
    """A bench that is opened when it is needed."""

    def runner_for(self, target: ProofTarget) -> ProofRunner:
        """Return what runs attempts for a finding."""

    def problem_of(self, target: ProofTarget) -> str:
        """Open the bench, and return why nothing can be run for a finding, "" if it can."""

    def targets(self) -> list[str] | None:
        """Return what the build command has made; None without one."""


def bench_state(bench: AttemptBench, index: CodeIndex, file: str) -> BenchState:
    """Open the bench, and return the programs and fuzz targets, the nearest to a file without a build command."""
    try:
        made = bench.targets()
    except StepFailed as error:
        return BenchState({1: str(error)})
    return BenchState({}, "\n".join(entry_points(index, file) if made is None else made))


def investigation_of(
    question: VerificationQuestion,
    options: JudgeOptions,
    bench: AttemptBench,
    given: Mapping[int, Sequence[GivenAttempt]] = MappingProxyType({}),
) -> Investigation | None:
    """Return the attempts of the conversation about a cluster, None if no proof is asked for; reads files.

    `given` are the attempts of readers by gid.
    """
    members = {number: [one for _, one in those] for number, those in enumerate(question.cluster.defects, 1)}
    calls = _calls(question, given)
    if not (calls or any(may_be_asked(one, options) for those in members.values() for one in those)):
        return None
    targets = {number: tuple(target_of(one, question.index) for one in those) for number, those in members.items()}
    aims = {number: ProofAim(bench.runner_for(those[0]), those) for number, those in targets.items()}

    def needs_proof(number: int, verdict: Verdict) -> bool:
        rating = VerdictRating(verdict.severity, verdict.exposure)
        return any(not why_not_asked(one, options, rating) for one in members[number])

    def state() -> BenchState:
        problems = {number: bench.problem_of(those[0]) for number, those in targets.items()}
        blocked = {number: why for number, why in problems.items() if why}
        if len(blocked) == len(targets):
            return BenchState(blocked)
        return replace(bench_state(bench, question.index, members[1][0].file), blocked=blocked)

    return Investigation(
        AttemptLedger({number: len(those) for number, those in targets.items()}, options.proof_attempts),
        run_proof_of(aims, recorder(question.index)),
        bench_tool(state),
        needs_proof,
        given=calls,
        built=options.proof_build is not None,
        places={
            number: defect_of(those[0]).sink or (those[0].file, those[0].line) for number, those in members.items()
        },
    )


def _calls(question: VerificationQuestion, given: Mapping[int, Sequence[GivenAttempt]]) -> dict[int, list[GivenCall]]:
    """Return the attempts of readers, which are by gid, by the number of the candidate."""
    numbered = enumerate(question.cluster.defects, 1)
    calls = {number: [_call(one) for gid, _ in those for one in given.get(gid, ())] for number, those in numbered}
    return {number: those[:GIVEN_MAX] for number, those in calls.items() if those}


def _call(one: GivenAttempt) -> GivenCall:
    exposure: Exposure = "" if one.reach == "unknown" else one.reach
    return GivenCall(one.attempt.model_dump(mode="json", exclude={"candidate"}), exposure, one.severity)
