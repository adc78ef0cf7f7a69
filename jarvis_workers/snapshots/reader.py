"""Read a snapshot: plan batches over its manifest, list a batch, read its files.

All content returned has been verified against hashes covered by the snapshot's id. A reader keeps a few shards open and
is not thread-safe.
"""

import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from types import TracebackType
from typing import Any, NamedTuple, Self

from jarvis_workers.errors import SnapshotDamaged, SnapshotError
from jarvis_workers.paths import as_text, from_text, leaves_the_root, shown
from jarvis_workers.snapshots.blobs import Blobs, unreadable

# The format of a snapshot: a manifest with one JSON line per file, in path order, and an index blob.

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


OPEN_BLOBS = 8
LONGEST_LABEL = 200
_LONGEST_PATH = 80


class ManifestBatch(NamedTuple):
    """A range of whole lines of the manifest; `bytes` is the total and `largest` the maximum size of its files."""

    offset: int
    length: int
    files: int
    bytes: int
    largest: int
    label: str


def open_snapshot(blobs: Blobs, snapshot_id: str) -> "Reader":
    """Open a snapshot. Raises SnapshotDamaged if its index is missing, SnapshotError if it is malformed."""
    return Reader(blobs, read_index(blobs.read(snapshot_id)))


class Reader:
    """An open snapshot; a context manager that closes its blobs."""

    def __init__(self, blobs: Blobs, index: Index) -> None:
        self.index = index
        self._blobs = blobs
        self._open: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        while self._open:
            os.close(self._open.popitem()[1][0])

    def batches(self, max_files: int, max_bytes: int) -> Iterator[ManifestBatch]:
        """Split the manifest into batches, in its order; a file above `max_bytes` gets a batch of its own."""
        plan = _Plan(0)
        for line in self._lines():
            entry = read_line(line)
            if plan.files and (plan.files >= max_files or plan.bytes + entry.size > max_bytes):
                yield plan.batch()
                plan = _Plan(plan.offset + plan.length)
            plan.add(entry, len(line))
        if plan.files:
            yield plan.batch()

    def files(self) -> Iterator[Entry]:
        """Yield all files in manifest order."""
        return map(read_line, self._lines())

    def entries(self, offset: int, length: int) -> list[Entry]:
        """Return the files of a batch, given as a range of the manifest. Raises SnapshotError."""
        if offset < 0 or length < 0 or offset + length > self.index.manifest_bytes:
            raise SnapshotError(f"manifest {self.index.manifest}: does not contain bytes {offset} to {offset + length}")
        first = offset // PART_BYTES
        parts = b"".join(self._part(number) for number in range(first, -(-(offset + length) // PART_BYTES)))
        start = offset - first * PART_BYTES
        return [read_line(line) for line in parts[start : start + length].splitlines()]

    def fetch(self, entries: Iterable[Entry]) -> None:
        """Open the shards of some files, so that an unavailable blob store is not treated as a fault of a file.

        Raises BlobsUnavailable if the store cannot be reached; a damaged shard is reported by `read`, file by file.
        """
        shards = sorted({entry.shard for entry in entries if entry.size and entry.shard < len(self.index.shards)})
        for shard in shards[:OPEN_BLOBS]:
            with suppress(SnapshotDamaged):
                self._descriptor(self.index.shards[shard])

    def read(self, entry: Entry) -> bytes:
        """Return the content of a file. Raises SnapshotDamaged if it does not match its hash, or BlobsUnavailable."""
        content = b""
        if entry.size:
            if entry.shard >= len(self.index.shards):
                raise SnapshotDamaged(f"the snapshot has no shard {entry.shard}; submit the tree again")
            descriptor, size = self._descriptor(self.index.shards[entry.shard])
            if entry.start + entry.size <= size:
                content = self._pread(self.index.shards[entry.shard], descriptor, entry.size, entry.start)
        if sha256(content).hexdigest() != entry.digest:
            if entry.shard < len(self.index.shards):
                self._blobs.mark_damaged(self.index.shards[entry.shard])
            raise SnapshotDamaged(f"its copy is corrupt; {self._remedy(entry)}")
        return content

    def _remedy(self, entry: Entry) -> str:
        if entry.shard >= len(self.index.shards):
            return "submit the tree again"
        return f"submit the tree again to replace blob {self.index.shards[entry.shard]}"

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for number in range(len(self.index.parts)):
            lines = (rest + self._part(number)).splitlines(keepends=True)
            rest = b"" if not lines or lines[-1].endswith(b"\n") else lines.pop()
            yield from lines
        if rest:
            raise SnapshotError(f"manifest {self.index.manifest}: its last line is incomplete")

    def _part(self, number: int) -> bytes:
        descriptor, _ = self._descriptor(self.index.manifest)
        part = self._pread(self.index.manifest, descriptor, PART_BYTES, number * PART_BYTES)
        if number >= len(self.index.parts) or sha256(part).hexdigest() != self.index.parts[number]:
            self._blobs.mark_damaged(self.index.manifest)
            raise SnapshotDamaged(f"manifest {self.index.manifest} is corrupt; submit the tree again")
        return part

    def _pread(self, blob: str, descriptor: int, size: int, offset: int) -> bytes:
        try:
            return os.pread(descriptor, size, offset)
        except OSError as error:
            raise unreadable(blob, error) from error

    def _descriptor(self, blob: str) -> tuple[int, int]:
        found = self._open.get(blob)
        if found:
            self._open.move_to_end(blob)
            return found
        if len(self._open) >= OPEN_BLOBS:
            os.close(self._open.popitem(last=False)[1][0])
        descriptor = self._blobs.open(blob)
        self._open[blob] = descriptor, os.fstat(descriptor).st_size
        return self._open[blob]


class _Plan:
    """A batch being filled."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.length = 0
        self.files = 0
        self.bytes = 0
        self.largest = 0
        self.first = b""
        self.last = b""

    def add(self, entry: Entry, length: int) -> None:
        self.first = self.first or entry.path
        self.last = entry.path
        self.length += length
        self.files += 1
        self.bytes += entry.size
        self.largest = max(self.largest, entry.size)

    def batch(self) -> ManifestBatch:
        return ManifestBatch(self.offset, self.length, self.files, self.bytes, self.largest, self._label())

    def _label(self) -> str:
        if self.files == 1:
            return _end_of(self.first, LONGEST_LABEL)
        return f"{_end_of(self.first, _LONGEST_PATH)} … {_end_of(self.last, _LONGEST_PATH)} ({self.files} files)"


def _end_of(path: bytes, characters: int) -> str:
    text = shown(path)
    return text if len(text) <= characters else "…" + text[1 - characters :]
