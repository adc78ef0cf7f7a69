"""Replace files of a directory that others may edit: all or none, and only files that still have the expected content.

All files are checked before the first is written. A file that has its new content already counts as written, so that
an interrupted call can be repeated. Symbolic links are never followed.
"""

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class FileChange(NamedTuple):
    """The content that a file must have, None if it must not exist, and its new content, which may be the same."""

    before: bytes | None
    after: bytes


def blocked_changes(root: Path, changes: Mapping[str, FileChange]) -> Iterator[str]:
    """Yield one line for each file that cannot be replaced: its path and the reason."""
    for name, change in changes.items():
        if why := _obstacle(root, name, change):
            yield f"{root / name}: {why}"


def replace_files(root: Path, changes: Mapping[str, FileChange]) -> tuple[str, ...]:
    """Replace files; return why some cannot be replaced, in which case none is.

    Raises OSError if a file cannot be written; then the files that were written before it are restored.
    """
    if blocked := tuple(blocked_changes(root, changes)):
        return blocked
    written = list[tuple[Path, bytes]]()
    try:
        for name, change in changes.items():
            path = root / name
            if change.before == change.after:
                continue
            if change.before is not None and path.read_bytes() == change.before:
                _write(path, change.after)
                written.append((path, change.before))
            elif not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, change.after)
    except OSError:
        for path, content in written:
            with suppress(OSError):
                _write(path, content)
        raise
    return ()


def _obstacle(root: Path, name: str, change: FileChange) -> str:
    path = root / name
    top, parent = Path(os.path.realpath(root)), Path(os.path.realpath(path.parent))
    if not parent.is_relative_to(top) or parent != Path(os.path.normpath(top / Path(name).parent)):
        return "its directory is outside, or a symbolic link"
    try:
        is_file = stat.S_ISREG(path.lstat().st_mode)
        content = path.read_bytes() if is_file else b""
    except FileNotFoundError:
        return "" if change.before is None else "removed meanwhile"
    except OSError as error:
        return error.strerror or "cannot be read"
    if not is_file:
        return "not a regular file"
    return "" if content in (change.before, change.after) else "edited meanwhile"


def _write(path: Path, content: bytes) -> None:
    """Replace a file by renaming a temporary one; its mode does not change."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
