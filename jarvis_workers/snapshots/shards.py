"""Combine small files into shards, storing each content once.

The digest of a file decides whether the shard ends after it (content-defined chunking), so that a change to a tree
leaves most shards unchanged.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from jarvis_workers.snapshots.blobs import Blobs

LEAST_BYTES = 1 << 20
MOST_BYTES = 16 << 20
_CUTS_OF_256 = 4
_KEY_BYTES = 16
_START_BITS = 48


class ShardPlace(NamedTuple):
    """The location of a file: shard number and offset."""

    shard: int
    start: int


class ShardWriter:
    """Writes files to shards; memory is one shard, plus about 150 bytes per distinct file for deduplication."""

    def __init__(self, blobs: Blobs, on_shard: Callable[[str], None] | None) -> None:
        self._blobs = blobs
        self._on_shard = on_shard
        self._places: dict[bytes, int] = {}
        self._open: list[bytes] = []
        self._open_bytes = 0
        self.names: list[str] = []

    def add(self, content: bytes, digest: bytes) -> ShardPlace:
        """Return the location of the file, valid after `finish`; `digest` is its SHA-256."""
        if not content:
            return ShardPlace(0, 0)
        packed = self._places.get(digest[:_KEY_BYTES])
        if packed is not None:
            return ShardPlace(packed >> _START_BITS, packed & ((1 << _START_BITS) - 1))
        place = ShardPlace(len(self.names), self._open_bytes)
        self._places[digest[:_KEY_BYTES]] = place.shard << _START_BITS | place.start
        self._open.append(content)
        self._open_bytes += len(content)
        if self._open_bytes >= MOST_BYTES or (self._open_bytes >= LEAST_BYTES and digest[-1] < _CUTS_OF_256):
            self.finish()
        return place

    def finish(self) -> None:
        if not self._open:
            return
        content = b"".join(self._open)
        self._open, self._open_bytes = [], 0
        if self._on_shard:
            self._on_shard(sha256(content).hexdigest())
        self.names.append(self._blobs.put(content))
