"""A cache of results per source file, on this machine.

There is one file of lines per directory of a source tree, since a batch mostly covers whole directories; all processes
append to it, and existing lines are never changed. Each line carries a MAC over its content and its place: a torn,
corrupted or forged line is ignored, as is a file that is not private. Losing entries costs time only, so nothing is
locked or synced, and disk errors are ignored. Beyond the size limit the least recently used files are removed.
"""

import os
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b, sha256
from hmac import compare_digest
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.private_files import PRIVATE, make_private_directory, private_key, read_private

FOLDER = "results"
# Next to the cache, not in it: restoring a cache from another machine does not bring the key along.
KEY_FILE = "cache.key"
CHECK_BYTES = 9
CHECK_LENGTH = 12
# A larger file is truncated: most of it is for contents that no longer exist.
DIRECTORY_BYTES = 16_000_000
SWEEP_SECONDS = 3600.0
# A process checks the total size after writing this fraction of the limit.
SWEEP_SHARE = 64
MARKER = "swept"

Check = Callable[[bytes, bytes], bytes]


class Size(NamedTuple):
    """The number of files and bytes in the cache."""

    files: int
    bytes: int


class FileCache:
    """Payloads by rule set, directory and key; keys are ASCII strings of equal length without spaces, payloads single
    lines.

    `key_file` contains the MAC key; without a private key file nothing is read or cached.
    """

    def __init__(self, root: Path, max_bytes: int, key_file: Path) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self._key_file = key_file
        self._written = 0

    def find(self, rules: str, directory: bytes, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the cached payloads by key."""
        content = _read(self._place(rules, directory))
        if not content or not keys or self._secret is None:
            return {}
        length, check = len(keys[0]), self._check(rules, directory)
        lines = {line[:length]: line for line in content.split(b"\n")}
        result = {}
        for key in keys:
            payload = _payload(lines.get(key.encode()), length, check)
            if payload is not None:
                result[key] = payload
        return result

    def put(self, rules: str, directory: bytes, payloads: Mapping[str, bytes]) -> None:
        """Append payloads in one write; the leading newline ends a line that another process left torn."""
        if payloads and self._secret is not None:
            check = self._check(rules, directory)
            content = b"\n" + b"".join(_line(key.encode(), payload, check) for key, payload in payloads.items())
            with suppress(OSError):
                self._append(self._place(rules, directory), content)

    @cached_property
    def _secret(self) -> bytes | None:
        return private_key(self._key_file)

    def _check(self, rules: str, directory: bytes) -> Check:
        """Return the MAC function for lines of this rule set and directory."""
        keyed = blake2b(f"{rules}\0".encode() + directory + b"\0", key=self._secret or b"", digest_size=CHECK_BYTES)

        def check(key: bytes, payload: bytes) -> bytes:
            digest = keyed.copy()
            digest.update(key + b" " + payload)
            return b64encode(digest.digest(), b"-_")

        return check

    def clear(self) -> Size:
        """Remove all entries; return their size."""
        import shutil  # noqa: PLC0415 - slow, and not needed for scanning

        size = self.size()
        shutil.rmtree(self.root, ignore_errors=True)
        return size

    def size(self) -> Size:
        files = self._files()
        return Size(len(files), sum(size for _, size, _ in files))

    def _append(self, place: Path, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            stream = os.open(place, flags, PRIVATE)
        except FileNotFoundError:
            make_private_directory(place.parent)
            stream = os.open(place, flags, PRIVATE)
        try:
            if os.fstat(stream).st_size > DIRECTORY_BYTES:
                os.ftruncate(stream, 0)
            os.write(stream, content)
        finally:
            os.close(stream)
        self._written += len(content)
        self._make_room()

    def _make_room(self) -> None:
        """Check the total size once an hour, and after many writes; remove the least recently used files."""
        marker = self.root / MARKER
        if self._written <= self.max_bytes // SWEEP_SHARE and _is_fresh(marker):
            return
        self._written = 0
        marker.touch()
        files = sorted(self._files())
        excess = sum(size for _, size, _ in files) - self.max_bytes
        for _, size, place in files:
            if excess <= 0:
                break
            place.unlink(missing_ok=True)
            excess -= size

    def _files(self) -> list[tuple[float, int, Path]]:
        """Return all files as (time of last use, size, path)."""
        result = []
        for place in self.root.glob("*/??/*"):
            with suppress(OSError):
                facts = place.stat()
                result.append((facts.st_mtime, facts.st_size, place))
        return result

    def _place(self, rules: str, directory: bytes) -> Path:
        name = sha256(directory).hexdigest()[:32]
        return self.root / rules / name[:2] / name


def _read(place: Path) -> bytes:
    """Return the content of a file and set its time of last use; b"" if it is missing or not private."""
    try:
        return read_private(place, 2 * DIRECTORY_BYTES)
    except OSError:
        return b""


def _line(key: bytes, payload: bytes, check: Check) -> bytes:
    return b"%b %b %b\n" % (key, check(key, payload), payload)


def _payload(line: bytes | None, length: int, check: Check) -> bytes | None:
    if line is None:
        return None
    checksum, payload = line[length + 1 : length + 1 + CHECK_LENGTH], line[length + CHECK_LENGTH + 2 :]
    return payload if compare_digest(checksum, check(line[:length], payload)) else None


def _is_fresh(marker: Path) -> bool:
    try:
        # A marker in the future is of a clock that was set back.
        return abs(time.time() - marker.stat().st_mtime) < SWEEP_SECONDS
    except FileNotFoundError:
        return False
