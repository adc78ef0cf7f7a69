"""Run the attempts of an agent on a bench, which is opened for the conversation and leased until it ends."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.errors import HostExhausted, SandboxError, StepFailed
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import open_sandbox
from jarvis_workers.sec.bench import proof_bench
from jarvis_workers.sec.bench.forged_reports import has_sanitizers, without_forged
from jarvis_workers.sec.bench.forged_sources import why_only_reproduced
from jarvis_workers.sec.bench.host_trouble import raise_for_host
from jarvis_workers.sec.bench.proof_bench import PROJECT, ProofBench, ProofLimits, ProofTree, open_proof_bench
from jarvis_workers.sec.bench.proof_link import BuiltProgram, build_attempt
from jarvis_workers.sec.bench.proof_objects import FUZZ_TARGET
from jarvis_workers.sec.bench.proof_run import errors_in_log, run_attempt
from jarvis_workers.sec.proof.attempt_arguments import BYTES_MAX
from jarvis_workers.sec.proof.minimisation import emptied
from jarvis_workers.sec.proof.proof import SMALL_BYTES, Attempt, ProofRun, ProofTarget, SanitizerError
from jarvis_workers.sec.proof.run_tool import NEEDS_TIER_A, AttemptResult

PROOFS = "proofs"
RUNS = 2
# On another machine than the one where the conversation began; the log of a build is not for the model.
NOT_BUILT = "this machine cannot build the code"


class BenchRunner:
    """Builds and runs attempts (`sec.proof.run_tool.ProofRunner`); `slots` limits the concurrent commands."""

    def __init__(self, bench: ProofBench, target: ProofTarget, slots: threading.BoundedSemaphore) -> None:
        self._bench, self._target, self._slots = bench, target, slots

    @property
    def built_targets(self) -> list[str] | None:
        """What the build command has made; None without one."""
        return built_targets(self._bench)

    def content(self, script: str) -> bytes:
        """Return what a Python script writes to its standard output. Raises ToolFailed."""
        bench = self._bench
        limits = bench.limits.of_run()._replace(output_bytes=2 * BYTES_MAX)
        with self._slots, open_sandbox(bench.work, tier=bench.tier, starter=bench.starter) as box:
            outcome = box.run(["python3", "-"], stdin=script.encode("utf-8", "replace"), limits=limits)
        raise_for_host(outcome, b"")
        if outcome.code != 0 or outcome.cut:
            tail = outcome.stderr.decode(errors="backslashreplace").strip().split("\n")[-1]
            raise ToolFailed(f"the Python script of a file failed: {outcome.reason or tail[:300]}")
        return outcome.stdout

    def attempt(self, attempt: Attempt) -> AttemptResult:
        """Build an attempt and run it twice. Raises HostExhausted, since trouble of this machine is no attempt."""
        if attempt.way == "server" and self._bench.tier != Tier.A:
            return AttemptResult(problem=f"{NEEDS_TIER_A}, and this machine has {self._bench.tier}")
        try:
            program = self.build(attempt)
            if program.problem:
                return AttemptResult(problem=program.problem)
            runs = [self.run(attempt, program)]
            if runs[0].unreached and not runs[0].errors:
                return AttemptResult(problem=f"{runs[0].unreached}\n{runs[0].output}".strip())
            runs += [self.run(attempt, program) for _ in range(1, RUNS)]
            runs = without_forged(self._bench, program, runs, lambda: self._errors_in_log(attempt, program))
            if any(run.hangs or run.grows for run in runs) and (why := self._why_excused(attempt, program, runs)):
                runs = [replace(run, errors=(), ended=why, is_unclear=True) for run in runs]
            internal = program.internal or (runs[0].errors and why_only_reproduced(self._bench, runs[0])) or ""
        except SandboxError as error:
            raise HostExhausted(f"this machine cannot start a sandbox: {error}") from error
        except StepFailed as error:
            return AttemptResult(problem=str(error))
        return AttemptResult(tuple(runs), internal=internal)

    def has_sanitizers(self, program: BuiltProgram, function: str) -> bool:
        """Return whether a function of a program was compiled with sanitizers."""
        with self._slots:
            return has_sanitizers(self._bench, program, function)

    def _errors_in_log(self, attempt: Attempt, program: BuiltProgram) -> Sequence[SanitizerError]:
        with self._slots:
            return errors_in_log(self._bench, attempt, program, self._target.cwe)

    def _why_excused(self, attempt: Attempt, program: BuiltProgram, runs: Sequence[ProofRun]) -> str:
        """Return why a run that does not end, or grows, shows nothing, "" if it does; a harness has it by the call.

        A longer input may only take long, or much memory.
        """
        hangs, growth = any(run.hangs for run in runs), self._bench.limits.growth_mb
        what, again = (
            ("did not end in time", "nor does it") if hangs else (f"took {growth:,} MB of memory", "and does so")
        )
        if attempt.input_bytes > SMALL_BYTES:
            return f"{what}, which counts only with at most {SMALL_BYTES:,} bytes of input"
        nothing = emptied(attempt)
        if nothing == attempt:
            return "" if attempt.way == "harness" else f"{what}, and it has no input"
        run = self.run(nothing, program)
        return f"{what}, {again} with an empty input" if run.hangs or run.grows or run.is_unclear else ""

    def build(self, attempt: Attempt) -> BuiltProgram:
        """Make the program of an attempt, which does not depend on its files and arguments."""
        with self._slots:
            return build_attempt(self._bench, attempt, self._target.sink.file)

    def run(self, attempt: Attempt, program: BuiltProgram) -> ProofRun:
        """Run the program of an attempt once, with the files and arguments of the attempt."""
        with self._slots:
            return run_attempt(self._bench, attempt, program, self._target.cwe)


class LazyBench:
    """The bench of a conversation, opened when it is first needed and closed with `resources`.

    `tree` reads what is to be built. Trouble of this machine is raised, and tried again by the next job; why the tree
    cannot be built is kept.
    """

    def __init__(self, runtime: AgentRuntime, tree: Callable[[], ProofTree], resources: ExitStack) -> None:
        self.slots = runtime.script_slots
        self._runtime, self._tree, self._resources = runtime, tree, resources
        self._lock = threading.Lock()
        self._bench: ProofBench | None = None
        self._problem = ""

    def opened(self) -> ProofBench:
        """Return the bench; blocks while it is opened. Raises StepFailed if nothing can be run, HostExhausted."""
        with self._lock:
            if self._problem:
                raise StepFailed(self._problem)
            if self._bench is None:
                try:
                    self._bench = open_bench(self._runtime, self._tree(), self._resources)
                except StepFailed as error:
                    self._problem = str(error)
                    raise
            return self._bench

    def runner_for(self, target: ProofTarget) -> "LazyRunner":
        """Return what runs attempts for a finding; it opens the bench itself."""
        return LazyRunner(self, target)

    def problem_of(self, target: ProofTarget) -> str:
        """Return why nothing can be run for a finding, "" if it can; blocks. Raises HostExhausted."""
        try:
            runner_on(self.opened(), target, self.slots)
        except StepFailed as error:
            return str(error)
        return ""

    def targets(self) -> list[str] | None:
        """Return what the build command has made; None without one. Raises StepFailed, HostExhausted."""
        return built_targets(self.opened())


class LazyRunner:
    """Builds and runs attempts for a finding (`sec.proof.run_tool.ProofRunner`), with a bench that it opens itself."""

    def __init__(self, bench: LazyBench, target: ProofTarget) -> None:
        self._bench, self._target = bench, target

    def content(self, script: str) -> bytes:
        """Return what a Python script writes to its standard output. Raises ToolFailed."""
        try:
            runner = runner_on(self._bench.opened(), self._target, self._bench.slots)
        except StepFailed as error:
            raise ToolFailed(NOT_BUILT) from error
        return runner.content(script)

    def attempt(self, attempt: Attempt) -> AttemptResult:
        """Build an attempt and run it twice. Raises HostExhausted."""
        try:
            runner = runner_on(self._bench.opened(), self._target, self._bench.slots)
        except StepFailed:
            return AttemptResult(problem=NOT_BUILT)
        return runner.attempt(attempt)


def open_runner(runtime: AgentRuntime, tree: ProofTree, target: ProofTarget, resources: ExitStack) -> BenchRunner:
    """Open a bench with the compiled tree, closed with `resources`; blocks.

    Raises StepFailed if nothing can be run, HostExhausted if this machine lacks what that takes.
    """
    return runner_on(open_bench(runtime, tree, resources), target, runtime.script_slots)


def open_bench(runtime: AgentRuntime, tree: ProofTree, resources: ExitStack) -> ProofBench:
    """Open a bench with the compiled tree, closed with `resources`; blocks. Raises StepFailed, HostExhausted.

    If `resources` are closed meanwhile, because the job was cancelled, the bench is closed at once.
    """
    closed = threading.Event()
    resources.callback(closed.set)
    with runtime.script_slots:
        directory: Path = runtime.setup.unpacked.parent / PROOFS
        opened = open_proof_bench(directory, tree, ProofLimits(), runtime.tier, runtime.starter)
        try:
            bench = resources.enter_context(opened)
        except SandboxError as error:
            raise HostExhausted(f"this machine cannot start a sandbox: {error}") from error
    if closed.is_set():
        resources.close()
        raise StepFailed("the job was cancelled")
    return bench


def built_targets(bench: ProofBench) -> list[str] | None:
    """Return what the build command has made: programs, and the files of fuzz targets; None without one."""
    if bench.tree.command is None:
        return None
    fuzz = [one.path.removeprefix(f"{PROJECT}/") for one in bench.compiled.with_function(FUZZ_TARGET)]
    return [*bench.programs(), *(f"{one} (fuzz target)" for one in fuzz)]


def runner_on(bench: ProofBench, target: ProofTarget, slots: threading.BoundedSemaphore) -> BenchRunner:
    """Return what runs attempts for a finding. Raises StepFailed if the code of the finding is not compiled."""
    if bench.tree.command is None and bench.compiled.of_source(target.sink.file) is None:
        is_chosen = target.sink.file in bench.compiled.sources.values()
        is_full = len(bench.compiled.sources) >= proof_bench.SOURCES_MAX
        limit = f"is not among the first {proof_bench.SOURCES_MAX} files, which are compiled"
        why = limit if is_full and not is_chosen else "does not compile by itself"
        raise StepFailed(f"{target.sink.file} {why}; give the command of the build (--build)")
    return BenchRunner(bench, target, slots)
