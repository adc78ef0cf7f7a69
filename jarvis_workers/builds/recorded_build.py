"""Run the build of a project in the sandbox, over a copy of its tree, and record its compiler calls.

The tree is copied by a command in the sandbox as well: the limits apply to it, and its files belong to the user that
runs the build.  Compilers are found by name in PATH, where our wrappers come first; a build that calls a compiler by an
absolute path is not recorded.
"""

import contextlib
import functools
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.builds.build_directory import BuildDirectory, open_build_directory
from jarvis_workers.builds.command_words import BuildCommands, expand_responses
from jarvis_workers.builds.compile_arguments import language_of, read_call
from jarvis_workers.builds.compile_commands import (
    CompileCommands,
    Invocation,
    collect_commands,
    exclusion_warning,
    is_test_program,
)
from jarvis_workers.builds.local_tree import LocalTree, absolute, below
from jarvis_workers.errors import CommandFailed, SandboxError, UsageError
from jarvis_workers.sandbox.confine import HOME, WORK
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import FREE_DISK, FREE_MEMORY, MEGABYTE, CommandOutcome, SandboxLimits, Tier
from jarvis_workers.sandbox.sandbox import PATH, Sandbox, best_tier, open_sandbox, refusal
from jarvis_workers.snapshots.safe_read import read_file
from jarvis_workers.toolchain import compiler_wrapper

# Read the records of the compiler wrapper, which a hostile build may have forged.

RECORD_BYTES = 16_000_000
MOST_RECORDS = 1_000_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def read_records(parent: Path, name: str) -> list[Invocation]:
    """Return the recorded calls in the directory `name` of `parent`, in the order in which they were made.

    Raises UsageError if they cannot be read, which happens only if the build has written to the directory.
    """
    try:
        above = os.open(parent, _DIRECTORY)
        try:
            directory = os.open(name, _DIRECTORY, dir_fd=above)
        finally:
            os.close(above)
        try:
            names = sorted(file for file in os.listdir(directory) if file.endswith(".json"))  # noqa: PTH208
            if len(names) > MOST_RECORDS:
                raise UsageError(f"{parent / name}: more than {MOST_RECORDS} compiler calls")
            return [_read(directory, file) for file in names]
        finally:
            os.close(directory)
    except OSError as error:
        raise UsageError(f"{parent / name}: the recorded compiler calls cannot be read: {error.strerror}") from error


def _read(directory: int, file: str) -> Invocation:
    content = read_file(directory, os.fsencode(file), RECORD_BYTES)
    if isinstance(content, str):
        raise UsageError(f"{file}: a recorded compiler call cannot be read: {content}")
    try:
        return _invocation(json.loads(content), file)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(
            f"{file}: not a recorded compiler call; the build has written to the record directory"
        ) from error


def _invocation(record: dict[str, Any], file: str) -> Invocation:
    directory, words, responses = record["directory"], record["arguments"], record["responses"]
    if not isinstance(directory, str) or not all(isinstance(word, str) for word in words):
        raise TypeError
    texts = {str(name): str(text) for name, text in responses.items()}
    expanded = expand_responses(words, texts.get)
    if any("\0" in word for word in (directory, *expanded)):
        raise ValueError
    return Invocation(directory, tuple(expanded), None, file)


WRAPPERS, RECORDS, ELF = "bin", "records", b"\x7fELF"
COMPILER = re.compile(r"([a-z0-9_]+-[a-z0-9_-]+-)?(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|c99|c89)(-[0-9.]+)?")
SHELL_OPERATORS = re.compile(r"[|&;<>()$`*?\[#~\n]|^\w+=")
TAIL_LINES = 20
LINE_LENGTH = 300
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
REASONS = {
    "wall time": "longer than {seconds:g} s; raise c2rust.build_seconds",
    "memory": "more than {memory:g} MB of memory; raise c2rust.build_memory_mb",
    "disk": "more than {disk:g} MB of files; raise c2rust.build_disk_mb",
    FREE_DISK: "not enough free disk space for builds in data_dir; free some space",
    FREE_MEMORY: "not enough free memory on this machine; end other programs, or use another machine",
    "file size": "a file of more than {disk:g} MB; raise c2rust.build_disk_mb",
}


