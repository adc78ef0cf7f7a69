"""Run an analyzer over a unit of an unpacked tree, in the sandbox: it reads the tree, and writes nothing of it."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

from jarvis_workers.builds.local_tree import below
from jarvis_workers.errors import HostExhausted, StepFailed
from jarvis_workers.paths import plain
from jarvis_workers.sandbox.confine import SYSTEM
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import FREE_DISK, FREE_MEMORY, MEGABYTE, BenchLimits, CommandOutcome, SandboxLimits
from jarvis_workers.sandbox.sandbox import Sandbox, best_tier, open_sandbox, refusal
from jarvis_workers.sec.bench.host_trouble import last_lines
from jarvis_workers.sec.witnesses.analyzer import Analyzer, AnalyzerAnswer
from jarvis_workers.source.clang.unit import ROOT, CompileCommand
from jarvis_workers.toolchain.analyzers import Installed, installed_analyzers

OUTPUT_BYTES, DISK_MB, WAITING = 16_000_000, 256, 4
CRASHED, ENDED, CUT = "it crashed (signal {signal})", "stopped at its limit of {reason}", "its output was cut"
FAILED = "it failed with exit code {code}: {why}"
IN_DIRECTORY = ("sh", "-c", 'cd "$0" && exec "$@"')


class AnalyzerLimits(NamedTuple):
    """Limits of an analyzer on one unit: its CPU time, and its memory. It may wait a while for a busy processor.

    A crate is built, with all that it depends on.
    """

    seconds: float = 120
    memory_mb: float = 2048
    build: BenchLimits = BenchLimits()

    def of(self, analyzer: Analyzer) -> SandboxLimits:
        """Return the limits of a command of an analyzer."""
        if analyzer.of_crates:
            return self.build.of(self.build.build_seconds)
        return SandboxLimits(
            wall_seconds=self.seconds * WAITING,
            cpu_seconds=max(1, int(self.seconds)),
            memory_bytes=int(self.memory_mb * MEGABYTE),
            file_bytes=DISK_MB * MEGABYTE,
            scratch_bytes=DISK_MB * MEGABYTE,
            output_bytes=OUTPUT_BYTES,
        )


class AnalyzerBench:
    """Runs analyzers over an unpacked tree; the sandbox is opened for the first. A context manager."""

    def __init__(self, root: Path, limits: AnalyzerLimits) -> None:
        self._root, self._limits = os.path.realpath(root), limits
        self._resources = ExitStack()
        self._box: Sandbox | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def run(self, analyzer: Analyzer, program: str, command: CompileCommand) -> AnalyzerAnswer:
        """Return what an analyzer says about a unit. Raises StepFailed without a sandbox, HostExhausted."""
        arguments = [one.replace(ROOT, self._root) for one in command.arguments]
        place = os.fsdecode(command.directory if analyzer.of_crates else command.file)
        words = analyzer.words(program, place if analyzer.of_crates else f"{self._root}/{place}", arguments)
        there = [*IN_DIRECTORY, self._directory(command), *words]
        outcome = self._opened().run(there, limits=self._limits.of(analyzer))
        if outcome.reason in (FREE_DISK, FREE_MEMORY):
            raise HostExhausted(f"not enough {outcome.reason} on this machine for {analyzer.name}")
        answer = analyzer.read(*(self._text(one) for one in (outcome.stdout, outcome.stderr)))
        if analyzer.of_crates and place:
            answer = answer._replace(alerts=tuple(one._replace(file=f"{place}/{one.file}") for one in answer.alerts))
        if failure := _failure(outcome):
            return answer._replace(failure=failure, lasts=False)
        if outcome.code and not answer.failure:
            # It says in words of its own why it has read nothing: an option, or a part of it that is missing.
            why = last_lines(outcome.stderr) or "no message"
            return answer._replace(failure=FAILED.format(code=outcome.code, why=plain(why)), lasts=False)
        return answer

    def _directory(self, command: CompileCommand) -> str:
        """Return the directory in which a unit is compiled, or the root if the tree does not have it."""
        place = os.path.realpath(f"{self._root}/{os.fsdecode(command.directory)}")
        return place if below(place, self._root) is not None and Path(place).is_dir() else self._root

    def _text(self, output: bytes) -> str:
        """Return an output with paths relative to the tree, so that it is the same on every machine."""
        return output.decode("utf-8", "backslashreplace").replace(f"{self._root}/", "")

    def _opened(self) -> Sandbox:
        if self._box is None:
            if why := refusal(best_tier()):
                raise StepFailed(f"analyzers run only in the sandbox: {why}")
            starter = self._resources.enter_context(Starter())
            places = [Path(one.place) for one in installed_analyzers().values() if isinstance(one, Installed)]
            readable = [place for place in places if not any(place.is_relative_to(one) for one in SYSTEM)]
            self._box = self._resources.enter_context(
                open_sandbox(Path(self._root), starter=starter, readable=readable, scratch_bytes=None)
            )
        return self._box


def _failure(outcome: CommandOutcome) -> str:
    if outcome.reason:
        return ENDED.format(reason=outcome.reason)
    if outcome.signal is not None:
        return CRASHED.format(signal=outcome.signal)
    return CUT if outcome.cut else ""
