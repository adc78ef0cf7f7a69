"""A bench for proofs: a tree compiled with sanitizers, and programs that are linked with its objects and run.

Everything that runs here is untrusted.  The tree is compiled in a sandbox that may write the bench; the programs run in
another one, which may only read it.  The code under proof has the bytes of the snapshot.
"""

import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from jarvis_workers.errors import StepFailed
from jarvis_workers.sandbox.bench_files import read_untrusted
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.lease import leased_directory
from jarvis_workers.sandbox.limits import ANY_ADDRESS, MEGABYTE, CommandOutcome, SandboxLimits, Tier
from jarvis_workers.sandbox.sandbox import PATH, Sandbox, open_sandbox
from jarvis_workers.sandbox.seccomp import STATUS_DESCRIPTOR
from jarvis_workers.sec.bench.host_trouble import failure_of, last_lines, raise_for_host
from jarvis_workers.sec.bench.proof_compilers import (
    COMPILERS,
    COVERED,
    FUZZ_OBJECT,
    GCC,
    NAMES,
    NEEDED,
    SUPPORT_OBJECT,
    WRAPPER,
    ProofCompiler,
    installed_compilers,
    wrappers,
)
from jarvis_workers.sec.bench.proof_objects import COPY_MAINS, FUZZ_TARGET, CompiledTree, is_program, read_objects
from jarvis_workers.sec.proof.proof import ALLOCATION_MB, DISK_MB, GROWTH_MB, HANG_SHARE, MEMORY_MB, RUN_SECONDS
from jarvis_workers.source.languages import is_test
from jarvis_workers.toolchain import scratch

