"""The files in <root>/.jarvis/c2rust, through which c2rust commands exchange results with each other and with users.

Each file is written atomically.
"""

import filecmp
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.c2rust.report.body import ScanBody
from jarvis_workers.c2rust.runs.scan_report import gap_warnings, read_scan_report
from jarvis_workers.c2rust.symbol import OrderStep, SymbolGraph
from jarvis_workers.c2rust.symbol_lines import order_lines, symbol_lines
from jarvis_workers.c2rust.symbol_reader import SymbolFile, TranslationOrder, compute_order, read_order, read_symbols
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import read_regular
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.jarvis_directory import make_directory

SIGNATURES, CRATE_PLAN = "signatures.jsonl", "crate_plan.yaml"
SYMBOLS, RAW_SYMBOLS, ORDER, ROOTS = "symbols.jsonl", "symbols_raw.jsonl", "translation_order.jsonl", "roots.txt"
# A copy of symbols.jsonl after the replacement of functions by libraries.
PRUNED_SYMBOLS = "symbols_library_pruned.jsonl"
# The edited symbols.jsonl of a user, if a scan replaces it.
EDITED_SYMBOLS = "symbols.jsonl.orig"
# Names of entries to translate last, in addition to `main`; older versions used the second and third variable.
DELAYED_ENTRIES = ("JARVIS_C2RUST_DELAY_ENTRY_SYMBOLS", "JARVIS_C2RUST_DELAY_ENTRIES", "C2RUST_DELAY_ENTRIES")
# 100,000 symbols take about 80 MB.
FILE_MB_MAX = 1024


Words = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ProjectSymbols:
    """The symbols of a project with their order; `warnings` are lines about problems in the files.

    `report` is the report of the scan that wrote the symbols, if it exists.
    """

    root: Path
    symbols: SymbolFile
    order: TranslationOrder
    warnings: tuple[str, ...] = ()
    report: ScanBody | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """The warnings, and lines about units that were not read, whose symbols are missing."""
        return (*self.warnings, *gap_warnings(self.report))

    @property
    def graph(self) -> SymbolGraph:
        return self.symbols.graph


def directory_of(root: Path) -> Path:
    return root / ".jarvis" / "c2rust"


def read_project(root: Path, delayed: Collection[str] | None = None) -> ProjectSymbols:
    """Return the contents of the files of a project; the order is recomputed if its file cannot be used.

    `delayed` are the entries to order last, by default those of the environment.  Raises UsageError if there are no
    symbols, or if a line is invalid.
    """
    directory = directory_of(root)
    path = symbol_file_in(directory)
    if path is None:
        raise UsageError(f"no symbols in {directory}; scan the project first: jarvis c2rust scan -p {root}")
    symbols = read_symbol_file(path, root)
    order_path = directory / ORDER
    lines = read_lines(order_path) if order_path.exists() else None
    order = read_order(lines, symbols, delayed_entries() if delayed is None else delayed)
    computed = (f"{order_path} {order.reason}: the order was recomputed",) if order.reason else ()
    return ProjectSymbols(root, symbols, order, (*symbols.warnings, *computed), read_scan_report(directory))


def symbol_file_in(directory: Path) -> Path | None:
    """Return the symbol file to use in a directory: symbols.jsonl, or symbols_raw.jsonl if there is none."""
    return next((path for path in (directory / SYMBOLS, directory / RAW_SYMBOLS) if path.is_file()), None)


def read_symbol_file(path: Path, root: Path) -> SymbolFile:
    """Return the symbols of a file; raises UsageError."""
    return read_symbols(read_lines(path), str(path), os.fsencode(root.absolute()))


def write_project(root: Path, graph: SymbolGraph, steps: Iterable[OrderStep], say: Words | None = None) -> list[Path]:
    """Write symbols_raw.jsonl, symbols.jsonl and translation_order.jsonl; return their paths."""
    keep_edited(directory_of(root), say)
    files = {RAW_SYMBOLS: symbol_lines(graph), SYMBOLS: symbol_lines(graph), ORDER: order_lines(graph, steps)}
    return [write_file(root, name, lines, say) for name, lines in files.items()]


def keep_edited(directory: Path, say: Words | None = None) -> None:
    """Rename symbols.jsonl before it is replaced if a user edited it; then call `say` with a notice."""
    edited, target = directory / SYMBOLS, directory / EDITED_SYMBOLS
    try:
        copies = [path for name in (RAW_SYMBOLS, PRUNED_SYMBOLS) if (path := directory / name).is_file()]
        if not copies or any(filecmp.cmp(edited, path, shallow=False) for path in copies):
            return
        edited.replace(target)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"cannot rename {edited}: {error.strerror}") from error
    if say:
        say(f"{edited} was edited after the last scan: renamed to {target.name}")


def write_file(root: Path, name: str, lines: Iterable[str], say: Words | None = None) -> Path:
    """Write one of the files of a project; raises UsageError.

    `say` is called with a line before .gitignore is extended.
    """
    directory = directory_of(root)
    try:
        make_directory(directory, own=True, say=say)
        return write_whole(directory / name, lines)
    except OSError as error:
        raise UsageError(f"cannot write {directory / name}: {error.strerror}") from error


def delayed_entries(environment: Mapping[str, str] = os.environ) -> frozenset[str]:
    """Return the names of the entry points that the environment delays, separated by commas, spaces or semicolons."""
    return frozenset(name for variable in DELAYED_ENTRIES for name in _names(environment.get(variable, "")))


def _names(text: str) -> Iterator[str]:
    return (name for name in re.split(r"[,;\s]+", text) if name)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file; raises UsageError if it cannot be read or is not UTF-8."""
    try:
        content = read_regular(path, FILE_MB_MAX * 2**20)
        if len(content) > FILE_MB_MAX * 2**20:
            raise UsageError(f"{path} is larger than {FILE_MB_MAX} MB")
        return content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}") from error


# Recompute the translation order of a project and write its file.


def write_new_order(project: ProjectSymbols, delayed: Collection[str] | None = None, say: Words | None = None) -> Path:
    """Write translation_order.jsonl; `delayed` are the entries to order last, by default those of the environment."""
    steps = compute_order(project.symbols, delayed_entries() if delayed is None else delayed)
    return write_file(project.root, ORDER, order_lines(project.graph, steps), say)
