"""The functions of the last conversion of a project with their C and Rust text, for `jarvis c2rust map`.

They come from a run in the results store or, without one, from symbol_map.jsonl and the crate beside the project.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.conversion import FunctionResult
from jarvis_workers.c2rust.function_map import read_map_lines, rust_texts
from jarvis_workers.c2rust.runs.conversion_files import SYMBOL_MAP, read_crate_files
from jarvis_workers.c2rust.runs.conversion_results import read_conversion
from jarvis_workers.c2rust.runs.crate_directory import MANIFEST, read_crate
from jarvis_workers.c2rust.runs.edited_crate import IN_RUST, find_crate
from jarvis_workers.c2rust.runs.project_files import directory_of, read_lines
from jarvis_workers.c2rust.stages.c_sources import c_texts
from jarvis_workers.c2rust.stages.pipelines import CONVERTING
from jarvis_workers.errors import SnapshotError, UsageError
from jarvis_workers.paths import from_shown, leaves_the_root
from jarvis_workers.runs import wiring
from jarvis_workers.runs.runs import find_run, newest_runs
from jarvis_workers.runs.scan_request import blobs_of

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.values import Run

WITH_RESULTS = ("done", "incomplete")
SOURCE_BYTES = 64_000_000


class MappedFunction(NamedTuple):
    """A function with its text in C and in Rust, "" if it is not known."""

    result: FunctionResult
    c: str
    rust: str


class ConversionMap(NamedTuple):
    """The functions of a conversion; `origin` names the run or the file that they come from."""

    origin: str
    functions: tuple[FunctionResult, ...]
    read_c: Callable[[Sequence[FunctionResult]], Mapping[str, str]]
    crate: Mapping[str, bytes]

    def with_texts(self, functions: Sequence[FunctionResult]) -> list[MappedFunction]:
        """Return functions with their texts."""
        c, rust = self.read_c(functions), rust_texts(self.crate, functions)
        return [MappedFunction(one, c.get(one.slot, ""), text) for one, text in zip(functions, rust, strict=True)]


def read_map(settings: "Settings", root: Path, named: str | None = None) -> ConversionMap:
    """Return the map of a run, by default the last conversion of a project, else of its files. Raises UsageError."""
    with wiring.store_of(settings) as store:
        run = _last(store, root) if named is None else find_run(store, named)
        if run is None:
            return _of_files(root)
        if run.kind not in CONVERTING:
            raise UsageError(f"run {run.id} is a {run.kind} run, and has no functions in Rust")
        blobs = blobs_of(settings)
        conversion, crate = read_conversion(store, blobs, run), read_crate_files(store, blobs, run)

    def read_c(functions: Sequence[FunctionResult]) -> Mapping[str, str]:
        try:
            return c_texts(blobs, run.snapshot_id, functions)
        except SnapshotError:
            return {}

    return ConversionMap(f"run {run.id}", conversion.functions, read_c, crate)


def _last(store: "Store", root: Path) -> "Run | None":
    raw = os.fsencode(os.path.realpath(root))
    return next(iter(newest_runs(store, 1, kinds=IN_RUST, root=raw, states=WITH_RESULTS)), None)


def _of_files(root: Path) -> ConversionMap:
    path = directory_of(root) / SYMBOL_MAP
    if not path.is_file():
        raise UsageError(f"{root}: no conversion of this project; convert it with: jarvis c2rust fast -p {root}")
    crate = find_crate(None, root)
    files = read_crate(crate)[1] if (crate / MANIFEST).is_file() else {}
    return ConversionMap(str(path), read_map_lines(read_lines(path), str(path)), lambda some: _texts(root, some), files)


def _texts(root: Path, functions: Sequence[FunctionResult]) -> dict[str, str]:
    """Return the C text of functions by slot, from files inside the project."""
    lines = {file: _source(root, file) for file in {one.file for one in functions}}
    return {one.slot: "\n".join(lines[one.file][one.line - 1 : one.end_line]) for one in functions}


def _source(root: Path, file: str) -> list[str]:
    raw = from_shown(file)
    if leaves_the_root(raw):
        return []
    try:
        path = Path(os.path.realpath(root / os.fsdecode(raw)))
        is_inside = path.is_relative_to(os.path.realpath(root)) and path.is_file()
        if not is_inside or path.stat().st_size > SOURCE_BYTES:
            return []
        return path.read_bytes().decode(errors="replace").split("\n")
    # Names that no file can have, too: they are too long, or contain NUL.
    except (OSError, ValueError):
        return []
