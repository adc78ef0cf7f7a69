"""What conversations shall show by execution: the question about a finding, and the investigation of a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Protocol

from jarvis_workers.agents.tools.tool import Tool, ToolFailed
from jarvis_workers.errors import StepFailed
from jarvis_workers.sec.assessment import Exposure, Verdict
from jarvis_workers.sec.finding import Numbered, defect_of
from jarvis_workers.sec.judge.investigation import BenchState, GivenCall, Investigation, bench_tool
from jarvis_workers.sec.judge.question import ClusterQuestion, VerificationQuestion, prepare
from jarvis_workers.sec.judge.question_text import ROLES
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.proof.attempts import AttemptLedger
from jarvis_workers.sec.proof.proof import Attempt, ProofTarget
from jarvis_workers.sec.proof.proving import ProofQuestion, verdict_text
from jarvis_workers.sec.proof.run_tool import AttemptResult, ProofAim, ProofRunner, run_proof_of
from jarvis_workers.sec.reading.hypotheses import GivenAttempt
from jarvis_workers.sec.stages.given_attempts import GIVEN_MAX
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.proof_selection import VerdictRating, can_have_proof, reason_without_proof
from jarvis_workers.sec.stages.proof_targets import recorder, target_of

ENTRIES = (b"LLVMFuzzerTestOneInput", b"main")


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


def opening_of(bench: AttemptBench, index: CodeIndex, file: str) -> Tool:
    """Return the tool that opens the bench of a conversation about a file."""
    return bench_tool(partial(bench_state, bench, index, file))


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
    if not (calls or any(can_have_proof(one, options) for those in members.values() for one in those)):
        return None
    targets = {number: tuple(target_of(one, question.index) for one in those) for number, those in members.items()}
    aims = {number: ProofAim(bench.runner_for(those[0]), those) for number, those in targets.items()}

    def needs_proof(number: int, verdict: Verdict) -> bool:
        rating = VerdictRating(verdict.severity, verdict.exposure)
        return any(not reason_without_proof(one, options, rating) for one in members[number])

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


class NoBench:
    """Takes the place of the bench in a dry run."""

    def runner_for(self, target: ProofTarget) -> "_NoRunner":
        return _NoRunner(target)

    def problem_of(self, target: ProofTarget) -> str:
        return f"a dry run builds nothing ({target.sink.file})"

    def targets(self) -> list[str] | None:
        return None


class _NoRunner:
    """Takes the place of the runner of proofs, since none is attempted before a model has been called."""

    def __init__(self, target: ProofTarget) -> None:
        self._file = target.sink.file

    def content(self, script: str) -> bytes:
        raise ToolFailed(f"no script runs in a dry run ({len(script)} characters)")

    def attempt(self, attempt: Attempt) -> AttemptResult:
        return AttemptResult(problem=f"a dry run makes no attempt ({attempt.way}, {self._file})")
