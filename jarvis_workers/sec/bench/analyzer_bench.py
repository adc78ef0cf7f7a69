"""Run an analyzer over a unit of an unpacked tree, in the sandbox: it reads the tree, and writes nothing of it."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Self

from jarvis_workers.errors import HostExhausted, StepFailed
from jarvis_workers.sandbox.confine import SYSTEM
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import FREE_DISK, FREE_MEMORY, MEGABYTE, CommandOutcome, SandboxLimits
from jarvis_workers.sandbox.sandbox import Sandbox, best_tier, open_sandbox, refusal
from jarvis_workers.sec.witnesses.analyzers import ANALYZERS, Analyzer, AnalyzerAnswer
from jarvis_workers.source.clang.unit import ROOT

OUTPUT_BYTES, DISK_MB = 16_000_000, 256
VERSION = re.compile(r"\b(\d+)(?:\.\d+)+")
VERSION_SECONDS = 20
# Packages whose wheels bring a program.
WHEELS = {"clang-tidy": ("clang_tidy", "data/bin/clang-tidy")}
CRASHED, ENDED, CUT = "it crashed (signal {signal})", "stopped at its limit of {reason}", "its output was cut"


class Installed(NamedTuple):
    """An analyzer of this machine: the path of its program, and its version."""

    path: str
    version: str


class AnalyzerLimits(NamedTuple):
    """Limits of an analyzer on one unit."""

    seconds: float = 120
    memory_mb: float = 2048

    @property
    def of_sandbox(self) -> SandboxLimits:
        return SandboxLimits(
            wall_seconds=self.seconds,
            cpu_seconds=max(1, int(self.seconds)),
            memory_bytes=int(self.memory_mb * MEGABYTE),
            file_bytes=DISK_MB * MEGABYTE,
            scratch_bytes=DISK_MB * MEGABYTE,
            output_bytes=OUTPUT_BYTES,
        )


@cache
def installed_analyzers() -> Mapping[str, Installed | str]:
    """Return for each analyzer where it is on this machine, or why it cannot be used."""
    return {name: _installed(one) for name, one in ANALYZERS.items()}


def _installed(analyzer: Analyzer) -> Installed | str:
    path = _place(analyzer)
    if path is None:
        return f"not installed: {analyzer.hint}"
    try:
        done = subprocess.run(
            [path, *analyzer.version],
            capture_output=True,
            timeout=VERSION_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} does not print its version: {error}"
    found = VERSION.search(done.stdout.decode(errors="replace"))
    if found is None or done.returncode:
        return f"{path} does not print its version: {analyzer.hint}"
    if int(found[1]) < analyzer.oldest:
        return f"{path} is version {found[0]}, older than {analyzer.oldest}: {analyzer.hint}"
    return Installed(path, found[0])


def _place(analyzer: Analyzer) -> str | None:
    """Return where a program is: in a wheel, or in PATH."""
    package, inside = WHEELS.get(analyzer.name, ("", ""))
    spec = find_spec(package) if package else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if Path(place, inside).is_file():
            return os.path.realpath(Path(place, inside))
    return shutil.which(analyzer.program)


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
            places = [
                Path(one.path).parent.parent for one in installed_analyzers().values() if isinstance(one, Installed)
            ]
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
