"""Write the files of a run to `<root>/.jarvis/sec/`: whole or not at all."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.report import json_line
from jarvis_workers.service.reports import read_body
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.write_report import list_issues
from jarvis_workers.store import events
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

# What a team writes there is for its repository; all else is a run's.
IGNORED = "*\n!triage.yaml\n!rules\n!rules/**\n"
PROGRESS_NAMES = {"submitted": ("pre_scan", "running"), "closed": ("pre_scan", "done")}


def export_directory(run: Run) -> Path | None:
    """Return where a run's files go; None when its root is a single file or is not there."""
    root = Path(os.fsdecode(run.root_raw))
    with suppress(PermissionError):
        return root / ".jarvis" / "sec" if root.is_dir() else None
    return None


def export(
    store: Store, blobs: Blobs, run: Run, directory: Path, *, body: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write heuristic_issues.jsonl, all of them, and progress.jsonl; return their paths. Raises UsageError.

    `body` is what `read_body` says, for a caller that has it.
    """
    body = read_body(store, blobs, run) if body is None else body
    own = directory == export_directory(run)
    if own and (directory.is_symlink() or directory.parent.is_symlink()):
        raise UsageError(f"{directory}: a symbolic link of the scanned tree is not followed; say where with -d")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if own:
            _ignore(directory.parent)
        with store.read() as session:
            issues = list_issues(session, run) if body["summary"].get("not_listed") else body["issues"]
            written = write_whole(directory / "heuristic_issues.jsonl", map(json_line, issues))
            happened = events.read(session, run.id)
        return [written, write_whole(directory / "progress.jsonl", map(json_line, _progress(run, happened)))]
    except OSError as error:
        elsewhere = f"elsewhere with: jarvis runs export {run.id} -d DIR"
        raise UsageError(f"{directory}: cannot write the run's files: {error.strerror}; {elsewhere}") from error


def write_whole(path: Path, pieces: Iterable[str]) -> Path:
    """Write a file under another name beside it, then rename it; raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.writelines(pieces)
        Path(temporary).chmod(_mode_for(path))
        return Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode_for(path: Path) -> int:
    """Return the mode of the file that is replaced, or that of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _progress(run: Run, happened: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The seeds' events, and beside them those of the run."""
    for event in happened:
        named, status = PROGRESS_NAMES.get(event["name"], (event["name"], "done" if run.ended else "running"))
        if event["name"] == "closed" and event["stage"] != "scan":
            named = "task_status"
        yield {"event": named, "status": status, "run": run.id, **event}


def _ignore(directory: Path) -> None:
    """Keep the files of runs out of the user's repository."""
    with suppress(FileExistsError), (directory / ".gitignore").open("x") as ignore:
        ignore.write(IGNORED)
