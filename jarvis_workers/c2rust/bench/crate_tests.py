"""Build a crate and run its tests, in the sandbox and from nothing each time.

The tests run the code of a model: they can write neither the programs nor the sources that these were built from, and
a program passes only if it ends normally and reports as many tests as it has.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.c2rust.bench.cargo_runs import cargo_command
from jarvis_workers.c2rust.interface_result import CrateOutcome, CrateTest
from jarvis_workers.errors import StepFailed
from jarvis_workers.sandbox.confine import HOME, WORK
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import FREE_DISK, FREE_MEMORY, BenchLimits, CommandOutcome
from jarvis_workers.sandbox.sandbox import PATH, Sandbox, open_sandbox
from jarvis_workers.toolchain import scratch
from jarvis_workers.toolchain.cargo import CargoMessage, RustTools, find_rust, read_messages
from jarvis_workers.toolchain.temporary import temporary_directory

CRATE, TARGET = "crate", "target"
ERRORS_SHOWN, DETAIL, TAIL = 8, 600, 300
SECONDS = 60
TESTS_FAILED = 101  # the exit code of libtest
LISTED = re.compile(rb"^(.+): test$", re.MULTILINE)
COUNT = re.compile(rb"^\d+ tests?, \d+ benchmarks?$", re.MULTILINE)
SUMMARY = re.compile(rb"^test result: ok\. (\d+) passed; 0 failed; ", re.MULTILINE)
WHOLE = "the whole program"
# How the error of a crate begins that cargo itself refuses.
CARGO_FAILED = "cargo: "


class CrateProgram(NamedTuple):
    """A program with tests, and the file of its source, relative to the crate."""

    source: str
    path: str


class CrateTests:
    """A crate in two sandboxes: one builds it, the other runs its tests in a copy of its tree."""

    def __init__(self, place: Path, files: Mapping[str, bytes], limits: BenchLimits, starter: Starter) -> None:
        self._given, self._build, self._run = (place / name for name in ("given", "build", "run"))
        self._limits, self._starter = limits, starter
        for name, content in files.items():
            (self._given / name).parent.mkdir(parents=True, exist_ok=True)
            (self._given / name).write_bytes(content)

    def build(self) -> tuple[str, list[CrateProgram]]:
        """Return why the crate or its tests do not build, or "" and the programs with tests."""
        rust = find_rust()
        variables = {
            "CARGO_HOME": f"{self._build}/{HOME}/cargo",
            "CARGO_TARGET_DIR": f"{self._build}/{WORK}/{TARGET}",
            "CARGO_TERM_COLOR": "never",
            "CARGO_INCREMENTAL": "0",
        }
        crate = self._build / WORK / CRATE
        words = cargo_command(crate, "test", ["--no-run", "--message-format=json"])
        with self._sandbox(self._build, [rust.root]) as box:
            outcome = self._command(box, self._build, variables, words, rust, self._limits.build_seconds)
        if outcome.code == 0:
            return "", sorted(_programs(outcome.stdout, crate), key=_order)
        errors = (one for one in read_messages(outcome.stdout) if one.level == "error" and one.file)
        lines = list(dict.fromkeys(map(_error, errors)))
        output = " ".join(outcome.stderr.decode(errors="replace").split())
        output = output[max(0, output.find("error: ")) :][:TAIL]
        return "; ".join(lines[:ERRORS_SHOWN]) or f"{CARGO_FAILED}{_ending(outcome)}: {output}", []

    def test(self, programs: Sequence[CrateProgram]) -> Iterator[CrateTest]:
        """Run all tests, and yield their outcomes."""
        with self._sandbox(self._run, [self._build / WORK]) as box:
            for program in programs:
                listed = self._program(box, program, "--list")
                ignored = self._program(box, program, "--list", "--ignored")
                names = set(LISTED.findall(listed.stdout)) - set(LISTED.findall(ignored.stdout))
                if not COUNT.search(listed.stdout):  # a program without the harness of Rust
                    yield CrateTest(program.source, WHOLE, listed.code == 0, _ending(listed))
                elif names:
                    yield from judge_tests(program.source, names, self._program(box, program))

    def _program(self, box: Sandbox, program: CrateProgram, *words: str) -> CommandOutcome:
        variables = {"CARGO_MANIFEST_DIR": f"{self._run}/{WORK}/{CRATE}"}
        return self._command(box, self._run, variables, [program.path, *words], None, self._limits.test_seconds)

    @contextmanager
    def _sandbox(self, side: Path, readable: Sequence[Path]) -> Iterator[Sandbox]:
        """Yield a sandbox with a copy of the crate."""
        (side / WORK).mkdir(parents=True)
        readable = [self._given, *readable]
        with open_sandbox(side / WORK, starter=self._starter, workspace=side, readable=readable) as box:
            copied = box.run(["cp", "-r", str(self._given), str(side / WORK / CRATE)], limits=self._limits.of(SECONDS))
            if copied.code != 0:
                raise StepFailed(f"the crate cannot be copied: {_ending(copied)}: {copied.stderr[-TAIL:]!r}")
            yield box

    def _command(
        self,
        box: Sandbox,
        side: Path,
        variables: Mapping[str, str],
        words: Sequence[str],
        rust: RustTools | None,
        seconds: float,
    ) -> CommandOutcome:
        path = f"{rust.root}/bin:{PATH}" if rust else PATH
        assignments = [f"{name}={value}" for name, value in {"PATH": path, **variables}.items()]
        script = 'cd "$1" && shift && exec env "$@"'
        argv = ["sh", "-c", script, "sh", str(side / WORK / CRATE), *assignments, *words]
        outcome = box.run(argv, limits=self._limits.of(seconds))
        if outcome.reason in (FREE_DISK, FREE_MEMORY):
            raise StepFailed(f"not enough {outcome.reason} on this machine to build and test")
        return outcome


def crate_outcome(files: Mapping[str, bytes], limits: BenchLimits, *, run_tests: bool = True) -> CrateOutcome:
    """Build a crate with its tests, and run them. Raises StepFailed or UsageError if this machine cannot."""
    with temporary_directory("jarvis-crate") as place, Starter() as starter:
        crate = CrateTests(place, files, limits, starter)
        try:
            error, programs = crate.build()
            return CrateOutcome(error, tuple(crate.test(programs)) if run_tests else ())
        finally:
            for side in place.iterdir():
                scratch.remove(str(side))


def judge_tests(source: str, names: set[bytes], outcome: CommandOutcome) -> Iterator[CrateTest]:
    """Yield the outcomes of the tests of a program; if it did not end as its harness ends, they all failed."""
    output = outcome.stdout
    summary = SUMMARY.findall(output)
    if outcome.code == 0 and summary and int(summary[-1]) == len(names):
        yield from (CrateTest(source, name.decode(errors="replace"), passed=True) for name in sorted(names))
        return
    failed = set(re.findall(rb"^    (.+)$", output.rpartition(b"\nfailures:\n")[2], re.MULTILINE)) & names
    ended = outcome.code == TESTS_FAILED and bool(failed)
    for name in sorted(names):
        passed = ended and name not in failed
        detail = _detail(output, name) if ended else f"its program ended with {_ending(outcome)}"
        yield CrateTest(source, name.decode(errors="replace"), passed, "" if passed else detail)


def _detail(output: bytes, name: bytes) -> str:
    """Return what a failed test printed, on one line."""
    found = re.search(rb"^---- %b stdout ----\n(.*?)(?=^---- |^failures:$)" % re.escape(name), output, re.M | re.S)
    text = re.sub(r" \(\d+\) panicked", " panicked", found[1].decode(errors="replace")) if found else ""
    return " ".join(text.partition("note: run with")[0].split())[-DETAIL:] or "it fails"


def _ending(outcome: CommandOutcome) -> str:
    if outcome.reason:
        return f"its limit of {outcome.reason}"
    return f"signal {outcome.signal}" if outcome.signal is not None else f"exit code {outcome.code}"


def _error(message: CargoMessage) -> str:
    return f"{message.file}:{message.line}: {message.code} {message.text}".replace("  ", " ")


def _programs(output: bytes, crate: Path) -> Iterator[CrateProgram]:
    for line in output.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            source = Path(message["target"]["src_path"])
            yield CrateProgram(str(source.relative_to(crate)), message["executable"])


def _order(program: CrateProgram) -> tuple[bool, str]:
    return "/" in program.source.removeprefix("src/"), program.source
