"""The results of a run that writes the bodies of a given interface: its report and its crate."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from jarvis_workers.c2rust.interface_result import InterfaceResult, decode_result
from jarvis_workers.c2rust.runs.conversion_files import write_crate
from jarvis_workers.c2rust.runs.result_files import read_artifact
from jarvis_workers.c2rust.stages.merge_interface import RESULT
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.run_kinds import Panel, StoredRun, text_panel
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.words import ENGLISH, cost_text

FORMATS = ("text", "json")


def read_interface_result(store: Store, blobs: Blobs, run: Run) -> InterfaceResult:
    """Return the result of a run. Raises UsageError if it has none."""
    content = read_artifact(store, blobs, run, RESULT)
    if content is None:
        raise UsageError(f"run {run.id} is {run.state}: it has no crate{f' ({run.reason})' if run.reason else ''}")
    return decode_result(content)


def interface_lines(store: Store, blobs: Blobs, run: Run, most: int | None = None) -> Iterator[str]:
    """Yield the result for a terminal, with at most this many failures."""
    result, part = read_interface_result(store, blobs, run), run_part(store, run)
    yield result.summary
    failures = list(result.failures())
    yield from (f"  {line}" for line in islice(failures, most))
    if most is not None and len(failures) > most:
        yield f"  and {len(failures) - most:,} more"
    if model := part["model"]:
        tokens = model["prompt"] + model["completion"]
        answers = ENGLISH.count(model["calls"], "answer")
        yield f"{model['group']}: {answers}, {tokens:,} tokens, {cost_text(part['cost'])}"


def panel(stored: StoredRun) -> Panel | None:
    """Return the text report of an ended run, for its page."""
    return text_panel("symbols", stored)


def render(stored: StoredRun, form: str) -> Iterator[str]:
    """Yield the pieces of a report. Raises UsageError for a format that is not available."""
    _, store, blobs, run = stored
    if form not in FORMATS:
        raise UsageError(f'--format: "{form}" is not for given interfaces; use {" or ".join(FORMATS)}')
    if form == "json":
        result = asdict(read_interface_result(store, blobs, run))
        yield json.dumps({"interface": result, "run": run_part(store, run)}, indent=2) + "\n"
    else:
        yield from (f"{line}\n" for line in interface_lines(store, blobs, run))


def export_interface(store: Store, blobs: Blobs, run: Run, directory: Path | None) -> list[Path]:
    """Write the crate of a run below a directory; return the paths of its files. Raises UsageError."""
    if directory is None:
        raise UsageError(f"run {run.id}: choose a directory for its crate with -d")
    return write_crate(store, blobs, run, directory / "crate")
