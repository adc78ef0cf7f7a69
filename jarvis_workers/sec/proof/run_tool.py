"""run_proof: the tool with which an agent builds and runs an attempt, and the report on it.

The outcome of a call is a JSON object, so that a conversation that resumes finds the proof in its transcript; the model
gets only its text.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

from jarvis_workers.agents.tools.tool import Tool, ToolFailed, ToolOutcome, typed
from jarvis_workers.sec.proof.attempt_arguments import RunProof, RunProofOf, attempt_of
from jarvis_workers.sec.proof.crashes import Crash, ErrorRoot
from jarvis_workers.sec.proof.judgement import judge
from jarvis_workers.sec.proof.proof import (
    FRAMES_SHOWN,
    HANG,
    KINDS,
    MEMORY_GROWTH,
    STACK_OVERFLOW,
    STOPPED_ANYWHERE,
    Attempt,
    Kind,
    Proof,
    ProofRun,
    ProofTarget,
)
from jarvis_workers.sec.proof.weaknesses import is_effect, is_named_by

RUN_PROOF = "run_proof"
DESCRIPTION = "Build an attempt to prove the finding, and run it twice with sanitizers, in a sandbox without network."
OUTPUT_SHOWN, OUTPUT_TITLE = 1_000, "The end of its output:"
RECORDED = "Reported as a finding of its own, so that nothing more need show it: {error}."
# Why an attempt of way `server` is refused; the finding says so, and it is no attempt.
NEEDS_TIER_A = "the way server needs sandbox tier A"
EFFECT = "the error would be an effect of this weakness, and may have another cause: the attempt is for another"


@dataclass(frozen=True)
class AttemptResult:
    """The runs of an attempt, or the `problem` because of which it was not run; `internal` is why it is no API use."""

    runs: tuple[ProofRun, ...] = ()
    problem: str = ""
    internal: str = ""


class ProofRunner(Protocol):
    """Builds and runs attempts."""

    def content(self, script: str) -> bytes:
        """Return what a Python script writes to its standard output. Raises ToolFailed."""

    def attempt(self, attempt: Attempt) -> AttemptResult:
        """Build an attempt and run it twice."""


class ProofAim(NamedTuple):
    """What attempts for a candidate shall show: the first of the `targets`; the `runner` builds and runs them."""

    runner: ProofRunner
    targets: tuple[ProofTarget, ...]


# Returns the errors that an attempt proves, as findings of their own.
CrashRecorder = Callable[[Attempt, AttemptResult], Sequence[Crash]]


def no_crashes(_: Attempt, __: AttemptResult) -> Sequence[Crash]:
    """Return none."""
    return ()


@dataclass(frozen=True)
class AttemptReport:
    """What is known after an attempt: the text for the model, whether it `ran`, and what it shows of each finding.

    Of the `proofs`, those with the state "failed" have only a reason. Of those that are `certain`, the error is at the
    very line of the finding, and the weakness itself. `crashes` are the errors, as findings of their own.
    """

    text: str
    ran: bool
    proofs: tuple[Proof, ...] = ()
    crashes: tuple[Crash, ...] = ()
    certain: tuple[bool, ...] = ()

    @property
    def proof(self) -> Proof | None:
        """The proof of the first finding, if it is one."""
        return self.proofs[0] if self.proofs and self.proofs[0].state != "failed" else None

    def to_text(self) -> str:
        """Return the report as JSON."""
        every = (*self.proofs, *(crash.proof for crash in self.crashes))
        attempt = next((one.attempt for one in every if one.attempt), None)
        proofs = [one._replace(attempt=None).to_json() for one in self.proofs]
        row = {"text": self.text, "ran": self.ran, "attempt": attempt and attempt.to_json(), "proofs": proofs}
        row |= {"crashes": [one.to_json() for one in self.crashes], "certain": self.certain}
        return json.dumps(row)

    @classmethod
    def from_text(cls, text: str) -> "AttemptReport":
        """Return the report that `to_text` wrote."""
        row: dict[str, Any] = json.loads(text)
        attempt = Attempt.from_json(row["attempt"]) if row["attempt"] else None
        proofs = [Proof.from_json(one) for one in row["proofs"]]
        shown = (one if one.state == "failed" else one._replace(attempt=attempt) for one in proofs)
        crashes = tuple(Crash.from_json(one, attempt) for one in row.get("crashes", ()))
        return cls(row["text"], row["ran"], tuple(shown), crashes, tuple(row.get("certain", ())))

    def recording(self, crashes: Sequence[Crash]) -> "AttemptReport":
        """Return the report with the errors; its text names those that show none of the findings."""
        shown = {ErrorRoot.of(one.stack) for one in self.proofs if one.state != "failed"}
        others = tuple(one for one in crashes if ErrorRoot.of(one.proof.stack) not in shown)
        titles = [RECORDED.format(error=one.proof.stack[0]) for one in others]
        return replace(self, text="\n\n".join([self.text, *titles]), crashes=tuple(crashes))


def run_proof(runner: ProofRunner, *targets: ProofTarget, crashes: CrashRecorder = no_crashes) -> Tool:
    """Return the tool for findings at a place, of which the first is in question; it keeps other errors, too."""

    def run(arguments: RunProof) -> ToolOutcome:
        attempt = attempt_of(arguments, runner.content)
        result = runner.attempt(attempt)
        report = report_on(attempt, result, *targets)
        return ToolOutcome(stdout=report.recording(crashes(attempt, result)).to_text())

    return typed(RunProof, run, name=RUN_PROOF, description=DESCRIPTION, brings_foreign=True)


def run_proof_of(aims: Mapping[int, ProofAim], crashes: CrashRecorder = no_crashes) -> Tool:
    """Return the tool for candidates by number; an answer may have an attempt for each of several."""
    if len(aims) == 1:
        ((runner, targets),) = aims.values()
        return run_proof(runner, *targets, crashes=crashes)

    def run(arguments: RunProofOf) -> ToolOutcome:
        number = arguments.candidate
        if number not in aims:
            raise ToolFailed(f"there is no candidate {number}; there are: {', '.join(map(str, aims))}")
        attempt = attempt_of(arguments, aims[number].runner.content)
        result = aims[number].runner.attempt(attempt)
        report = report_for(number, attempt, result, aims)
        return ToolOutcome(stdout=report.recording(crashes(attempt, result)).to_text())

    about: dict[str, Any] = {"name": RUN_PROOF, "description": DESCRIPTION, "brings_foreign": True}
    return typed(RunProofOf, run, **about, reads_only=True)


def report_on(attempt: Attempt, result: AttemptResult, *targets: ProofTarget) -> AttemptReport:
    """Judge the runs of an attempt, for each finding by itself."""
    return _report([_Shown.of(attempt, result, target) for target in targets], 0, result)


def report_for(number: int, attempt: Attempt, result: AttemptResult, aims: Mapping[int, ProofAim]) -> AttemptReport:
    """Judge the runs of an attempt to show a candidate, for each finding of all candidates by itself.

    An error at the very line of a candidate that it fits is that of this candidate. It would also be near enough to
    show others in the same function. One at no such line can only show the candidate that the attempt was made for,
    and others at its place. A wrong number or a race shows itself by other errors only if the attempt was made for it.
    """
    shown = {one: [_Shown.of(attempt, result, target) for target in aim.targets] for one, aim in aims.items()}
    owners = [one for one, those in shown.items() if any(each.is_at_sink for each in those)]
    why = f"the error is that of candidate {', '.join(map(str, owners))}" if owners else "the attempt is for another"
    here = [one for one, aim in aims.items() if aim.targets[0].sink == aims[number].targets[0].sink]
    for one in shown.keys() - set(owners or here):
        shown[one] = [each.elsewhere(why) for each in shown[one]]
    for one in shown.keys() - {number}:
        shown[one] = [each.elsewhere(EFFECT) if each.is_effect else each for each in shown[one]]
    first = sum(len(those) for one, those in shown.items() if one < number)
    return _report([each for one in aims for each in shown[one]], first, result)


class _Shown(NamedTuple):
    """What an attempt shows of a finding, and whether its error is at the very line of the finding, or its effect.

    If it `is_certain`, it needs nobody to say that it is this finding.
    """

    proof: Proof
    is_at_sink: bool = False
    is_effect: bool = False
    is_certain: bool = False

    @classmethod
    def of(cls, attempt: Attempt, result: AttemptResult, target: ProofTarget) -> "_Shown":
        """Judge the runs of an attempt for a finding."""
        judgement = judge(result.runs, target) if result.runs else None
        error = judgement.error if judgement else None
        if judgement is None or error is None:
            return cls(Proof("failed", reason=judgement.reason if judgement else result.problem))
        internal = result.internal or judgement.internal
        if attempt.way == "harness" and internal and error.name in (HANG, MEMORY_GROWTH):
            what = "not end, since its calls are not timed" if error.name == HANG else "hold the memory"
            why = f"the harness itself may {what}: {internal}"
            return cls(Proof("failed", reason=why))
        kind: Kind = "api" if attempt.way == "harness" else attempt.way
        kind = "internal" if attempt.way == "harness" and internal else kind
        proof = Proof(
            "reproduced" if internal else KINDS[kind],
            kind,
            command=attempt.command,
            attempt=attempt,
            output=result.runs[0].output,
            stack=error.lines(),
            reason="; ".join(filter(None, (internal, judgement.moved))),
        )
        failing = next((frame for frame in error.stack if frame.owner != "system"), None)
        is_at_sink = failing is not None and (failing.file, failing.line) == target.sink
        is_there = is_at_sink or error.name in STOPPED_ANYWHERE
        is_certain = is_there and is_named_by(error.name, target.cwe)
        is_at_sink = is_at_sink and error.name not in STOPPED_ANYWHERE
        return cls(proof, is_at_sink, is_effect(error.name, target.cwe), is_certain)

    def elsewhere(self, why: str) -> "_Shown":
        """Return the same for a finding that the error does not show."""
        return self if self.proof.state == "failed" else _Shown(Proof("failed", reason=why))


def _report(shown: Sequence[_Shown], first: int, result: AttemptResult) -> AttemptReport:
    """Return the report whose text is about the finding at the place `first`."""
    if result.problem:
        return AttemptReport(f"It was not run: {result.problem}", ran=False)
    proofs = tuple(one.proof for one in shown)
    proof, certain = proofs[first], tuple(one.is_certain for one in shown)
    text = f"It reproduces the finding, but does not prove it: {proof.reason}. Try the program, or the public API."
    if proof.state == "proved":
        text = "It proves the finding."
    elif proof.state == "failed":
        text = _failure_text(proof.reason, result.runs[0])
    return AttemptReport(text, ran=True, proofs=proofs, certain=certain)


def _failure_text(reason: str, run: ProofRun) -> str:
    """Return the text on an attempt that proves nothing."""
    lines = [f"It was run, and is no proof: {reason}."]
    for error in run.errors[:3]:
        lines += ["", *error.lines()[: FRAMES_SHOWN + 1]]
    if run.output.strip():
        lines += ["", OUTPUT_TITLE, run.output[-OUTPUT_SHOWN:]]
    return "\n".join(lines)


# Compare the runs of a stored proof, on another version of the tree, with the error that was found before.

LINE = re.compile(r":\d+$")

Outcome = Literal["fires", "other_error", "silent", "unclear", "not_run"]


class Repetition(NamedTuple):
    """The outcome, the reason for it if no error was reported, and the error that was reported."""

    outcome: Outcome
    reason: str = ""
    stack: tuple[str, ...] = ()


def compare(result: AttemptResult, stack: Sequence[str]) -> Repetition:
    """Return whether the runs end with the same error; line numbers may differ, since the tree may have changed."""
    if result.problem:
        return Repetition("not_run", result.problem)
    found = [error.lines() for error in result.runs[0].errors]
    again = [error.lines() for run in result.runs[1:] for error in run.errors]
    same = next((lines for lines in found if _is_same(lines, stack)), None)
    if same and (not result.runs[1:] or any(_is_same(lines, stack) for lines in again)):
        return Repetition("fires", stack=same)
    if errors := found or again:
        return Repetition("other_error", stack=errors[-1])
    if unclear := next((run for run in result.runs if run.is_unclear), None):
        return Repetition("unclear", f"the run {unclear.ended}")
    return Repetition("silent", f"the run {result.runs[0].ended}")


def _is_same(lines: Sequence[str], stack: Sequence[str]) -> bool:
    if [*lines[:1], *stack[:1]] == [HANG, HANG]:  # what the loop calls when it is stopped, differs
        return _functions(lines)[-len(stack) + 1 :] == _functions(stack)
    if [*lines[:1], *stack[:1]] == [STACK_OVERFLOW, STACK_OVERFLOW]:  # so does where the stack ends
        return set(_functions(stack)) <= set(_functions(lines))
    return error_key(lines) == error_key(stack)


def _functions(lines: Sequence[str]) -> list[str]:
    """Return the functions of a stack without their numbers."""
    return [LINE.sub("", line.partition(" ")[2]) for line in lines[1:]]


def error_key(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the kind of an error, and the functions of its stack."""
    name = lines[0].partition(" ")[0] if lines else ""
    return (name, *(LINE.sub("", line) for line in lines[1:] if line.startswith("#")))
