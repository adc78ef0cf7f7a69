"""Benches on which nothing is built or run: what compilers and tests would do follows from words in the code.

A function whose code contains BREAKS does not compile, the tests fail while one that contains WRONG runs in Rust, and
clippy warns about WARNS, and is stopped by STOPS.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_workers.c2rust.bench.crate_bench import CargoRun
from jarvis_workers.c2rust.bench.driver_programs import DRIVERS
from jarvis_workers.c2rust.bench.project_bench import CommandResult
from jarvis_workers.c2rust.stages import optimize_crate, rustc_checks, skeleton
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.limits import UNLIMITED
from jarvis_workers.toolchain.cargo import CargoMessage
from jarvis_workers.toolchain.gcov import LineCoverage

VARIABLE = "JARVIS_C2RUST_"
BREAKS, WRONG, WARNS, STOPS = "BREAKS", "WRONG", "WARNS", "STOPS"
# The tests and programs of the project exit like this.
FAILURE, TRAPPED = "exit code 1", "killed by signal 5"


class FakeBench:
    """A bench of a project with functions `exported`; its tests call those in `called`, and a driver calls all."""

    def __init__(self, place: Path, called: Sequence[str], exported: Sequence[str]) -> None:
        self.place, self.called, self.exported = place, called, exported
        self.limits = SimpleNamespace(build_seconds=10.0, test_seconds=10.0)
        self.library, self.shapes = place / "libbench.so", place / "shapes.txt"
        self.crate: dict[str, str] = {}
        self.commands: list[str] = []
        self.coverage: LineCoverage = {}

    def write_crate(self, contents: Mapping[str, str | bytes]) -> None:
        self.crate = {name: one if isinstance(one, str) else one.decode() for name, one in contents.items()}

    def cargo(
        self, *words: str, flags: str = "", rustc: Sequence[str] = ()
    ) -> tuple[bool, tuple[CargoMessage, ...], float]:
        self.commands.append(" ".join(("cargo", *words)))
        if words == ("clippy",):
            if any(STOPS in text for text in self.crate.values()):
                return False, (CargoMessage("error", "", "cargo: stopped at its limit of CPU time"),), 0.1
            found = [file for file, text in self.crate.items() if WARNS in text]
            return True, tuple(CargoMessage("warning", "clippy::style", "shorter", file, 5, 1) for file in found), 0.1
        broken = [file for file, text in self.crate.items() if file.endswith(".rs") and BREAKS in text]
        return not broken, tuple(CargoMessage("error", "E0308", "mismatched types", file, 5, 1) for file in broken), 0.1

    def build_library(self) -> tuple[bool, tuple[CargoMessage, ...]]:
        return self.cargo("build")[:2]

    def name_list(self, _: str, names: Sequence[str]) -> str:
        return ",".join(names)

    def write_file(self, name: str, content: bytes) -> Path:
        path = self.place / name
        path.write_bytes(content)
        return path

    def restore(self) -> None:
        """Restore nothing."""

    def in_work(self, script: str, words: Sequence[str]) -> bytes:
        """Answer the one script that reads: which symbols are exported."""
        return "".join(f"{words[0]}/a.o: {name} T 0 0\n" for name in self.exported).encode() if "nm " in script else b""

    def run(self, command: str, environment: Mapping[str, str], *_: float) -> CommandResult:
        return self.test(command, environment)

    def test(self, command: str, environment: Mapping[str, str], _: Any = UNLIMITED) -> CommandResult:
        """Run a test command: it calls its functions, in C or in Rust."""
        self.commands.append(command)
        called = self.exported if DRIVERS in command else self.called
        rust, trap, shadow = (
            environment.get(f"{VARIABLE}{name}", "").split(",") for name in ("RUST", "TRAP", "SHADOW")
        )
        wrong = [name for name in rust if WRONG in self.crate.get(f"src/f_{name}.rs", "")]
        failure = TRAPPED if set(trap) & set(called) else FAILURE if set(wrong) & set(called) else ""
        traced = called if f"{VARIABLE}TRACE" in environment else ()
        lines = [f"reached\tprogram\t7\t{name}" for name in traced]
        lines += [f"compared\tprogram\t7\t{name}\t9\t0" for name in shadow if name in called]
        return CommandResult(1 if failure else 0, failure, 0.5, b"", "".join(f"{one}\n" for one in lines).encode())


class FakeCrateBench:
    """A bench of a crate: its tests fail while a file contains BREAKS or WRONG."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.tests = 0

    def write(self, files: Mapping[str, bytes]) -> "FakeCrateBench":
        self.files = dict(files)
        return self

    def _failure(self, *words: str) -> str:
        found = [name for name, content in self.files.items() if any(word.encode() in content for word in words)]
        return f"exit code 101 ({found[0]}:1: it fails)" if found else ""

    def check(self, *_: str, users: bool = True) -> CargoRun:
        return CargoRun(self._failure(BREAKS), (), 0.1)

    def test(self) -> CargoRun:
        self.tests += 1
        return CargoRun(self._failure(BREAKS, WRONG), (), 0.1)


def use_benches(patch: pytest.MonkeyPatch, bench: FakeBench, crate_bench: FakeCrateBench) -> None:
    """Let the steps use these benches instead of real ones."""
    (bench.place / WORK / "project").mkdir(parents=True)

    @contextmanager
    def opened(*_: object) -> Iterator[FakeBench]:
        yield bench

    @contextmanager
    def opened_crate(*_: object) -> Iterator[FakeCrateBench]:
        yield crate_bench

    clippy = bench.place / "rust" / "bin" / rustc_checks.CLIPPY
    clippy.parent.mkdir(parents=True)
    clippy.touch()
    patch.setattr(rustc_checks, "find_rust", lambda: SimpleNamespace(root=clippy.parents[1]))
    patch.setattr(skeleton, "open_bench", opened)
    patch.setattr(skeleton, "measure_coverage", lambda *_: (bench.coverage, ""))
    patch.setattr(optimize_crate, "open_crate_bench", opened_crate)
