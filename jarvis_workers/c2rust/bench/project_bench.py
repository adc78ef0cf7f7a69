"""A bench: a project that is built with slots, its tests, and a crate, in a directory of the sandbox.

Everything that runs here is untrusted: builds, tests, and the functions in Rust.  The content of a bench is identified
by `state`, a hash of all that its programs were built from; a bench with another state is emptied and rebuilt.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.c2rust.bench.cargo_runs import BuiltTarget, cargo_command
from jarvis_workers.c2rust.bench.compiler_wrappers import FLAGS, PACKAGE, WRAPPERS, BuildKind, write_wrappers
from jarvis_workers.c2rust.bench.crate_archive import crates_of
from jarvis_workers.c2rust.bench.slot_compiler import own_code
from jarvis_workers.c2rust.bench.tree_state import (
    COPY,
    COPY_ALL,
    TreeState,
    failure_of,
    read_tree,
    restore_script,
    unpack_project,
)
from jarvis_workers.c2rust.crate import FALLBACK, SHAPES
from jarvis_workers.c2rust.vendored_crates import LOCK_FILE, VendoredCrates
from jarvis_workers.errors import StepFailed
from jarvis_workers.sandbox.bench_files import copy_untrusted, read_untrusted, write_if_changed
from jarvis_workers.sandbox.confine import HOME, WORK
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.lease import leased_directory
from jarvis_workers.sandbox.limits import (
    FREE_DISK,
    FREE_MEMORY,
    UNLIMITED,
    BenchLimits,
    CommandLimit,
    Tier,
)
from jarvis_workers.sandbox.sandbox import PATH, Sandbox, open_sandbox
from jarvis_workers.toolchain import scratch
from jarvis_workers.toolchain.cargo import CargoMessage, error_line, find_rust, read_messages

PROJECT, PRISTINE, TARGET, CRATE, STATE = "project", "pristine", "target", "crate", "state"
LOG = "slots.log"
SHELL_OPERATORS = re.compile(r"[|&;<>()$`*?\[#~\n]|^\w+=")
# Lazily bound: the library names C functions of the whole project, and a program may contain only some.
RUST_FLAGS = (
    "-C relro-level=partial -C link-arg=-Wl,-z,lazy -C link-arg=-Wl,--no-as-needed -C link-arg=-Wl,-rpath,$ORIGIN"
)
LIBRARY, FALLBACK_LIBRARY = "libbench.so", "libfallback.so"
# Cargo writes the lock file, but the directory of the crate is not writable in the sandbox.
LOCK_SCRIPT = """rm -rf lock && mkdir -p lock/src lock/.cargo && touch lock/src/lib.rs &&
ln -s "$1/vendor" lock && cp "$1/Cargo.toml" lock && cp "$1/.cargo/config.toml" lock/.cargo"""
MESSAGES = "--message-format=json"
TAIL = 300
# A variable of the environment has at most 128 KiB (MAX_ARG_STRLEN of Linux).
NAMES_LENGTH = 100_000
ROOT_MODULE = "src/lib.rs"
# Cargo compares modification times, which clock changes and restored files can invalidate; it also compares this
# variable.
CONTENT = "JARVIS_CRATE_CONTENT"
REBUILD = f'\nconst _: Option<&str> = option_env!("{CONTENT}");\n'


class ProjectBuild(NamedTuple):
    """How the programs of a project are built: its archive, and the commands; one that it does not need is None.

    `tests` run once after the build, since many test commands first build their programs.  `crates` is the archive of
    the crates on which the crate of the bench may depend, b"" for none.
    """

    archive: bytes
    commands: BuildCommands = BuildCommands()
    tool_chains: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    kind: BuildKind = "slots"
    crates: bytes = b""

    @property
    def state(self) -> str:
        """Return the hash of everything that the programs depend on, and of the crates.

        Cargo does not notice changes of vendored crates.
        """
        words = [
            sha256(self.archive).hexdigest(),
            str(self.commands.configure),
            str(self.commands.build),
            *self.tool_chains,
            *self.tests,
            FLAGS[self.kind],
            "" if self.kind == "coverage" else own_code(),
            *([sha256(self.crates).hexdigest()] if self.crates else []),
        ]
        return sha256("\0".join(words).encode()).hexdigest()


class CommandResult(NamedTuple):
    """The outcome of a command.

    `code` is None if a limit or signal ended it; `failure` describes the failure on one line, and is empty on success.
    """

    code: int | None
    failure: str
    seconds: float
    output: bytes
    log: bytes = b""


@contextmanager
def open_bench(
    directory: Path, build: ProjectBuild, limits: BenchLimits, *, tier: Tier | None = None
) -> Iterator["ProjectBench"]:
    """Yield a bench below a directory in which the programs of a project are built, by default in the strongest tier.

    Raises StepFailed if the build fails, and UsageError without cargo.
    """
    rust = find_rust()
    state = build.state
    with leased_directory(directory, state) as place, Starter() as starter:
        fresh = not (place / STATE).is_file() or (place / STATE).read_text() != state
        if fresh:
            scratch.remove(str(place))
            place.mkdir(mode=0o700)
        path = ":".join([PATH, *(f"{chain}/bin" for chain in build.tool_chains)])
        wrappers = write_wrappers(place, path, build.kind)
        (place / WORK).mkdir(mode=0o700, exist_ok=True)
        if fresh and (failure := unpack_project(place, build.archive, starter, limits, tier)):
            raise StepFailed(f"the project cannot be unpacked: {failure}")
        crate = place / CRATE
        crate.mkdir(mode=0o755, exist_ok=True)
        readable = [wrappers, crate, PACKAGE, rust.root, *map(Path, build.tool_chains)]
        with open_sandbox(place / WORK, tier=tier, starter=starter, workspace=place, readable=readable) as box:
            bench = ProjectBench(place, box, limits, f"{rust.root}/bin:{path}", crates_of(build.crates))
            if fresh:
                bench.build(build)
                bench.preserve(build.tests)
                (place / STATE).write_text(state)
            yield bench


class ProjectBench:
    """A leased bench; see `open_bench`."""

    def __init__(self, place: Path, box: Sandbox, limits: BenchLimits, path: str, crates: VendoredCrates) -> None:
        self.place, self._box, self.limits, self._path, self._crates = place, box, limits, path, crates
        self._content, self._is_locked = "", True
        self._tree: TreeState | None = None
        self.target = BuiltTarget(place / WORK / TARGET)

    @property
    def library(self) -> Path:
        """The path from which programs load the library of the crate; they can only read it."""
        return self.place / WRAPPERS / LIBRARY

    @property
    def shapes(self) -> Path:
        """The file of the crate that lists in which registers functions return their results."""
        return self.place / CRATE / SHAPES

    def name_list(self, purpose: str, names: Sequence[str]) -> str:
        """Return names as the value of a variable of the slot runtime: comma-separated, or "@FILE" for many."""
        text = ",".join(names)
        if len(text) <= NAMES_LENGTH:
            return text
        return f"@{self.write_file(f'{purpose}.names', chr(10).join(names).encode())}"

    def write_file(self, name: str, content: bytes) -> Path:
        """Write a file that programs can only read; return its path."""
        path = self.place / WRAPPERS / name
        write_if_changed(path, content)
        return path

    def build(self, build: ProjectBuild) -> None:
        """Configure and build the programs with slots. Raises StepFailed with the last lines of a failed command."""
        for name, command in (("configure", build.commands.configure), ("build", build.commands.build)):
            if command is None:
                continue
            done = self.run(command, {}, self.limits.build_seconds)
            if done.failure:
                tail = done.output.decode(errors="backslashreplace").splitlines()[-3:]
                raise StepFailed(f"--{name} {shlex.quote(command)}: {done.failure}: {' | '.join(tail)[-TAIL:]}")

    def preserve(self, tests: Sequence[str]) -> None:
        """Run the tests once in C, then copy the tree: all later tests start with this copy."""
        for command in tests:
            self.run(command, {}, self.limits.test_seconds)
        self.in_work(f"{COPY} {PROJECT} {PRISTINE}", [])

    def restore(self) -> None:
        """Restore the tree of the project to its state after the build."""
        tree = self.place / WORK / PROJECT
        now = read_tree(tree)
        if self._tree is None:
            self.in_work(COPY_ALL, [])
        elif made := restore_script(self._tree, now):
            self.in_work(*made)
        else:
            return
        self._tree = read_tree(tree)

    def in_work(self, script: str, words: Sequence[str]) -> bytes:
        """Run a shell script in the parent directory of project and target directory; return its output.

        Raises StepFailed.
        """
        command = ["sh", "-c", script, "sh", *words]
        done = self._run(self.place / WORK, {"PATH": PATH}, command, CommandLimit(self.limits.build_seconds))
        if done.failure:
            raise StepFailed(f"the source tree cannot be copied: {done.failure}: {done.output[-TAIL:]!r}")
        return done.output

    def test(self, command: str, environment: Mapping[str, str], limit: CommandLimit = UNLIMITED) -> CommandResult:
        """Run a test command of the project in the built tree, with variables for the slot runtime."""
        self.restore()
        return self.run(command, environment, min(limit.seconds, self.limits.test_seconds), limit.cpu_seconds)

    def run(
        self, command: str, environment: Mapping[str, str], seconds: float, cpu_seconds: float = inf
    ) -> CommandResult:
        """Run a command in the project, with the compilers that insert slots."""
        log = self.place / HOME / LOG
        log.unlink(missing_ok=True)
        words = ["sh", "-c", command] if SHELL_OPERATORS.search(command) else shlex.split(command)
        variables = {
            "PATH": f"{self.place}/{WRAPPERS}:{self._path}",
            "CC": "cc",
            "JARVIS_C2RUST_ROOT": f"{self.place}/{WORK}/{PROJECT}",
            "JARVIS_C2RUST_CACHE": f"{self.place}/{HOME}/cache",
            "JARVIS_C2RUST_LOG": str(log),
            **environment,
        }
        return self._run(self.place / WORK / PROJECT, variables, words, CommandLimit(seconds, cpu_seconds), log)

    def write_crate(self, contents: Mapping[str, str | bytes]) -> None:
        """Replace the files of the crate, which are read-only in the sandbox; unchanged files keep their times.

        The vendored crates that it uses are added.
        """
        crate, completed = self.place / CRATE, self._crates.complete(contents)
        self._is_locked, contents = completed is None, completed or contents
        digest = sha256()
        for path in crate.rglob("*"):
            if not path.is_dir() and str(path.relative_to(crate)) not in contents:
                path.unlink()
        for name, content in contents.items():
            written = content.encode() if isinstance(content, str) else content
            write_if_changed(crate / name, written + (REBUILD.encode() if name == ROOT_MODULE else b""))
            digest.update(f"{name}\0{len(written)}\0".encode() + written)
        self._content = digest.hexdigest()

    def build_library(self) -> tuple[bool, tuple[CargoMessage, ...]]:
        """Build the library of the crate for the gates; return whether it was built, and the messages."""
        fallback = self.library.with_name(FALLBACK_LIBRARY)
        built = self.place / HOME / FALLBACK_LIBRARY
        command = f"cc -shared -fPIC -w -Wl,-soname,{FALLBACK_LIBRARY} {FALLBACK} -o".split()
        done = self._run(
            self.place / CRATE, {"PATH": self._path}, [*command, str(built)], CommandLimit(self.limits.build_seconds)
        )
        if done.failure:
            return False, (CargoMessage("error", "", f"{FALLBACK}: {done.failure}: {done.output[-TAIL:]!r}"),)
        copy_untrusted(built, fallback)
        # Only for this crate: build scripts and macros of others run without the fallback library.
        is_built, messages, _ = self.cargo("rustc", "--lib", rustc=(*RUST_FLAGS.split(), "-C", f"link-arg={fallback}"))
        self.library.unlink(missing_ok=True)
        if is_built:
            copy_untrusted(self.place / WORK / TARGET / "debug" / LIBRARY, self.library)
        return is_built, messages

    def cargo(
        self, *words: str, flags: str = "", rustc: Sequence[str] = ()
    ) -> tuple[bool, tuple[CargoMessage, ...], float]:
        """Run a command of cargo; return whether it succeeded, its messages, and the CPU seconds.

        `flags` apply to all crates, those for `rustc` to the crate of the bench.
        """
        if not self._is_locked and (done := _lock(self)).failure:
            return False, (_cargo_failure(done),), done.seconds
        self._is_locked = True
        done = _cargo(self, self.place / CRATE, [*words, MESSAGES, *(["--", *rustc] if rustc else [])], flags)
        messages = tuple(read_messages(done.output))
        if done.failure and not any(message.level == "error" for message in messages):
            messages = (*messages, _cargo_failure(done))
        return not done.failure, messages, done.seconds

    def _run(
        self,
        directory: Path,
        variables: Mapping[str, str],
        words: Sequence[str],
        limit: CommandLimit,
        log: Path | None = None,
    ) -> CommandResult:
        assignments = [f"{name}={value}" for name, value in variables.items()]
        script = 'cd "$1" && shift && exec env "$@" 2>&1'
        argv = ["sh", "-c", script, "sh", str(directory), *assignments, *words]
        outcome = self._box.run(argv, limits=self.limits.of(*limit))
        if outcome.reason in (FREE_DISK, FREE_MEMORY):
            raise StepFailed(f"not enough free {outcome.reason.replace('free ', '')} on this machine to build and test")
        output = outcome.stdout + outcome.stderr
        return CommandResult(
            outcome.code, failure_of(outcome), outcome.cpu_seconds, output, read_untrusted(log) if log else b""
        )


def _lock(bench: ProjectBench) -> CommandResult:
    """Write the lock file of a crate with dependencies; cargo computes it in a directory that it can write to."""
    crate, place = bench.place / CRATE, bench.place / WORK
    bench.in_work(LOCK_SCRIPT, [str(crate)])
    done = _cargo(bench, place / "lock", ["fetch"])
    if not done.failure:
        write_if_changed(crate / LOCK_FILE, read_untrusted(place / "lock" / LOCK_FILE))
    return done


def _cargo(bench: ProjectBench, crate: Path, words: Sequence[str], flags: str = "") -> CommandResult:
    variables = {
        "PATH": bench._path,
        "CARGO_HOME": f"{bench.place}/{HOME}/cargo",
        "CARGO_TARGET_DIR": f"{bench.place}/{WORK}/{TARGET}",
        "RUSTFLAGS": flags,
        "CARGO_TERM_COLOR": "never",
        CONTENT: bench._content,
        "CC": "cc",
    }
    command = cargo_command(crate, words[0], words[1:])
    bench.target.renew()
    done = bench._run(crate, variables, command, CommandLimit(bench.limits.build_seconds))
    bench.target.keep()
    return done


def _cargo_failure(done: CommandResult) -> CargoMessage:
    return CargoMessage("error", "", f"cargo: {done.failure}: {error_line(done.output) or repr(done.output[-TAIL:])}")