class BuildLimits(NamedTuple):
    """Limits of each command: seconds, total memory of its processes, and total size of the build's files.

    `tool_chains` are directories that it may read in addition to those of the system; their `bin` is in its PATH.
    """

    seconds: float = 1800
    memory_mb: float = 4096
    disk_mb: float = 8192
    tool_chains: tuple[Path, ...] = ()

    @property
    def of_sandbox(self) -> SandboxLimits:
        disk = int(self.disk_mb * MEGABYTE)
        return SandboxLimits(
            wall_seconds=self.seconds,
            cpu_seconds=max(1, int(self.seconds)),
            memory_bytes=int(self.memory_mb * MEGABYTE),
            processes=512,
            file_bytes=disk,
            files=1024,
            scratch_bytes=disk,
        )


class RecordedBuild(NamedTuple):
    """The results of a recorded build, in the copy of the tree at `directory.place / WORK`."""

    found: CompileCommands
    directory: BuildDirectory
    tree: LocalTree


class _Step(NamedTuple):
    """A command of the build: its name in errors, its text as given, and its words."""

    name: str
    command: str
    words: list[str]


def record_build(
    tree: Path,
    commands: BuildCommands,
    data: Path,
    limits: BuildLimits,
    *,
    tests: Sequence[str] = (),
    tier: Tier | None = None,
    on_command: Callable[[str], None] | None = None,
) -> RecordedBuild:
    """Run the commands over a copy of a tree, in the strongest sandbox tier or the given one.

    Then `tests` run, for what they compile, with whatever outcome; programs of the build compile nothing.
    Raises CommandFailed, and UsageError if nothing is compiled or no sandbox works.
    """
    for place in limits.tool_chains:
        if not place.is_absolute() or not place.is_dir():
            raise UsageError(f"c2rust.tool_chains: {place}: not the absolute path of a directory")
    steps = [
        _Step(f"{option} {shlex.quote(text)}", text, command_words(option, text)) for option, text in commands.given
    ]
    try:
        if why := refusal(tier or best_tier()):
            raise SandboxError(why)
        with Starter() as starter:
            opened = functools.partial(open_sandbox, starter=starter, tier=tier)
            directory = open_build_directory(tree, data)
            _copy(tree, directory.place, opened, limits)
            checks = [_Step("--test", text, command_words("--test", text)) for text in tests]
            _build(directory.place, steps, checks, opened, limits, on_command)
    except SandboxError as error:
        raise UsageError(f"{commands.given[0][0]}: builds run only in the sandbox: {error}") from error
    return _recorded(directory, steps[-1].name)


def _build(
    place: Path,
    steps: Sequence[_Step],
    checks: Sequence[_Step],
    opened: Callable[..., Sandbox],
    limits: BuildLimits,
    on_command: Callable[[str], None] | None,
) -> None:
    path = ":".join([PATH, *(f"{chain}/bin" for chain in limits.tool_chains)])
    wrappers = _write_wrappers(place, path)
    with opened(place / WORK, workspace=place, readable=[wrappers, *limits.tool_chains]) as box:
        for step in steps:
            if on_command:
                on_command(step.command)
            _run(box, step.name, [*_environment(wrappers, path), *step.words], limits)
        for check in checks:
            if _is_program(place / WORK, check.words[0]):
                continue
            if on_command:
                on_command(check.command)
            with contextlib.suppress(CommandFailed):
                _run(box, check.name, [*_environment(wrappers, path), *check.words], limits)


def _is_program(work: Path, name: str) -> bool:
    """Return whether a name is the path of a binary that the build has made."""
    if "/" not in name or name.startswith("/"):
        return False
    with contextlib.suppress(OSError), (work / name).open("rb") as file:
        return file.read(len(ELF)) == ELF
    return False


def _recorded(directory: BuildDirectory, name: str) -> RecordedBuild:
    local = LocalTree(os.path.realpath(directory.place / WORK))
    invocations = read_records(directory.place / HOME, RECORDS)
    found = collect_commands(invocations, local, is_unit=lambda path: _is_unit(path, local))
    if not found.commands:
        calls = f"{len(invocations)} compiler calls, none for a C or C++ file of the tree" if invocations else ""
        why = calls or "no compiler (cc, gcc, clang, …) was called by name through PATH"
        hint = "; add --build CMD" if name.startswith("--configure") else ""
        raise UsageError(f"{name}: compiled nothing: {why}{hint}")
    removed = {name for one in invocations for name in _removed(one, local)}
    warnings = (exclusion_warning("compiled, but not read: removed by the build", removed),) if removed else ()
    return RecordedBuild(found._replace(warnings=(*found.warnings, *warnings)), directory, local)


