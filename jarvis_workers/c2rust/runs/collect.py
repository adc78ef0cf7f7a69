"""Collect the names of the functions that headers declare: the roots of a translation, seed 001 "collector"."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from jarvis_workers.builds.compile_sources import CompileOptions, compile_commands_of
from jarvis_workers.builds.unit_forks import UnitLimits, UnitNotRead, read_declared_functions
from jarvis_workers.c2rust.runs.project_files import ROOTS, Words, write_file
from jarvis_workers.c2rust.symbol_lines import name_lines
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.settings import Settings
from jarvis_workers.source.clang.unit import CompileCommand, language_of
from jarvis_workers.toolchain.headers import builtin_headers

HEADER_SUFFIXES = (".h", ".hh", ".hpp", ".hxx")


@dataclass(frozen=True, slots=True)
class CollectedNames:
    """The unique names in the order of the headers; `warnings` mostly concern headers without names."""

    names: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Project:
    """The root prefix of paths in arguments, and the compile commands of the sources below the root."""

    root: Path
    commands: tuple[CompileCommand, ...] = ()
    warnings: tuple[str, ...] = ()


def collect_names(
    files: Iterable[Path], root: Path, options: CompileOptions, clang_headers: str | None = None
) -> CollectedNames:
    """Return the functions that the headers among the files declare; a header that cannot be parsed causes a warning.

    A header is parsed with the arguments of a nearby source below `root`.  `clang_headers` is the setting.  Raises
    UsageError if no file is a header, or no header can be parsed.
    """
    chosen = list(files)
    skipped = [file for file in chosen if file.suffix not in HEADER_SUFFIXES]
    warnings = [f"{file}: skipped, not a header ({', '.join(HEADER_SUFFIXES)})" for file in skipped]
    if len(skipped) == len(chosen):
        raise UsageError("; ".join(warnings) or "none of the files is a header")
    headers, project = builtin_headers(clang_headers), _project(root, options)
    answers = {file: _declared(file, project, headers) for file in chosen if file not in skipped}
    failed = [f"{file}: {answer.reason}" for file, answer in answers.items() if isinstance(answer, UnitNotRead)]
    if len(failed) == len(answers):
        raise UsageError(f"no header can be parsed: {'; '.join(failed)}")
    read = [answer for answer in answers.values() if not isinstance(answer, UnitNotRead)]
    names = dict.fromkeys(name for declared in read for name in declared)
    warnings += [f"cannot be parsed: {line}" for line in failed]
    return CollectedNames(tuple(names), (*project.warnings, *warnings))


def write_names(collected: CollectedNames, root: Path, out: Path | None = None, say: Words | None = None) -> Path:
    """Write the names, by default to roots.txt of the project; raises UsageError."""
    if out is None:
        return write_file(root, ROOTS, name_lines(collected.names), say)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        return write_whole(out, name_lines(collected.names))
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from error


def compile_options(settings: Settings, cc_root: Path | None = None) -> CompileOptions:
    """Return the options for a compile_commands.json in a directory, or for the one that a scan would find."""
    return CompileOptions.from_settings(settings, cc_root)


def _project(root: Path, options: CompileOptions) -> _Project:
    """Return the compile commands of the sources; without sources, the root is the include directory."""
    try:
        plan = compile_commands_of(root, options)
    except UsageError as problem:
        if options.compile_commands is not None:
            raise
        return _Project(root.resolve(), warnings=(f"headers are parsed without compile commands: {problem}",))
    return _Project(plan.tree.resolve(), plan.commands, plan.warnings)


def _declared(file: Path, project: _Project, headers: Path) -> tuple[str, ...] | UnitNotRead:
    path = file.resolve()
    if not path.is_file():
        return UnitNotRead("no such file")
    inside = path.is_relative_to(project.root)
    root = project.root if inside else path.parent
    header = os.fsencode(path.relative_to(root))
    arguments = tuple(_arguments(header, project.commands)) if inside else ()
    (answer,) = read_declared_functions(root, [header], arguments, headers, UnitLimits())
    return answer


def _arguments(header: bytes, commands: Sequence[CompileCommand]) -> Iterator[str]:
    """Yield the arguments of the nearest source: of the same language, the same directory, the same name."""
    language = language_of(CompileCommand(header, b"", ()))
    yield "-I{root}"
    if not commands:
        return

    path = PurePath(os.fsdecode(header))

    def distance(command: CompileCommand) -> tuple[bool, int, bool, bytes]:
        source = PurePath(os.fsdecode(command.file))
        shared = len({path.parent, *path.parent.parents} & {source.parent, *source.parent.parents})
        return language_of(command) != language, -shared, source.stem != path.stem, command.file

    nearest = min(commands, key=distance)
    if language_of(nearest) != language:
        yield from ("-x", language_of(nearest))
    yield from nearest.arguments
