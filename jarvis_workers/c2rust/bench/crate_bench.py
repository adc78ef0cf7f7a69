"""A crate in a directory of the sandbox, compiled and tested with changed sources.

Everything that runs here is untrusted: build scripts, macros and tests. Cargo compares modification times, so each
changed file is written with the current time, also when it gets its original content back.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.c2rust.bench.crate_archive import tar_of
from jarvis_workers.c2rust.bench.project_bench import PROJECT, TARGET, ProjectBench, ProjectBuild, open_bench
from jarvis_workers.sandbox.confine import HOME, WORK
from jarvis_workers.sandbox.limits import BenchLimits, Tier
from jarvis_workers.sandbox.sandbox import PATH
from jarvis_workers.toolchain.cargo import CargoMessage, find_rust, read_messages

CHECK = "cargo check {} --keep-going --offline --message-format=json"
ALL, LIBRARY, PROGRAMS = "--all-targets", "--lib", "--bins"
NO_LIBRARY = "no library targets found"
TEST = "cargo test --offline --message-format=json"
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
        """Run the tests of the crate."""
        limits = self._bench.limits
        return self._cargo(TEST, "", limits.build_seconds + limits.test_seconds)

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
        done = self._bench.run(command, variables, seconds)
        messages = tuple(read_messages(done.output))
        error = next((one for one in messages if one.level == "error"), None)
        place_of = f" ({error.file}:{error.line}: {error.text})" if error else f": {_last_line(done.output)}"
        return CargoRun(done.failure and f"{done.failure}{place_of}", messages, done.seconds)


def _last_line(output: bytes) -> str:
    lines = [line for line in output.decode(errors="backslashreplace").splitlines() if not line.startswith("{")]
    failed = [line for line in lines if line.startswith(("test ", "error")) and not line.endswith(" ok")]
    return (failed or lines or [""])[-1].strip()[-TAIL:]
