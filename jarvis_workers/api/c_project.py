"""Functions that read the units of C projects, with the names of the original scanner.

The settings of the command line apply, such as c2rust.args.  Units are read in forked processes: call these functions
only from single-threaded processes.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from jarvis_workers.api.user_settings import user_settings
from jarvis_workers.builds.compile_arguments import C_SUFFIXES, CPP_SUFFIXES
from jarvis_workers.builds.compile_sources import DATABASE, CompileOptions, compile_commands_of
from jarvis_workers.builds.local_tree import local_tree, project_files
from jarvis_workers.builds.unit_forks import UnitLimits, UnitNotRead, read_units
from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.runs.collect import collect_names, compile_options, write_names
from jarvis_workers.c2rust.runs.project_files import SYMBOLS, delayed_entries, directory_of, write_project
from jarvis_workers.errors import UsageError
from jarvis_workers.settings import Settings
from jarvis_workers.source.clang.unit import CompileCommand, Unit
from jarvis_workers.source.clang.unit_json import decode_unit
from jarvis_workers.toolchain.headers import builtin_headers

StrPath = str | os.PathLike[str]


def find_compile_commands(start: StrPath) -> Path | None:
    """Return the compile_commands.json of a directory, of a `build*` in it, or of the nearest directory above."""
    root = Path(start).absolute()
    for directory in (root, *sorted(root.glob("build*")), *root.parents):
        if (directory / DATABASE).is_file():
            return directory / DATABASE
    return None


def load_compile_commands(path: StrPath, root: StrPath | None = None) -> tuple[CompileCommand, ...]:
    """Return the compile commands of the units of a project; `root` is its directory, by default that of the file.

    Raises UsageError for a broken file.
    """
    options = CompileOptions(compile_commands=Path(path))
    return compile_commands_of(Path(root) if root is not None else Path(path).parent, options).commands


def iter_source_files(root: StrPath) -> Iterator[Path]:
    """Yield the C and C++ sources below a directory in order, without headers; raises UsageError."""
    tree = local_tree(Path(root))
    for name in sorted(project_files(tree).includes):
        if name.rpartition(".")[2] in (*C_SUFFIXES, *CPP_SUFFIXES):
            yield Path(root, name)


def scan_file(file: StrPath, root: StrPath = ".", arguments: Iterable[str] = ()) -> Unit:
    """Read one source below `root` with the arguments of the compiler, in a separate process.

    A unit with `errors` is incomplete.  Raises UsageError if it cannot be read.
    """
    top, path = Path(root).resolve(), Path(file).resolve()
    if not path.is_relative_to(top):
        raise UsageError(f"{file} is not below {root}")
    if not path.is_file():
        raise UsageError(f"{file}: {'not a regular file' if path.exists() else 'no such file'}")
    command = CompileCommand(os.fsencode(path.relative_to(top)), b".", tuple(arguments))
    (unit,) = _read(user_settings(), top, [command], allow_errors=True)
    return unit


def scan_directory(root: StrPath, compile_commands: StrPath | None = None, *, allow_errors: bool = False) -> Path:
    """Read all units of a project one after the other, and write the project's files; return the path of symbols.jsonl.

    For large projects use run_scan, which uses all processors.  Raises UsageError if a unit cannot be read or, without
    `allow_errors`, if it has errors: nothing is written then.
    """
    database = Path(compile_commands) if compile_commands is not None else None
    settings = user_settings()
    plan = compile_commands_of(Path(root), compile_options(settings, database))
    graph = link_units(_read(settings, plan.tree, plan.commands, allow_errors=allow_errors))
    write_project(Path(root), graph, translation_order(graph, delayed_entries()))
    return directory_of(Path(root)) / SYMBOLS


def collect_function_names(
    files: Iterable[StrPath], out_path: StrPath, compile_commands_root: StrPath | None = None
) -> Path:
    """Write the unique names of the functions that headers declare, one per line; raises UsageError.

    Other files, and headers that cannot be parsed, are left out.
    """
    cc_root = Path(compile_commands_root) if compile_commands_root is not None else None
    settings = user_settings()
    collected = collect_names(
        map(Path, files), Path(), compile_options(settings, cc_root), settings.c2rust.clang_headers
    )
    return write_names(collected, Path(), Path(out_path))


def _read(settings: Settings, root: Path, commands: Iterable[CompileCommand], *, allow_errors: bool) -> Iterator[Unit]:
    listed = list(commands)
    answers = read_units(root.resolve(), listed, builtin_headers(settings.c2rust.clang_headers), UnitLimits())
    for command, answer in zip(listed, answers, strict=True):
        name = os.fsdecode(command.file)
        if isinstance(answer, UnitNotRead):
            raise UsageError(f"{name}: {answer.reason}")
        unit = decode_unit(answer)
        if unit.errors and not allow_errors:
            first = unit.errors[0]
            raise UsageError(f"{name}: {os.fsdecode(first.file)}:{first.line}: {first.message}")
        yield unit
