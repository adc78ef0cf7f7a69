"""Functions for C projects, with the names of the original scanner: read units, and work with the files of a scan.

The argument `db_path` is the file of the symbols, its directory, or the root of a project.  The settings of the command
line apply, such as c2rust.args.  Units are read in forked processes: call these functions only from single-threaded
processes.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from jarvis_workers.api.user_settings import user_settings
from jarvis_workers.builds.compile_arguments import C_SUFFIXES, CPP_SUFFIXES
from jarvis_workers.builds.compile_sources import DATABASE, CompileOptions, compile_commands_of
from jarvis_workers.builds.local_tree import local_tree, project_files
from jarvis_workers.builds.unit_forks import UnitLimits, UnitNotRead, read_units
from jarvis_workers.c2rust.dot import dot_lines
from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.runs.collect import collect_names, compile_options, write_names
from jarvis_workers.c2rust.runs.graph_files import write_subgraphs
from jarvis_workers.c2rust.runs.project_files import (
    ORDER,
    SYMBOLS,
    delayed_entries,
    directory_of,
    read_symbol_file,
    symbol_file_in,
    write_project,
)
from jarvis_workers.c2rust.symbol_lines import order_lines
from jarvis_workers.c2rust.symbol_reader import SymbolFile, compute_order
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.atomic_write import write_whole
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


def find_root_function_ids(db_path: StrPath) -> list[int]:
    """Return the ids of the functions that no other function calls, or of all functions if there are none."""
    return list(find_roots(_symbols(db_path)[1].graph))


def compute_translation_order_jsonl(db_path: StrPath, out_path: StrPath | None = None) -> Path:
    """Write the translation order, by default next to the symbols; entry points named by the environment come last."""
    path, symbols = _symbols(db_path)
    steps = compute_order(symbols, delayed_entries())
    return _written(Path(out_path) if out_path else path.parent / ORDER, order_lines(symbols.graph, steps))


def generate_dot_from_db(db_path: StrPath, out_path: StrPath) -> Path:
    """Write the graph of calls and of addresses taken as DOT."""
    return _written(Path(out_path), dot_lines(_symbols(db_path)[1].graph))


def export_root_subgraphs_to_dir(db_path: StrPath, out_dir: StrPath) -> list[Path]:
    """Write the functions that each root reaches as DOT, one file per root."""
    return write_subgraphs(_symbols(db_path)[1].graph, Path(out_dir))


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


def symbol_place(db_path: StrPath) -> tuple[Path, Path]:
    """Return the file of the symbols, and the root of its project. Raises UsageError."""
    path = Path(db_path)
    if path.is_dir():
        file = symbol_file_in(path) or symbol_file_in(directory_of(path))
        if file is None:
            raise UsageError(f"no symbols in {path}; scan the project first")
        path = file
    is_ours = path.absolute().parent.parts[-2:] == directory_of(Path("/")).parts[-2:]
    return path, path.absolute().parents[2] if is_ours else path.parent


def _symbols(db_path: StrPath) -> tuple[Path, SymbolFile]:
    path, root = symbol_place(db_path)
    return path, read_symbol_file(path, root)


def _written(path: Path, lines: Iterable[str]) -> Path:
    try:
        return write_whole(path, lines)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
