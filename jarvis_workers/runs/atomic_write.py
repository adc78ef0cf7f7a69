"""Write files atomically."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, pieces: Iterable[str]) -> Path:
    """Write text to a temporary file in the same directory, then rename it; raises OSError."""
    return write_pieces(path, (piece.encode("utf-8", "backslashreplace") for piece in pieces))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> Path:
    """Write bytes likewise."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
        Path(temporary).chmod(_mode_for(path))
        return Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _mode_for(path: Path) -> int:
    """Return the mode of the file to replace, or the default mode of a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
