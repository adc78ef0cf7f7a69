"""The format of a snapshot: a manifest with one JSON line per file, in path order, and an index blob.

The snapshot's id is the hash of the index, and so covers every byte of the snapshot. The index contains a hash per
PART_BYTES of the manifest, so that a job can verify the lines of its batch without reading the others. The blob store
is not trusted: malformed content is rejected.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from jarvis_workers.errors import SnapshotError
from jarvis_workers.paths import as_text, from_text, leaves_the_root, shown

FORMAT = 1
PART_BYTES = 1 << 16
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


Absence = tuple[bytes, str]
"""The path of a file or directory that is not in a snapshot, and the reason."""


class Entry(NamedTuple):
    """A file: its SHA-256, and its shard and offset there."""

    path: bytes
    size: int
    digest: str
    shard: int
    start: int


class Index(NamedTuple):
    """The parts of a snapshot, and the files that are not in it, with counts by reason."""

    manifest: str
    manifest_bytes: int
    parts: tuple[str, ...]
    shards: tuple[str, ...]
    files: int
    bytes: int
    not_checked: tuple[Absence, ...]
    left_out: dict[str, int]
    excluded: tuple[Absence, ...]


def entry_line(entry: Entry) -> bytes:
    return _encode([as_text(entry.path), *entry[1:]]).encode() + b"\n"


def read_line(line: bytes) -> Entry:
    """Parse a line of the manifest. Raises SnapshotError if it is malformed or its path leaves the root."""
    try:
        text, size, digest, shard, start = json.loads(line)
        path = from_text(text)
    except (ValueError, TypeError, AttributeError) as error:
        raise SnapshotError(f"invalid manifest line: {line[:200]!r}") from error
    if leaves_the_root(path):
        raise SnapshotError(f"the manifest contains a path outside the root: {shown(path)!r}")
    if not (type(size) is type(shard) is type(start) is int and type(digest) is str and min(size, shard, start) >= 0):
        raise SnapshotError(f"invalid manifest line: {line[:200]!r}")
    return Entry(path, size, digest, shard, start)


def index_bytes(index: Index) -> bytes:
    fields = index._asdict() | {
        "format": FORMAT,
        "not_checked": _as_texts(index.not_checked),
        "excluded": _as_texts(index.excluded),
    }
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


def read_index(content: bytes) -> Index:
    """Parse an index. Raises SnapshotError if it is malformed."""
    try:
        fields: dict[str, Any] = json.loads(content)
        version = fields.pop("format")
        if version != FORMAT:
            raise SnapshotError(f"snapshot format {version!r} is not supported by this version ({FORMAT})")
        return Index(
            **fields
            | {
                "parts": tuple(fields["parts"]),
                "shards": tuple(fields["shards"]),
                "not_checked": _from_texts(fields["not_checked"]),
                "excluded": _from_texts(fields["excluded"]),
            }
        )
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise SnapshotError(f"invalid snapshot index: {content[:80]!r}") from error


def _as_texts(pairs: Sequence[Absence]) -> list[tuple[str, str]]:
    return [(as_text(path), reason) for path, reason in pairs]


def _from_texts(pairs: Sequence[tuple[str, str]]) -> tuple[Absence, ...]:
    return tuple((from_text(text), reason) for text, reason in pairs)
