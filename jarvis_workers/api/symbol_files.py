"""Functions for the symbols of a scanned C project, with the names of the original scanner.

The argument `db_path` is the file of the symbols, its directory, or the root of a project.
"""

from collections.abc import Iterable
from pathlib import Path

from jarvis_workers.api.choices import StrPath
from jarvis_workers.c2rust.dot import dot_lines
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.runs.graph_files import write_subgraphs
from jarvis_workers.c2rust.runs.project_files import (
    ORDER,
    delayed_entries,
    directory_of,
    read_symbol_file,
    symbol_file_in,
)
from jarvis_workers.c2rust.symbol_lines import order_lines
from jarvis_workers.c2rust.symbol_reader import SymbolFile, compute_order
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.atomic_write import write_whole


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
