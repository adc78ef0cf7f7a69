"""Fuzz a target on a bench, and judge what is found there like any proof: this blocks, and asks no model.

An input counts if two runs of it, in sandboxes of their own, end with the same error in code of the tree.  It is
minimised, and proves the confirmed findings that the error fits; otherwise it is a finding of its own.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Self

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import plain
from jarvis_workers.sec.bench.fuzz_bench import FuzzedInputs, FuzzPlan, build_fuzzer, fuzz, has_libfuzzer
from jarvis_workers.sec.bench.proof_bench import ProofBench
from jarvis_workers.sec.finding import Numbered
from jarvis_workers.sec.fuzzing_outcome import FuzzedTarget
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.proof.crashes import ErrorRoot
from jarvis_workers.sec.proof.minimisation import Minimisation
from jarvis_workers.sec.proof.proof import (
    HANG,
    INPUT,
    STDIN,
    Attempt,
    Proof,
    ProofFile,
    ProofTarget,
    SanitizerError,
    TreeLine,
    Way,
)
from jarvis_workers.sec.proof.run_tool import AttemptResult, compare
from jarvis_workers.sec.stages.fuzz_record import CrashRecord, FuzzRecord
from jarvis_workers.sec.stages.payloads import FuzzPayload
from jarvis_workers.sec.stages.proof_runner import BenchRunner, open_bench
from jarvis_workers.sec.stages.proof_targets import crash_of, errors_by_root, proof_of_root, target_of
from jarvis_workers.sec.stages.results import stored_proof
from jarvis_workers.snapshots.blobs import Blobs

# Each is linked twice and run up to this often.
MINIMISING_RUNS = 60
CRASHES_MAX = 10
# The rest of the time is for mutations, with a process for each: libFuzzer ends at each error and each endless loop, so
# that it gets nowhere in code with many, and it goes on after what UndefinedBehaviorSanitizer reports.
LIBFUZZER_SHARE = 2 / 3
WITH_FUZZING = "with an input that fuzzing made"
BY_FUZZING = "Fuzzing of {target} made an input that gets here: {command}"
# A program is called in so many ways, which share its time.
WAYS_MAX = 2
UNLISTED = "not listed, errors: {count} ({reason})"
SILENT = "not listed, inputs at which no sanitizer stops a run by itself: {count}"
TOO_MANY = f"beyond the first {CRASHES_MAX}"


@dataclass(frozen=True)
class KnownFindings:
    """The confirmed findings without a proof, with the places where an error must lie, and the proofs of others."""

    unproved: Mapping[int, ProofTarget]
    proved: frozenset[ErrorRoot]

    @classmethod
    def of(cls, unproved: Iterable[Numbered], found: Iterable[Proof], index: CodeIndex) -> Self:
        """Return those of a run; reads files."""
        targets = {gid: target_of(candidate, index) for gid, candidate in unproved}
        stacks = (proof.stack for proof in found if proof.state == "proved")
        return cls(targets, frozenset(map(ErrorRoot.of, stacks)))


@dataclass
class TargetFuzzing:
    """The fuzzing of a target with the seeds of the tree's tests, on an open bench."""

    bench: ProofBench
    runtime: AgentRuntime
    blobs: Blobs
    payload: FuzzPayload
    seeds: tuple[bytes, ...]
    index: CodeIndex
    findings: KnownFindings
    crashes: list[CrashRecord] = field(default_factory=list)
    _settled: set[ErrorRoot] = field(default_factory=set)
    _unlisted: dict[ErrorRoot, str] = field(default_factory=dict)
    _silent: int = 0

    def run(self) -> FuzzRecord:
        """Fuzz, and judge. Raises HostExhausted."""
        attempts = [Attempt.from_json(json.loads(self.blobs.read(one))) for one in self.payload.attempts]
        plans = list(plans_of(self.payload, attempts, self.seeds))
        found, reasons = list[FuzzedInputs](), list[str]()
        for plan in plans:
            for fuzzed in self._fuzz(plan):
                if isinstance(fuzzed, str):
                    reasons.append(fuzzed)
                    continue
                found.append(fuzzed)
                reasons += [fuzzed.ended] if fuzzed.ended else []
                for content in fuzzed.inputs:
                    self._judge(with_content(plan.attempt, plan.file, content))
        outcome = FuzzedTarget(
            plain(self.payload.target),
            engine=" and ".join(dict.fromkeys(one.engine for one in found)),
            runs=sum(one.runs for one in found),
            seconds=sum(one.seconds for one in found),
            errors=len(self._settled | self._unlisted.keys()),
            reason="; ".join(dict.fromkeys([*reasons, *self._gaps()])),
        )
        return FuzzRecord((outcome,), tuple(self.crashes))

    def _gaps(self) -> Iterator[str]:
        unlisted = [why for root, why in self._unlisted.items() if root not in self._settled]
        for reason in dict.fromkeys(unlisted):
            yield UNLISTED.format(count=unlisted.count(reason), reason=reason)
        if self._silent:
            yield SILENT.format(count=self._silent)

    def _fuzz(self, plan: FuzzPlan) -> Iterator[FuzzedInputs | str]:
        """Yield what libFuzzer finds, if clang has it, then what mutations find; or why nothing can be fuzzed."""
        runner = self._runner(plan.attempt)
        if problem := runner.build(plan.attempt).problem:
            yield problem
            return
        if plan.attempt.way == "fuzz_target" and has_libfuzzer(self.bench):
            share = max(1, int(plan.seconds * LIBFUZZER_SHARE))
            if found := self._libfuzzer(replace(plan, seconds=share)):
                yield found
                seeds = tuple(dict.fromkeys([*found.corpus, *plan.seeds]))
                plan = replace(plan, seeds=seeds, seconds=max(1, plan.seconds - share))
        program = runner.build(plan.attempt)
        with self.runtime.script_slots:
            mutated = fuzz(self.bench, program, plan, "mutations")
        yield mutated

    def _libfuzzer(self, plan: FuzzPlan) -> FuzzedInputs | None:
        """Return what libFuzzer has found, None if clang does not compile the target."""
        with ExitStack() as resources:
            try:
                bench = open_bench(self.runtime, replace(self.bench.tree, covered=True), resources)
                program = build_fuzzer(bench, plan.attempt.target)
            except StepFailed:
                return None
            with self.runtime.script_slots:
                return None if program.problem else fuzz(bench, program, plan, "libFuzzer")

    def _runner(self, attempt: Attempt) -> BenchRunner:
        return BenchRunner(self.bench, ProofTarget(TreeLine(attempt.target, 0), 0, 0, 0), self.runtime.script_slots)

    def _judge(self, attempt: Attempt) -> None:
        """Keep the errors of an input, as far as their roots are new."""
        result = self._runner(attempt).attempt(attempt)
        errors = errors_by_root(result)
        self._silent += not errors
        for root, error in errors.items():
            if root in self._settled:
                continue
            crash = "" if root in self.findings.proved else self._crash(attempt, result, root, error)
            if isinstance(crash, CrashRecord):
                self.crashes.append(crash)
            elif crash:
                self._unlisted[root] = crash
                continue
            self._settled.add(root)

    def _crash(
        self, attempt: Attempt, result: AttemptResult, root: ErrorRoot, error: SanitizerError
    ) -> CrashRecord | str:
        """Return an error with its proof, or why it is not listed."""
        origin = BY_FUZZING.format(target=plain(self.payload.target), command=attempt.command)
        crash = crash_of(attempt, result, error, self.index, origin)
        if isinstance(crash, str):
            return crash
        if len(self.crashes) >= CRASHES_MAX:
            return TOO_MANY
        own = target_of(crash.candidate, self.index)
        attempt, result = self._minimised(attempt, result, crash.proof, own)
        proof = proof_of_root(attempt, result, root, own)
        each = {gid: proof_of_root(attempt, result, root, target) for gid, target in self.findings.unproved.items()}
        proves = tuple(gid for gid, one in each.items() if one.state == "proved")
        reason = "; ".join(filter(None, (WITH_FUZZING, proof.reason)))
        stored = stored_proof(proof._replace(attempts=1, reason=reason), self.runtime.tier, self.blobs)
        return CrashRecord(crash.candidate, stored, crash.severity, proves)

    def _minimised(
        self, attempt: Attempt, result: AttemptResult, proof: Proof, target: ProofTarget
    ) -> tuple[Attempt, AttemptResult]:
        """Return the smallest attempt that two runs prove to be the same error, with these runs."""
        if proof.stack[:1] == (HANG,):  # each run takes seconds
            return attempt, result
        runner = self._runner(attempt)
        program = runner.build(attempt)

        def fires(smaller: Attempt) -> bool:
            return compare(AttemptResult((runner.run(smaller, program),)), proof.stack).outcome == "fires"

        smaller = Minimisation(attempt, fires, left=MINIMISING_RUNS).run()
        again = runner.attempt(smaller)
        is_same = proof_of_root(smaller, again, ErrorRoot.of(proof.stack), target).state == "proved"
        return (smaller, again) if is_same else (attempt, result)


