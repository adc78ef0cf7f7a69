"""Files of a bench, which untrusted programs may have replaced, and which cargo compares by their times."""

import os
import shutil
from pathlib import Path

MOST_BYTES = 64_000_000


def read_untrusted(path: Path) -> bytes:
    """Return the beginning of a file that a program may have replaced by anything; b"" if it is not a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return b""


def copy_untrusted(path: Path, to: Path) -> None:
    """Copy a file that a program may have replaced, of any size; no file results if it is none or reached by a link."""
    to.unlink(missing_ok=True)
    if os.path.realpath(path) != str(path) or not path.is_file():
        return
    with path.open("rb") as source, to.open("xb") as target:
        shutil.copyfileobj(source, target)


def write_if_changed(path: Path, content: bytes) -> None:
    """Write a file of the crate only if its content changes, since cargo compares modification times."""
    try:
        if path.read_bytes() == content and not path.is_symlink():
            return
    except OSError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(content)
