"""Pack a source tree into blobs: shards with the content of files, a manifest, and an index.

The same tree has the same id on every machine and at any time. Memory does not grow with the size of the tree, except
for the table that detects duplicate contents.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.entries import Excluded, FileFound, LeftOut, NotChecked, OtherCode, OtherFiles, Outcome
from jarvis_workers.snapshots.ignore import ANNEX_POINTER, LFS_POINTER, LINK_WITHIN_THE_TREE
from jarvis_workers.snapshots.include_closure import IncludeClosure
from jarvis_workers.snapshots.reader import PART_BYTES, Absence, Entry, Index, entry_line, index_bytes
from jarvis_workers.snapshots.safe_read import Read, read_file
from jarvis_workers.snapshots.selection import CommittedFiles, Selection
from jarvis_workers.snapshots.walk import walk

# Combine small files into shards, storing each content once.

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


PROGRESS_EVERY = 256
# The first line of a pointer file, which a checkout without Git LFS (its specification, v1, and earlier addresses) or
# without git-annex has in place of the file. An editor or git may have added a mark or carriage returns.
POINTER = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:version (?:https://(?:git-lfs|hawser)\.github\.com/spec/v1|http://git-media\.io/v/2)\r?\n"
    rb"|(/annex/objects/[^\s/]))"
)

Progress = Callable[[int, int], None]


class Snapshot(NamedTuple):
    """A packed tree, and what is not in it: (path, reason), and counts by reason.

    `dirty` is whether it differs from the commit to which it was compared; None if that is not known.
    """

    id: str
    manifest: str
    shards: tuple[str, ...]
    files: int
    bytes: int
    not_checked: tuple[Absence, ...]
    left_out: dict[str, int]
    excluded: tuple[Absence, ...]
    dirty: bool | None = None


def pack(
    root: Path,
    selection: Selection,
    blobs: Blobs,
    on_progress: Progress | None = None,
    *,
    on_shard: Callable[[str], None] | None = None,
    read: Read = os.read,
    committed: CommittedFiles | None = None,
) -> Snapshot:
    """Pack the tree at `root`, which may be a single file.

    `on_progress` is called with the number of files and bytes so far; `on_shard` with each shard's name before its
    existence is checked. The files are compared with those that are `committed`.
    """
    packing = _Packing(selection, ShardWriter(blobs, on_shard), read, committed)
    manifest = blobs.put_chunks(packing.parts(packing.outcomes(root), on_progress))
    index = packing.index(manifest)
    return Snapshot(
        id=blobs.put(index_bytes(index)),
        manifest=manifest,
        shards=index.shards,
        files=index.files,
        bytes=index.bytes,
        not_checked=index.not_checked,
        left_out=index.left_out,
        excluded=index.excluded,
        dirty=committed.is_dirty(selection) if committed else None,
    )


class _Packing:
    def __init__(self, selection: Selection, shards: ShardWriter, read: Read, committed: CommittedFiles | None) -> None:
        self._committed = committed
        self._selection = selection
        self._limit = selection.max_file_bytes
        self._closure = IncludeClosure(selection) if selection.follow_includes else None
        self._unchanged = selection.unchanged
        self._shards = shards
        self._read = read
        self._files = 0
        self._bytes = 0
        self._lines = bytearray()
        self._parts: list[str] = []
        self._manifest_bytes = 0
        self._not_checked: list[Absence] = []
        self._excluded: list[Absence] = []
        self._left_out: Counter[str] = Counter()

    def parts(self, outcomes: Iterator[Outcome], on_progress: Progress | None) -> Iterator[bytes]:
        """Yield the manifest in parts; shards are written in the meantime."""
        for outcome in outcomes:
            self._take(outcome)
            if len(self._lines) >= PART_BYTES:
                yield self._next_part()
            if on_progress and isinstance(outcome, FileFound) and self._files % PROGRESS_EVERY == 0:
                on_progress(self._files, self._bytes)
        self._shards.finish()
        while self._lines:
            yield self._next_part()
        if on_progress:
            on_progress(self._files, self._bytes)

    def outcomes(self, root: Path) -> Iterator[Outcome]:
        """Yield the outcomes of the tree, then those of the included files, which a second walk judges like sources."""
        yield from walk(root, self._selection)
        closure, self._closure = self._closure, None
        if closure is None:
            return
        reached = closure.paths(root, self._read)
        if reached:
            only = replace(self._selection, suffixes=frozenset(), follow_includes=False, reached=reached)
            before = set(self._not_checked)
            yield from (one for one in walk(root, only) if _is_of_file(one, reached) and one not in before)
        yield from closure.remarks()

    def index(self, manifest: str) -> Index:
        return Index(
            manifest=manifest,
            manifest_bytes=self._manifest_bytes,
            parts=tuple(self._parts),
            shards=tuple(self._shards.names),
            files=self._files,
            bytes=self._bytes,
            not_checked=tuple(self._not_checked),
            left_out=dict(sorted(self._left_out.items())),
            excluded=tuple(self._excluded),
        )

    def _take(self, outcome: Outcome) -> None:
        match outcome:
            case FileFound():
                self._add(outcome)
            case OtherFiles() if self._closure:
                self._closure.add_others(outcome)
            case OtherCode(path):
                if self._closure:
                    self._closure.other_code.add(path)
            case NotChecked(path, reason):
                self._not_checked.append((path, reason))
            case Excluded(path, reason):
                self._excluded.append((path, reason))
                if self._closure:
                    self._closure.add_excluded(path)
            case LeftOut(reason, files):
                self._left_out[reason] += files

    def _add(self, file: FileFound) -> None:
        content = read_file(file.directory, file.name, self._limit, read=self._read)
        if isinstance(content, str):
            self._not_checked.append((file.path, content))
            return
        if pointer := POINTER.match(content):
            self._not_checked.append((file.path, ANNEX_POINTER if pointer[1] else LFS_POINTER))
            return
        if self._committed:
            self._committed.compare(file.path, content)
        if self._closure:
            self._closure.add_source(file.path, content)
        if self._unchanged and self._unchanged.holds(file.path, content):
            self._left_out[self._unchanged.reason] += 1
            return
        digest = sha256(content)
        place = self._shards.add(content, digest.digest())
        self._lines += entry_line(Entry(file.path, len(content), digest.hexdigest(), *place))
        self._files += 1
        self._bytes += len(content)

    def _next_part(self) -> bytes:
        part = bytes(self._lines[:PART_BYTES])
        del self._lines[:PART_BYTES]
        self._parts.append(sha256(part).hexdigest())
        self._manifest_bytes += len(part)
        return part


def _is_of_file(outcome: Outcome, files: Collection[bytes]) -> bool:
    """Return whether an outcome is about one of some files, and not about directories and links seen before."""
    if isinstance(outcome, FileFound | NotChecked):
        return outcome.path in files
    return isinstance(outcome, LeftOut) and outcome.reason != LINK_WITHIN_THE_TREE
