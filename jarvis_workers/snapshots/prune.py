"""Delete unreferenced blobs.

Blobs younger than a day are kept: a running submit may need them before its row exists.
"""

from collections.abc import Set
from typing import NamedTuple

from jarvis_workers.snapshots.blobs import Blobs, Stored

GRACE_SECONDS = 24 * 3600.0


class Pruned(NamedTuple):
    """The number of blobs deleted and their total size."""

    blobs: int
    bytes: int


def prune(blobs: Blobs, live: Set[str], now: float, older_than_seconds: float = GRACE_SECONDS) -> Pruned:
    """Delete unreferenced blobs, except those that a submit touches in the meantime."""
    before = now - older_than_seconds
    blobs.sweep(before)
    sizes = [blob.size for blob in _unused(blobs, live, before) if blobs.delete(blob.name, unless_wanted_since=before)]
    return Pruned(len(sizes), sum(sizes))


def _unused(blobs: Blobs, live: Set[str], before: float) -> list[Stored]:
    return [blob for blob in blobs.names() if blob.name not in live and blob.used_at < before]
