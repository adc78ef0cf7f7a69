"""Cache compiled patterns on disk for later processes: compiling them takes longer than scanning a small tree.

A compiled pattern is as trusted as code, so only private files of the user with a matching digest are loaded. After any
other error in the file or on the disk, the patterns are compiled as if there were no cache.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from jarvis_workers.private_files import PRIVATE, make_private_directory, read_private

FILES_MAX = 32
BYTES_MAX = 64 << 20
DIGEST_BYTES = 32


def key_of(parts: Sequence[object]) -> str:
    """Return a cache key: a digest of everything that the compiled patterns depend on."""
    return sha256(repr(parts).encode()).hexdigest()


class PatternCache:
    """A directory of payloads by key; if there are more than FILES_MAX, the oldest are removed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def find(self, key: str) -> bytes | None:
        with suppress(OSError):
            content = read_private(self._directory / key, BYTES_MAX)
            if content and content[:DIGEST_BYTES] == _digest(key, content[DIGEST_BYTES:]):
                return content[DIGEST_BYTES:]
        return None

    def put(self, key: str, payload: bytes) -> None:
        """Write a file atomically; an OSError is ignored."""
        aside = self._directory / f"new-{os.getpid()}-{os.urandom(8).hex()}"
        with suppress(OSError):
            make_private_directory(self._directory)
            try:
                _write(aside, _digest(key, payload) + payload)
                aside.replace(self._directory / key)
            finally:
                aside.unlink(missing_ok=True)
            self._make_room()

    def _make_room(self) -> None:
        for _, place in sorted((place.stat().st_mtime, place) for place in self._directory.iterdir())[:-FILES_MAX]:
            place.unlink(missing_ok=True)


def _digest(key: str, payload: bytes) -> bytes:
    return sha256(key.encode() + b" " + payload).digest()


def _write(place: Path, content: bytes) -> None:
    stream = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE)
    with os.fdopen(stream, "wb") as file:
        file.write(content)
