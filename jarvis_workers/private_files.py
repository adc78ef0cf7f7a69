"""Files and directories that only their owner may access: their content is secret, or trusted when read back."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o600
PRIVATE_DIRECTORY = 0o700
KEY_BYTES = 32


def make_private_directory(directory: Path) -> None:
    """Create a directory and its missing parents with owner-only permissions; existing ones are not changed.

    Raises OSError.
    """
    for folder in reversed([directory, *directory.parents]):
        if not folder.exists():
            folder.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    if not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))


def touch_private(place: Path) -> None:
    """Create an empty file with owner-only permissions, unless it exists. Raises OSError."""
    with suppress(FileExistsError):
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE))


def read_private(place: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes, and set its modification time.

    Returns b"" if the file has another owner, is accessible to other users, or is larger. Raises OSError.
    """
    stream = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        facts = os.fstat(stream)
        ours = facts.st_uid == os.geteuid() and stat.S_ISREG(facts.st_mode)
        if not ours or stat.S_IMODE(facts.st_mode) != PRIVATE or facts.st_size > most:
            return b""
        with suppress(OSError):
            os.utime(stream)
        return os.read(stream, facts.st_size)
    finally:
        os.close(stream)


def private_key(place: Path) -> bytes | None:
    """Return the key in a file, created if it is missing and replaced if it is not private; None on an OSError."""
    with suppress(OSError):
        if key := _whole_key(place):
            return key
    aside = place.with_name(f"{place.name}-{os.getpid()}-{secrets.token_hex(8)}")
    try:
        make_private_directory(place.parent)
        touch_private(aside)
        aside.write_bytes(secrets.token_bytes(KEY_BYTES))
        _put_in_place(aside, place)
        return _whole_key(place)
    except OSError:
        return None
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _whole_key(place: Path) -> bytes | None:
    key = read_private(place, KEY_BYTES)
    return key if len(key) == KEY_BYTES else None


def _put_in_place(aside: Path, place: Path) -> None:
    """Move a new key to its place; if several processes create one at once, the first wins."""
    try:
        os.link(aside, place)
    except FileExistsError:
        if _whole_key(place) is None:
            aside.replace(place)
