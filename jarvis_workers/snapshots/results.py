"""Keep what was found out about a file on this machine, so that the next scan need not look again.

One file of lines for each directory of a source tree, as what a batch asks for lies together in its tree; all
processes append to it, and nobody changes it.  A line that is torn, flipped or foreign does not fit its hash and
counts as not there: losing any of it costs time, and nothing else.  So nothing is locked or synced, and what the disk
refuses is passed over.  What was not asked for the longest goes first when there is too much.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

FOLDER = "results"
CHECK_LENGTH = 12
# A directory with more than this is started anew: most of it is of contents that are no more.
DIRECTORY_BYTES = 16_000_000
SWEEP_SECONDS = 3600.0
# What one process may write before it looks at the whole.
SWEEP_SHARE = 64
MARKER = "swept"


class Size(NamedTuple):
    """How much there is."""

    files: int
    bytes: int


class Results:
    """Payloads by rule set, directory and key; keys are ASCII of one length without spaces, payloads one line each."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self._written = 0

    def find(self, rules: str, directory: bytes, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what is kept under the keys, and as it was kept."""
        content = _read(self._place(rules, directory))
        if not content or not keys:
            return {}
        length = len(keys[0])
        lines = {line[:length]: line for line in content.split(b"\n")}
        found = {}
        for key in keys:
            payload = _payload(lines.get(key.encode()), length)
            if payload is not None:
                found[key] = payload
        return found

    def keep(self, rules: str, directory: bytes, payloads: Mapping[str, bytes]) -> None:
        """Add to what is kept, in one write: a line that somebody else has torn ends where this one begins."""
        if payloads:
            content = b"\n" + b"".join(_line(key.encode(), payload) for key, payload in payloads.items())
            with suppress(OSError):
                self._append(self._place(rules, directory), content)

    def clear(self) -> Size:
        """Remove everything; return how much it was."""
        import shutil  # noqa: PLC0415 - slow, and no scanning process clears

        size = self.size()
        shutil.rmtree(self.root, ignore_errors=True)
        return size

    def size(self) -> Size:
        found = self._files()
        return Size(len(found), sum(size for _, size, _ in found))

    def _append(self, place: Path, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            stream = os.open(place, flags, 0o600)
        except FileNotFoundError:
            place.parent.mkdir(parents=True, exist_ok=True)
            stream = os.open(place, flags, 0o600)
        try:
            if os.fstat(stream).st_size > DIRECTORY_BYTES:
                os.ftruncate(stream, 0)
            os.write(stream, content)
        finally:
            os.close(stream)
        self._written += len(content)
        self._make_room()

    def _make_room(self) -> None:
        """Look at the whole once an hour, whoever comes first, and after much was written."""
        marker = self.root / MARKER
        if self._written <= self.max_bytes // SWEEP_SHARE and _is_fresh(marker):
            return
        self._written = 0
        marker.touch()
        found = sorted(self._files())
        excess = sum(size for _, size, _ in found) - self.max_bytes
        for _, size, place in found:
            if excess <= 0:
                break
            place.unlink(missing_ok=True)
            excess -= size

    def _files(self) -> list[tuple[float, int, Path]]:
        """List what there is: when it was last of use, its size and its place."""
        found = []
        for place in self.root.glob("*/??/*"):
            with suppress(OSError):
                facts = place.stat()
                found.append((facts.st_mtime, facts.st_size, place))
        return found

    def _place(self, rules: str, directory: bytes) -> Path:
        name = sha256(directory).hexdigest()[:32]
        return self.root / rules / name[:2] / name


def _read(place: Path) -> bytes:
    """Return what a file holds, and note that it was of use; nothing if it is not there."""
    try:
        stream = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        with suppress(OSError):
            os.utime(stream)
        return os.read(stream, min(os.fstat(stream).st_size, 2 * DIRECTORY_BYTES))
    except OSError:
        return b""
    finally:
        os.close(stream)


def _line(key: bytes, payload: bytes) -> bytes:
    return b"%b %b %b\n" % (key, _check(key, payload), payload)


def _payload(line: bytes | None, length: int) -> bytes | None:
    if line is None:
        return None
    check, payload = line[length + 1 : length + 1 + CHECK_LENGTH], line[length + CHECK_LENGTH + 2 :]
    return payload if check == _check(line[:length], payload) else None


def _check(key: bytes, payload: bytes) -> bytes:
    return sha256(key + b" " + payload).hexdigest()[:CHECK_LENGTH].encode()


def _is_fresh(marker: Path) -> bool:
    try:
        return time.time() - marker.stat().st_mtime < SWEEP_SECONDS
    except FileNotFoundError:
        return False
