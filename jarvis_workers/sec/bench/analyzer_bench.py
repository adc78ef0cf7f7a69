"""Run an analyzer over a unit of an unpacked tree, in the sandbox: it reads the tree, and writes nothing of it."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

from jarvis_workers.errors import HostExhausted, StepFailed
from jarvis_workers.sandbox.confine import SYSTEM
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import FREE_DISK, FREE_MEMORY, MEGABYTE, CommandOutcome, SandboxLimits
from jarvis_workers.sandbox.sandbox import Sandbox, best_tier, open_sandbox, refusal
from jarvis_workers.sec.witnesses.analyzers import Analyzer, AnalyzerAnswer
from jarvis_workers.source.clang.unit import ROOT
from jarvis_workers.toolchain.analyzers import Installed, installed_analyzers

OUTPUT_BYTES, DISK_MB, WAITING = 16_000_000, 256, 4
CRASHED, ENDED, CUT = "it crashed (signal {signal})", "stopped at its limit of {reason}", "its output was cut"


class AnalyzerLimits(NamedTuple):
    """Limits of an analyzer on one unit: its CPU time, and its memory. It may wait a while for a busy processor."""

    seconds: float = 120
    memory_mb: float = 2048

    @property
    def of_sandbox(self) -> SandboxLimits:
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

    def run(self, analyzer: Analyzer, program: str, file: str, arguments: Sequence[str]) -> AnalyzerAnswer:
        """Return what an analyzer says about a file. Raises StepFailed without a sandbox, HostExhausted."""
        words = analyzer.words(program, f"{self._root}/{file}", [one.replace(ROOT, self._root) for one in arguments])
        outcome = self._opened().run(words, limits=self._limits.of_sandbox)
        if outcome.reason in (FREE_DISK, FREE_MEMORY):
            raise HostExhausted(f"not enough {outcome.reason} on this machine for {analyzer.name}")
        answer = analyzer.read(*(self._text(one) for one in (outcome.stdout, outcome.stderr)))
        failure = _failure(outcome)
        return answer._replace(failure=failure, lasts=False) if failure else answer

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
                open_sandbox(Path(self._root), starter=starter, readable=readable)
            )
        return self._box


def _failure(outcome: CommandOutcome) -> str:
    if outcome.reason:
        return ENDED.format(reason=outcome.reason)
    if outcome.signal is not None:
        return CRASHED.format(signal=outcome.signal)
    return CUT if outcome.cut else ""