SUPPORT = Path(__file__).parent / "proof_support.c"
FUZZ_MAIN = Path(__file__).parent / "proof_fuzz_main.c"
PROJECT, OBJECTS, TOOLS, MADE, WRAPPERS, STATE = "project", "objects", "tools", "made", "bin", "state"
QUOTING = "quoting"
C_SUFFIXES, CPP_SUFFIXES = (".c",), (".cc", ".cpp", ".cxx", ".c++", ".C")
HEADER_SUFFIXES = (".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".def")
SOURCES_MAX, DIRECTORIES_MAX = 400, 64
STANDARD = frozenset(
    f"{name}.h"
    for name in (
        *("assert", "complex", "ctype", "errno", "fcntl", "features", "float", "inttypes", "limits", "locale", "math"),
        *("poll", "pthread", "sched", "setjmp", "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib"),
        *("string", "strings", "threads", "time", "unistd", "wchar", "wctype"),
    )
)
LIBRARIES = "-lm -lpthread -ldl"
PROGRAMS_MAX = 20
# The kernel counts the processes of all commands of a user, so that those of other benches take part of these.
PROCESSES = 512
# As many as the sandbox allows: more than tables of 256 descriptors have.
DESCRIPTORS = STATUS_DESCRIPTOR

COMPILE_ONE = """\
number=${1%%:*} file=${1#*:}
case $file in *.c) compiler=$C;; *) compiler=$CPP;; esac
$compiler @tools/flags -c "project/$file" -o "objects/$number.o" >/dev/null 2>"objects/$number.log"
grep -m 1 -E 'Resource temporarily|Cannot allocate|out of memory|Killed signal|No space left' "objects/$number.log" >&2
"""
# With one more object, readelf names each.
LIST = """\
find {where} -type f \\( -name '*.o' -o -name '*.a' \\) | LC_ALL=C sort | head -{most} > tools/objects
xargs -r -d '\\n' nm -A -P < tools/objects > tools/symbols 2>/dev/null
xargs -r -d '\\n' readelf -rW tools/support.o < tools/objects > tools/relocations 2>/dev/null
true
"""


@dataclass(frozen=True)
class ProofLimits:
    """Limits of the build and of a run: seconds, and megabytes of resident memory, of one allocation and of files.

    A run takes at most `run_seconds` of CPU time, and twice as long on a machine with other work. A program hangs if it
    has not ended after `hang_seconds` of CPU time, and grows if it holds `growth_mb` on the heap.
    """

    build_seconds: float = 600
    run_seconds: float = RUN_SECONDS
    memory_mb: int = MEMORY_MB
    allocation_mb: int = ALLOCATION_MB
    growth_mb: int = GROWTH_MB
    disk_mb: int = DISK_MB

    @property
    def hang_seconds(self) -> int:
        return max(1, int(self.run_seconds / HANG_SHARE))

    def of_build(self) -> SandboxLimits:
        """Return the limits of a command that compiles or links."""
        return SandboxLimits(
            wall_seconds=self.build_seconds,
            cpu_seconds=int(self.build_seconds),
            memory_bytes=self.memory_mb * MEGABYTE,
            processes=PROCESSES,
            file_bytes=1024 * MEGABYTE,
            files=1024,
            scratch_bytes=4096 * MEGABYTE,
            address_bytes=ANY_ADDRESS,
        )

    def of_fuzzing(self, seconds: float) -> SandboxLimits:
        """Return the limits of many runs together, the last of which may begin after so many seconds."""
        wall = seconds + 3 * self.run_seconds
        return self.of_run()._replace(wall_seconds=wall, cpu_seconds=int(wall))

    def of_run(self) -> SandboxLimits:
        """Return the limits of a program under proof."""
        return SandboxLimits(
            wall_seconds=2 * self.run_seconds,
            cpu_seconds=int(self.run_seconds),
            memory_bytes=self.memory_mb * MEGABYTE,
            processes=PROCESSES,
            file_bytes=self.disk_mb * MEGABYTE,
            files=DESCRIPTORS,
            scratch_bytes=self.disk_mb * MEGABYTE,
            output_bytes=64 * 1024,
            address_bytes=ANY_ADDRESS,
        )


@dataclass(frozen=True)
class ProofTree:
    """The tree to prove findings in: its directory, and how it is built.

    Without a build `command`, its files are compiled one by one; with one, `archive` is the whole project.  `covered`
    trees are compiled for libFuzzer, which follows what each input reaches.
    """

    root: Path
    snapshot_id: str
    command: str | None = None
    archive: bytes = b""
    covered: bool = False

    @cached_property
    def state(self) -> str:
        """The hash of everything that the objects depend on."""
        parts = [
            self.snapshot_id,
            self.command or "",
            sha256(self.archive).hexdigest(),
            *(f"{one.c} {one.flags}" for one in installed_compilers()),
            *([COVERED.flags] if self.covered else []),
            COMPILE_ONE,
            LIST,
            COPY_MAINS,
        ]
        texts = [SUPPORT.read_text(), FUZZ_MAIN.read_text(), WRAPPER]
        return sha256("\0".join([*parts, *texts]).encode()).hexdigest()


@contextmanager
def open_proof_bench(
    directory: Path, tree: ProofTree, limits: ProofLimits, tier: Tier, starter: Starter | None
) -> Iterator["ProofBench"]:
    """Yield a bench below a directory in which the tree is compiled.

    Raises StepFailed without a compiler that has sanitizers, or if the build command fails; HostExhausted.
    """
    if not installed_compilers():
        raise StepFailed(f"there is no {NAMES} on this machine, with which findings are proved")
    with leased_directory(directory, tree.state) as place:
        is_fresh = not (place / STATE).is_file() or (place / STATE).read_text() != tree.state
        if is_fresh:
            scratch.remove(str(place))
            place.mkdir(mode=0o700)
            (place / WORK).mkdir(mode=0o700)
        wrappers = place / WRAPPERS
        wrappers.mkdir(mode=0o700, exist_ok=True)
        with open_sandbox(
            place / WORK, tier=tier, starter=starter, workspace=place, readable=[wrappers, SUPPORT.parent]
        ) as box:
            bench = ProofBench(place, box, tree, limits, tier, starter)
            if is_fresh:
                bench.prepare()
                (place / STATE).write_text(tree.state)
            yield bench


class ProofBench:
    """A leased bench; see `open_proof_bench`."""

    def __init__(
        self, place: Path, box: Sandbox, tree: ProofTree, limits: ProofLimits, tier: Tier, starter: Starter | None
    ) -> None:
        self.place, self.box, self.tree, self.limits = place, box, tree, limits
        self.tier, self.starter = tier, starter
        self.work, self.project = place / WORK, place / WORK / PROJECT
        self._compiled: CompiledTree | None = None

    def prepare(self) -> None:
        """Compile the tree. Raises StepFailed."""
        self.shell(f"mkdir -p {OBJECTS} {TOOLS}")
        usable = self._usable_compilers()
        self._make_tools(usable[0])
        if self.tree.command is None:
            self._compile_files(usable[0])
        else:
            self._build(self.tree.command, usable)
            # The build may have replaced them, but for its choice of a compiler.
            self._make_tools(self.compiler if self.compiler in usable else usable[0])
        where = OBJECTS if self.tree.command is None else f"{PROJECT} {OBJECTS}"
        self.shell(LIST.format(where=where, most=SOURCES_MAX * 4))
        mains = "\n".join(one.path for one in self.compiled.objects if one.is_entry)
        self.shell(f"cd {TOOLS} && {COPY_MAINS}", mains)

    def _make_tools(self, compiler: ProofCompiler) -> None:
        """Compile what is linked with programs. Without builtins, no loop calls what the sanitizers replace."""
        parts = {SUPPORT_OBJECT: SUPPORT, FUZZ_OBJECT: FUZZ_MAIN}
        made = [
            f"{compiler.c} -O1 -fno-builtin -c {shlex.quote(str(file))} -o {TOOLS}/{name}"
            for name, file in parts.items()
        ]
        made.append(f"printf {compiler.family} > {TOOLS}/{NEEDED}")
        self.shell(" && ".join([f"rm -rf {TOOLS} {MADE}", f"mkdir {TOOLS}", *made]))

    @cached_property
    def compiler(self) -> ProofCompiler:
        """The compiler whose sanitizers the objects of the tree need."""
        if self.tree.covered:
            return COVERED
        name = read_untrusted(self.work / TOOLS / NEEDED).decode(errors="replace")
        return next((one for family, one in COMPILERS.items() if family == name), GCC)

    def _usable_compilers(self) -> list[ProofCompiler]:
        """Return the installed compilers with sanitizers. Raises StepFailed if there are none."""
        installed = [COVERED] if self.tree.covered else installed_compilers()
        usable = [one for one in installed if not self.shell(one.probe(TOOLS), check=False).code]
        if not usable:
            names = " and ".join(one.c for one in installed)
            raise StepFailed(f"{names} on this machine cannot link AddressSanitizer and UndefinedBehaviorSanitizer")
        return usable

    @property
    def compiled(self) -> CompiledTree:
        """The objects of the tree."""
        if self._compiled is None:
            tools = self.work / TOOLS
            texts = [
                read_untrusted(tools / name).decode(errors="replace") for name in ("symbols", "relocations", "sources")
            ]
            rows = (line.partition(":") for line in texts[2].split("\n") if line)
            sources = {f"{OBJECTS}/{number}.o": file for number, _, file in rows}
            self._compiled = read_objects(texts[0], texts[1], sources)
        return self._compiled

    def shell(self, script: str, *words: str, check: bool = True) -> CommandOutcome:
        """Run a shell script in the bench; raises StepFailed if it fails and `check` is set, HostExhausted."""
        argv = ["sh", "-c", f'PATH={PATH}; cd "$0" && {script}', str(self.work), *words]
        outcome = self.box.run(argv, limits=self.limits.of_build())
        raise_for_host(outcome, outcome.stderr)
        if check and (outcome.code or outcome.reason):
            raise StepFailed(f"the bench cannot be prepared: {failure_of(outcome)}: {last_lines(outcome.stderr)}")
        return outcome

    def programs(self) -> list[str]:
        """Return the paths of programs that the build command has made, from the root of the project."""
        found = (path for path in sorted(self.project.rglob("*")) if is_program(path) and ".so" not in path.suffixes)
        names = (str(path.relative_to(self.project)) for path in found)
        return [name for name in names if name.isprintable()][:PROGRAMS_MAX]

    def source(self, file: str) -> bytes:
        """Return a file of the compiled tree; b"" if it cannot be read."""
        return read_untrusted(self.project / file)

    def _compile_files(self, compiler: ProofCompiler) -> None:
        shutil.copytree(self.tree.root, self.project, symlinks=True)
        paths = sorted(str(path.relative_to(self.project)) for path in self.project.rglob("*") if path.is_file())
        sources = choose_sources(paths, self.source)
        flags = [compiler.flags, *include_flags(paths)]
        quoting = [compiler.flags, *include_flags(paths, quoting=True)]
        listed = "".join(f"{number}:{file}\n" for number, file in enumerate(sources))
        script = (
            f"cd {TOOLS} && printf '%s' \"$1\" > flags && printf '%s' \"$2\" > sources && printf '%s' \"$3\" > one.sh"
            f" && printf '%s' \"$4\" > {QUOTING}"
            f" && cd .. && xargs -r -d '\\n' -n 1 -P 2 sh {TOOLS}/one.sh < {TOOLS}/sources; true"
        )
        one = f"C={compiler.c} CPP={compiler.cpp}\n{COMPILE_ONE}"
        self.shell(script, "\n".join(flags), listed, one, "\n".join(quoting))

    def _build(self, command: str, usable: Sequence[ProofCompiler]) -> None:
        """Run the build command of the project, with compilers that add the sanitizers."""
        for name, text in wrappers(usable, self.work / TOOLS, self.work / OBJECTS):
            (self.place / WRAPPERS / name).write_text(text)
            (self.place / WRAPPERS / name).chmod(0o755)
        archive = self.place / WRAPPERS / "project.tar.gz"
        archive.write_bytes(self.tree.archive)
        self.shell(f'mkdir {PROJECT} && tar -xzf "$1" -C {PROJECT} --no-same-owner', str(archive))
        archive.unlink()
        script = f'cd {PROJECT} && PATH="$2:$PATH" sh -c "$1" >../{TOOLS}/build.log 2>&1'
        outcome = self.shell(script, command, str(self.place / WRAPPERS), check=False)
        if outcome.code or outcome.reason:
            log = read_untrusted(self.work / TOOLS / "build.log")
            raise_for_host(outcome, log)
            last = last_lines(log)
            raise StepFailed(f"--build {shlex.quote(command)}: {failure_of(outcome)}: {last}")


def choose_sources(paths: Sequence[str], read: Callable[[str], bytes]) -> list[str]:
    """Return the files to compile: C and C++ without tests, but with fuzz targets."""
    result = []
    for path in paths:
        is_source = path.endswith((*C_SUFFIXES, *CPP_SUFFIXES)) and path.isprintable()
        if is_source and (not is_test(path.encode("utf-8", "surrogateescape")) or FUZZ_TARGET.encode() in read(path)):
            result.append(path)
    return result[:SOURCES_MAX]


def include_flags(paths: Sequence[str], *, quoting: bool = False) -> list[str]:
    """Return the flags with which a compiler finds the headers of a tree before installed versions of them.

    Headers are included by their names or by longer paths.  A directory with headers that are named like those of the C
    library comes last, or with `quoting` is searched for names in quotes alone: gcc does not search a directory first
    and last.
    """
    headers = [path for path in paths if path.endswith(HEADER_SUFFIXES)]
    found = dict.fromkeys(path.rpartition("/")[0] for path in headers)
    above = dict.fromkeys(one.rpartition("/")[0] for one in found)
    places = [one for one in dict.fromkeys(["", *sorted(found, key=_depth), *sorted(above, key=_depth)])]
    flags = list[str]()
    for place in [one for one in places if one.isprintable()][:DIRECTORIES_MAX]:
        start = f"{place}/" if place else ""
        names = (path.removeprefix(start) for path in headers if path.startswith(start))
        last = any(name in STANDARD or name.startswith("sys/") for name in names)
        word = _word(f"{PROJECT}/{place}".rstrip("/"))
        flags += [f"-iquote {word}"]
        flags += [] if last and quoting else [f"{'-idirafter' if last else '-I'} {word}"]
    return flags


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _word(path: str) -> str:
    """Quote a path in a response file of a compiler."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
