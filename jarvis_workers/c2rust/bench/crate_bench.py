"""A crate in a directory of the sandbox, compiled and tested with changed sources.

Everything that runs here is untrusted: build scripts, macros and tests. Cargo compares modification times, so each
changed file is written with the current time, also when it gets its original content back.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.c2rust.bench.cargo_runs import cargo_command
from jarvis_workers.c2rust.bench.crate_archive import tar_of
from jarvis_workers.c2rust.bench.project_bench import PROJECT, TARGET, ProjectBench, ProjectBuild, open_bench
from jarvis_workers.sandbox.confine import HOME, WORK
from jarvis_workers.sandbox.limits import BenchLimits, Tier
from jarvis_workers.sandbox.sandbox import PATH
from jarvis_workers.toolchain.cargo import CargoMessage, find_rust, read_messages

CHECK = "check {} --keep-going --message-format=json"
ALL, LIBRARY, PROGRAMS = "--all-targets", "--lib", "--bins"
NO_LIBRARY = "no library targets found"
BUILD_TESTS, TEST = "test --no-run --message-format=json", "test --message-format=json"
# What the harness of a program with tests writes when it begins and when it ends.
RUNNING = re.compile(rb"^running (\d+) tests?$", re.MULTILINE)
ENDED = re.compile(
    rb"^test result: ok\. (\d+) passed; 0 failed; (\d+) ignored; (\d+) measured; \d+ filtered out", re.MULTILINE
)
NOT_ENDED = "a program with tests ended without their result"
CHANGES = "changes.tar"
TAIL = 300


class CargoRun(NamedTuple):
    """The outcome of a command of cargo; `failure` is empty on success."""

    failure: str
    messages: tuple[CargoMessage, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.failure


@contextmanager
def open_crate_bench(
    directory: Path, archive: bytes, limits: BenchLimits, *, tier: Tier | None = None
) -> Iterator["CrateBench"]:
    """Yield a bench below a directory for the crate in a compressed archive. Raises UsageError without cargo."""
    with open_bench(directory, ProjectBuild(archive), limits, tier=tier) as bench:
        yield CrateBench(bench)


class CrateBench:
    """A leased bench with a crate; see `open_crate_bench`."""

    def __init__(self, bench: ProjectBench) -> None:
        self._bench = bench
        self._contents: dict[str, bytes] = {}
        self._programs = 0

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write the sources of the crate; each call must have the same names."""
        changed = {name: content for name, content in files.items() if self._contents.get(name) != content}
        if changed:
            archive = self._bench.write_file(CHANGES, tar_of(changed))
            self._bench.in_work(f'tar -xmf "$1" -C {PROJECT} --no-same-owner', [str(archive)])
            self._contents |= changed

    def check(self, *lints: str, users: bool = True) -> CargoRun:
        """Compile all targets without running them; the lints warn even where the crate allows them.

        Without `users`, only the library is compiled, or the programs if there is none.
        """
        flags, seconds = " ".join(f"--force-warn {lint}" for lint in lints), self._bench.limits.build_seconds
        if users:
            return self._cargo(CHECK.format(ALL), flags, seconds)
        library = self._cargo(CHECK.format(LIBRARY), flags, seconds)
        return self._cargo(CHECK.format(PROGRAMS), flags, seconds) if NO_LIBRARY in library.failure else library

    def test(self) -> CargoRun:
        """Run the tests of the crate.

        They pass if each program reports as many results as it has tests, and no fewer programs do so than before.
        """
        limits = self._bench.limits
        built = self._cargo(BUILD_TESTS, "", limits.build_seconds)
        return self._cargo(TEST, "", limits.test_seconds) if built.passed else built

    def _cargo(self, command: str, flags: str, seconds: float) -> CargoRun:
        place = self._bench.place
        variables = {
            "PATH": f"{find_rust().root}/bin:{PATH}",
            "CARGO_HOME": f"{place}/{HOME}/cargo",
            "CARGO_TARGET_DIR": f"{place}/{WORK}/{TARGET}",
            "CARGO_TERM_COLOR": "never",
            "CARGO_INCREMENTAL": "0",
            "RUSTFLAGS": flags,
        }
        # Tests run after all is built, and may change it.
        name, *words = command.split()
        self._bench.target.renew()
        done = self._bench.run(shlex.join(cargo_command(place / WORK / PROJECT, name, words)), variables, seconds)
        if command != TEST:
            self._bench.target.keep()
        messages = tuple(read_messages(done.output))
        error = next((one for one in messages if one.level == "error"), None)
        failure = done.failure or (NOT_ENDED if command == TEST and not self._have_ended(done.output) else "")
        place_of = f" ({error.file}:{error.line}: {error.text})" if error else f": {_last_line(done.output)}"
        return CargoRun(failure and f"{failure}{place_of}", messages, done.seconds)

    def _have_ended(self, output: bytes) -> bool:
        """Return whether all programs with tests have reported the results of all of them."""
        results = [sum(map(int, numbers)) for numbers in ENDED.findall(output)]
        is_whole = len(results) >= self._programs and results == [int(number) for number in RUNNING.findall(output)]
        self._programs = max(self._programs, len(results))
        return is_whole


def _last_line(output: bytes) -> str:
    lines = [line for line in output.decode(errors="backslashreplace").splitlines() if not line.startswith("{")]
    failed = [line for line in lines if line.startswith(("test ", "error")) and not line.endswith(" ok")]
    return (failed or lines or [""])[-1].strip()[-TAIL:]
