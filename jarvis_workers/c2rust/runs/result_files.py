"""The artifacts of a run over a C project, the files that are written from them, and the language of its reports."""

from pathlib import Path

from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.words import Words


def words_of_run(run: Run) -> Words:
    """Return the translator into the language with which a run over a C project was submitted."""
    return words_in_reports(ParseOptions.of(run).lang)


def write_new(path: Path, lines: list[str]) -> Path:
    """Write a file, and its directory if it is missing; return its path. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_whole(path, lines)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def read_artifact(store: Store, blobs: Blobs, run: Run, name: str) -> bytes | None:
    """Return the artifact of a run with this name, or None if there is none."""
    with store.read() as session:
        blob = artifacts.find(session, run.id, name)
    return blobs.read(blob) if blob else None
