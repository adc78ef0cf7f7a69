"""Write the files of a run to `<root>/.jarvis/sec/`: whole or not at all."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.service.reports import read_body
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import events
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

PROGRESS_NAMES = {"submitted": ("pre_scan", "running"), "closed": ("pre_scan", "done")}


def export_directory(run: Run) -> Path | None:
    """Return where a run's files go; None when its root is a single file or is not there."""
    root = Path(os.fsdecode(run.root_raw))
    with suppress(PermissionError):
        return root / ".jarvis" / "sec" if root.is_dir() else None
    return None


def export(store: Store, blobs: Blobs, run: Run, directory: Path) -> list[Path]:
    """Write heuristic_issues.jsonl and progress.jsonl; return their paths. Raises UsageError when it cannot."""
    body = read_body(store, blobs, run)
    with store.read() as session:
        happened = events.read(session, run.id)
    files = {
        "heuristic_issues.jsonl": _lines(body["issues"]),
        "progress.jsonl": _lines(_progress(run, happened)),
    }
    own = directory == export_directory(run)
    if own and (directory.is_symlink() or directory.parent.is_symlink()):
        raise UsageError(f"{directory}: a symbolic link of the scanned tree is not followed; say where with -d")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if own:
            _ignore(directory.parent)
        return [write_whole(directory / name, content) for name, content in files.items()]
    except OSError as error:
        elsewhere = f"elsewhere with: jarvis runs export {run.id} -d DIR"
        raise UsageError(f"{directory}: cannot write the run's files: {error.strerror}; {elsewhere}") from error


def write_whole(path: Path, content: str) -> Path:
    """Write a file under another name beside it, then rename it; raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(content)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        return Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _lines(rows: list[Mapping[str, Any]] | Iterator[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _progress(run: Run, happened: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The seeds' events, and beside them those of the run."""
    for event in happened:
        named, status = PROGRESS_NAMES.get(event["name"], (event["name"], "done" if run.ended else "running"))
        if event["name"] == "closed" and event["stage"] != "scan":
            named = "task_status"
        yield {"event": named, "status": status, "run": run.id, **event}


def _ignore(directory: Path) -> None:
    """Keep our own directory out of the user's repository."""
    with suppress(FileExistsError), (directory / ".gitignore").open("x") as ignore:
        ignore.write("*\n")