def plans_of(payload: FuzzPayload, attempts: Sequence[Attempt], seeds: Sequence[bytes]) -> Iterator[FuzzPlan]:
    """Yield how a target is fuzzed: a fuzz target with its input, a program as attempts called it.

    Without attempts, a program gets a file as its argument, and its standard input.
    """
    made: dict[tuple[tuple[str, ...], str], tuple[Attempt, list[bytes]]] = {}
    for attempt in attempts:
        if attempt.files:
            name, content = max(attempt.files, key=lambda file: len(file.content))
            made.setdefault((attempt.args, name), (attempt, []))[1].append(content)
    if payload.way == "fuzz_target":
        contents = [content for _, found in made.values() for content in found]
        made = {((), INPUT): (_attempt(payload, (), INPUT), contents)}
    elif not made:
        made = {
            ((INPUT,), INPUT): (_attempt(payload, (INPUT,), INPUT), []),
            ((), STDIN): (_attempt(payload, (), STDIN), []),
        }
    ways = list(made.items())[:WAYS_MAX]
    for (args, name), (attempt, contents) in ways:
        every = tuple(dict.fromkeys([*contents, *seeds])) or (b"",)
        # Without the seconds: a run with more of them begins with the same inputs.
        text = json.dumps([payload.way, payload.target, args, name])
        number = int(sha256(text.encode()).hexdigest()[:7], 16)
        yield FuzzPlan(replace(attempt, target=payload.target), name, every, payload.seconds // len(ways), number)


def with_content(attempt: Attempt, name: str, content: bytes) -> Attempt:
    """Return an attempt with another content of a file."""
    files = (ProofFile(file.name, content if file.name == name else file.content) for file in attempt.files)
    return replace(attempt, files=tuple(files))


def _attempt(payload: FuzzPayload, args: tuple[str, ...], name: str) -> Attempt:
    way: Way = "fuzz_target" if payload.way == "fuzz_target" else "program"
    return Attempt(way, payload.target, args, files=(ProofFile(name, b""),))
