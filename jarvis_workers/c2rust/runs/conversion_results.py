"""The results of a run that converts a C project: its report, the files of the project, and the crate."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jarvis_workers.c2rust.bench.crate_archive import files_of
from jarvis_workers.c2rust.conversion import Conversion, decode_conversion, failures
from jarvis_workers.c2rust.crate_layout import plan_text
from jarvis_workers.c2rust.report.conversion_json import conversion_json
from jarvis_workers.c2rust.report.conversion_text import advice as next_step
from jarvis_workers.c2rust.report.conversion_text import (
    conversion_markdown,
    conversion_text,
    summary,
    symbol_map_lines,
    unread_units,
)
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
from jarvis_workers.c2rust.runs.scan_results import read_artifact, words_of_run, write_new
from jarvis_workers.c2rust.stages.pipelines import PREPARE, RUN, SKELETON
from jarvis_workers.c2rust.stages.translated_bodies import AGAIN
from jarvis_workers.c2rust.stages.translated_bodies import STEP as TRANSLATE
from jarvis_workers.c2rust.stages.write_conversion import CONVERSION, CRATE, PAGE, PLANNED
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.run_kinds import Panel, StoredRun, text_panel
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import model_usage
from jarvis_workers.store.engine import Store
from jarvis_workers.store.translation_pause import REASON as PAUSE_REASON
from jarvis_workers.store.values import Run

PAUSE_ADVICE = (
    "go back to stage 3 or 1 of jarvis c2rust roadmap: check the signatures of these functions in"
    " .jarvis/c2rust/signatures.jsonl, make the C code clearer, or begin a new run with --notes, --escalate or a larger"
    " model"
)
SYMBOL_MAP, PROGRESS, CRATE_DIRECTORY = "symbol_map.jsonl", "progress.json", "crate"
FORMATS = ("text", "markdown", "json", "html")
# The stages with a job per function, whose label is its name.
BY_FUNCTION = (TRANSLATE, AGAIN)


def advice(run: Run) -> str:
    """Return what the gate of the roadmap's stage 5 advises for a run in which many functions step down, else ""."""
    return PAUSE_ADVICE if run.state == "paused" and (run.reason or "").startswith(PAUSE_REASON) else ""


def read_conversion(store: Store, blobs: Blobs, run: Run) -> Conversion:
    """Return the result of a run. Raises UsageError if it has none."""
    content = read_artifact(store, blobs, run, CONVERSION)
    if content is None:
        raise UsageError(f"run {run.id} is {run.state}: it has no crate{f' ({run.reason})' if run.reason else ''}")
    return decode_conversion(content)


def result_lines(store: Store, blobs: Blobs, run: Run) -> Iterator[str]:
    """Yield the lines of the result for a terminal."""
    pieces = conversion_text(read_conversion(store, blobs, run), _part(store, run), words_of_run(run))
    yield from (line.rstrip("\n") for line in pieces)


def outcome(store: Store, blobs: Blobs, run: Run) -> str:
    """Return the outcome of a run in one line, with the next step for the user."""
    conversion = read_conversion(store, blobs, run)
    first, *others = outcome_parts(conversion)
    parts = [f"run {run.id} is {run.state}: {first}", *others, next_step(conversion)]
    return "; ".join(part for part in parts if part)


def outcome_parts(conversion: Conversion) -> list[str]:
    """Return the summary of a conversion, its failures, and the number of units that were not read."""
    return [summary(conversion), *failures(conversion), *unread_units(conversion)]


def panel(stored: StoredRun) -> Panel | None:
    """Return the text report of an ended run, for its page."""
    return text_panel("conversion", stored)


def graph(stored: StoredRun) -> Iterator[str]:
    """Yield the interactive page of a run."""
    return render(stored, "html")


def render(stored: StoredRun, form: str) -> Iterator[str]:
    """Yield the pieces of a report. Raises UsageError for a format that is not available."""
    _, store, blobs, run = stored
    if form not in FORMATS:
        raise UsageError(f'--format: "{form}" is not a format for conversions; use one of {", ".join(FORMATS)}')
    conversion, part = read_conversion(store, blobs, run), _part(store, run)
    if form == "html":
        yield (read_artifact(store, blobs, run, PAGE) or b"").decode()
    elif form == "json":
        yield conversion_json(conversion, part)
    else:
        form_of = conversion_markdown if form == "markdown" else conversion_text
        yield from form_of(conversion, part, words_of_run(run))


def _part(store: Store, run: Run) -> dict[str, Any]:
    """Return the `run` part of a report, with the cost by stage, model and function if a model was asked."""
    part = run_part(store, run)
    if not part["model"]:
        return part
    with store.read() as session:
        usage = {
            "by_stage": model_usage.by_stage(session, run.id),
            "by_model": model_usage.by_model(session, run.id),
            "by_function": model_usage.by_label(session, run.id, BY_FUNCTION),
        }
    return part | {"model": part["model"] | usage}


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
