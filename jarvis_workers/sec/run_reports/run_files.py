"""The files of a run in `<root>/.jarvis/sec/`: their directory and their format. No store is needed."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.jarvis_directory import make_directory
from jarvis_workers.sec.report.json import json_line
from jarvis_workers.store.values import Run

Row = dict[str, Any]
HEURISTIC, PROGRESS = "heuristic_issues.jsonl", "progress.jsonl"
EVENTS = {"submitted": ("pre_scan", "running"), ("closed", "scan"): ("pre_scan", "done")} | {
    ("closed", "cluster"): ("cluster_report_written", "done"),
}


def export_directory(run: Run) -> Path | None:
    """Return the directory for a run's files; None if its root is a single file or does not exist."""
    root = Path(os.fsdecode(run.root_raw))
    with suppress(PermissionError):
        return root / ".jarvis" / "sec" if root.is_dir() else None
    return None


@contextmanager
def refuse_unwritable(directory: Path, run: Run) -> Iterator[None]:
    """Convert an OSError to a UsageError that suggests another directory."""
    try:
        yield
    except OSError as error:
        elsewhere = f"to write them elsewhere: jarvis runs export {run.id} -d DIR"
        raise UsageError(f"{directory}: cannot write the run's files: {error.strerror}; {elsewhere}") from error


def directory_for(run: Run, directory: Path | None) -> Path:
    """Return the directory for the files of a run, by default that of its source. Raises UsageError."""
    place = directory or export_directory(run)
    if place is None:
        raise UsageError(f"run {run.id}: its root {plain(run.root)} is not a directory here; choose one with -d")
    return place


def write_files(run: Run, directory: Path, files: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[Path]:
    """Write the rows of each file; return the paths. Raises UsageError, OSError."""
    make_directory(directory, own=directory == export_directory(run))
    return [write_whole(directory / name, map(json_line, rows)) for name, rows in files.items()]


def progress_row(event: Row, run: Run) -> Row:
    """Return a row of progress.jsonl: the established event names, plus the fields of the run's own event."""
    name, stage = event["name"], event["stage"]
    named = EVENTS.get((name, stage)) or EVENTS.get(name)
    if named is None:
        ending = "task_status" if name == "closed" else name
        named = (ending, "done" if run.ended else "running")
    return {"event": named[0], "status": named[1], "run": run.id, **event}
