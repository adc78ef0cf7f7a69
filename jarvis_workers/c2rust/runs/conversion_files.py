"""The files that a conversion writes: those of the project, and its crate."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from jarvis_workers.c2rust.bench.crate_archive import CRATE, files_of
from jarvis_workers.c2rust.conversion import Conversion, decode_conversion
from jarvis_workers.c2rust.crate_layout import plan_text
from jarvis_workers.c2rust.report.conversion_text import symbol_map_lines
from jarvis_workers.c2rust.runs.conversion_results import read_conversion
from jarvis_workers.c2rust.runs.crate_directory import check_own, write_files
from jarvis_workers.c2rust.runs.project_files import (
    CRATE_PLAN,
    ORDER,
    RAW_SYMBOLS,
    SIGNATURES,
    SYMBOLS,
    directory_of,
    keep_edited,
    write_file,
)
from jarvis_workers.c2rust.runs.replacement_results import FILES as REPLACED_FILES
from jarvis_workers.c2rust.runs.result_files import read_artifact, write_new
from jarvis_workers.c2rust.stages.pipelines import PREPARE, RUN, SKELETON
from jarvis_workers.c2rust.stages.write_conversion import PLANNED
from jarvis_workers.errors import UsageError
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

SYMBOL_MAP, PROGRESS, CRATE_DIRECTORY = "symbol_map.jsonl", "progress.json", "crate"


def export_conversion(
    store: Store,
    blobs: Blobs,
    run: Run,
    directory: Path | None = None,
    *,
    say: Callable[[str], None] | None = None,
    paused: Run | None = None,
) -> list[Path]:
    """Write symbol_map.jsonl and progress.json, or signatures.jsonl and crate_plan.yaml; return their paths.

    By default they go to the project's directory.  Another `directory` gets the crate as well, in "crate"; `paused` is
    as for `write_crate`.
    """
    root = Path(os.fsdecode(run.root_raw))
    if directory is None and not root.is_dir():
        return []
    conversion = read_conversion(store, blobs, run)
    files = _files(run.kind, conversion)
    if run.kind == RUN:
        files |= _symbol_files(store, blobs, run) | _planned_files(store, blobs, run)
        keep_edited(directory or directory_of(root), say)
    if directory is None:
        return [write_file(root, name, lines, say) for name, lines in files.items()]
    crate = write_crate(store, blobs, run, directory / CRATE_DIRECTORY, paused)
    return [write_new(directory / name, lines) for name, lines in files.items()] + crate


def _symbol_files(store: Store, blobs: Blobs, run: Run) -> dict[str, list[str]]:
    """Return the files that `scan` and `lib-replace` write, from the artifacts of a run with all stages."""
    sources = {RAW_SYMBOLS: RAW_SYMBOLS, SYMBOLS: RAW_SYMBOLS, ORDER: ORDER} | {
        name: artifact for name, artifact in REPLACED_FILES.items() if read_artifact(store, blobs, run, artifact)
    }
    found = {name: read_artifact(store, blobs, run, artifact) for name, artifact in sources.items()}
    return {name: [content.decode()] for name, content in found.items() if content is not None}


def _files(kind: str, conversion: Conversion) -> dict[str, list[str]]:
    lines = list(symbol_map_lines(conversion))
    if kind == SKELETON:
        return {SIGNATURES: lines}
    if kind == PREPARE:
        return _plan_files(conversion)
    return {SYMBOL_MAP: lines, PROGRESS: [_progress(conversion)]}


def _plan_files(conversion: Conversion) -> dict[str, list[str]]:
    signed = (one for one in conversion.functions if one.rust_signature)
    modules = {one.rust_name.removeprefix("r#"): one.module for one in signed}
    return {SIGNATURES: list(symbol_map_lines(conversion)), CRATE_PLAN: [plan_text(modules, conversion.enums)]}


def _planned_files(store: Store, blobs: Blobs, run: Run) -> dict[str, list[str]]:
    """Return the files that `prepare` writes, from the artifact of a run with all stages."""
    content = read_artifact(store, blobs, run, PLANNED)
    return _plan_files(decode_conversion(content)) if content else {}


def _progress(conversion: Conversion) -> str:
    converted = [one.slot for one in conversion.functions if one.accepted]
    return json.dumps({"current": None, "converted": converted}, indent=1, ensure_ascii=False) + "\n"


def write_crate(store: Store, blobs: Blobs, run: Run, place: Path, paused: Run | None = None) -> list[Path]:
    """Write the crate of a run to a directory (`write_files`); return the paths of its files.

    The crate so far of a `paused` run, which `run` has made, replaces only an earlier one of that run.
    """
    if paused:
        check_own(place, paused.id)
    return write_files(place, read_crate_files(store, blobs, run), (paused or run).id)


def read_crate_files(store: Store, blobs: Blobs, run: Run) -> dict[str, bytes]:
    """Return the files of the crate of a run by name. Raises UsageError if it has none."""
    content = read_artifact(store, blobs, run, CRATE)
    if content is None:
        raise UsageError(f"run {run.id} has no crate")
    return files_of(content)