def _removed(invocation: Invocation, local: LocalTree) -> Iterator[str]:
    """Yield the deleted sources of a compiler call whose outputs still exist: such a call is not a configure test."""
    call = read_call(invocation.words, lambda path: path, lambda _: False)
    words = invocation.words
    named = next(
        (one[2:] or following for one, following in zip(words, (*words[1:], ""), strict=True) if one[:2] == "-o"), ""
    )
    for source in call.sources if call.compiles else ():
        path = absolute(source.name, invocation.directory)
        inside, base = below(path, local.root), source.name.rpartition("/")[2].rpartition(".")[0]
        product = named or (f"{base}.o" if "-c" in words else "a.out")
        is_project = inside is not None and language_of(source) is not None and not is_test_program(inside)
        if inside and is_project and not local.exists(path) and local.exists(absolute(product, invocation.directory)):
            yield f"{product} (from standard input)" if source.name == "-" else inside


def command_words(option: str, command: str) -> list[str]:
    """Return the words of a command of an option, or a shell that runs it. Raises UsageError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{option}: {str(error).lower()}: {command}") from error
    if not words:
        raise UsageError(f"{option}: give a command, such as {option} make")
    return ["sh", "-c", command] if SHELL_OPERATORS.search(command) else words


def _copy(tree: Path, place: Path, opened: Callable[..., Sandbox], limits: BuildLimits) -> None:
    """Copy the tree to place/WORK with modes and the times that `make` compares, but without the data directory."""
    root = os.path.realpath(tree)
    inside = below(str(place), root)
    own = inside.split("/")[0] if inside else ".jarvis"
    if inside and not own.startswith("."):
        raise UsageError(f"{place}: the data directory is inside the tree; set data_dir to another directory")
    names = sorted(name for name in os.listdir(root) if name not in (own, ".jarvis"))  # noqa: PTH208
    with opened(Path(root), workspace=place) as box:
        copy = (
            ["cp", "-R", "-P", "--preserve=mode,timestamps,links", "-t", f"{place}/{WORK}", "--", *names]
            if names
            else ["true"]
        )
        _run(box, f"{tree}: cannot be copied to {place}", copy, limits)


def _write_wrappers(place: Path, path: str) -> Path:
    """Write a wrapper for each compiler in a PATH, and return their directory."""
    wrappers, script = place / WRAPPERS, Path(compiler_wrapper.__file__)
    wrappers.mkdir(mode=0o755)
    shutil.copyfile(script, wrappers / "record.py")
    records = f"{place}/{HOME}/{RECORDS}"
    python = [os.path.realpath(sys.executable), "-I", "-S", str(wrappers / "record.py"), records]
    for name, compiler in _compilers(path).items():
        (wrappers / name).write_text(f'#!/bin/sh\nexec {shlex.join([*python, compiler])} "$@"\n')
        (wrappers / name).chmod(0o755)
    return wrappers


def _compilers(path: str) -> dict[str, str]:
    """Return the compilers in a PATH, by name."""
    found: dict[str, str] = {}
    for place in path.split(":"):
        for name in os.listdir(place) if Path(place).is_dir() else ():  # noqa: PTH208
            if COMPILER.fullmatch(name):
                found.setdefault(name, f"{place}/{name}")
    return found


def _environment(wrappers: Path, path: str) -> list[str]:
    return ["env", f"PATH={wrappers}:{path}", "CC=cc", "CXX=c++"]


def _run(box: Sandbox, name: str, argv: list[str], limits: BuildLimits) -> None:
    """Run a command with stderr redirected to its output; raise CommandFailed with the last lines if it fails."""
    outcome = box.run(["sh", "-c", 'mkdir -p "$HOME/records"; exec "$@" 2>&1', "sh", *argv], limits=limits.of_sandbox)
    if outcome.code != 0:
        output = COLOURS.sub(b"", outcome.stdout + outcome.stderr)
        lines = output.decode(errors="backslashreplace").splitlines()[-TAIL_LINES:]
        raise CommandFailed(f"{name}: {_failure(outcome, limits)}", [line[:LINE_LENGTH] for line in lines])


def _failure(outcome: CommandOutcome, limits: BuildLimits) -> str:
    if outcome.reason in REASONS:
        return REASONS[outcome.reason].format(seconds=limits.seconds, memory=limits.memory_mb, disk=limits.disk_mb)
    if outcome.reason:
        return f"exceeded the limit on {outcome.reason}"
    return f"exit code {outcome.code}" if outcome.signal is None else f"killed by signal {outcome.signal}"


def _is_unit(path: str, local: LocalTree) -> bool:
    """Return whether a compiled file belongs to the tree, or is generated and still exists."""
    inside = below(path, local.root)
    return inside is not None and not is_test_program(inside) and local.exists(path)
