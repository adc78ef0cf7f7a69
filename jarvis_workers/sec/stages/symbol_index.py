"""The symbol index of a run: exported names of all files, merged once from all batches, and queried by every job.

The index is divided into buckets by the hash of the name, with sorted lines, so that a job reads each bucket once for
all its names. The payload of a name is read from the summaries of its exporters on demand; memory is bounded.
"""

import json
from bisect import bisect_left
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from jarvis_workers.errors import SnapshotDamaged
from jarvis_workers.paths import from_text, shown
from jarvis_workers.sec.stages.summaries import BUCKETS, BlobRange, bucket_of, digest_of, face_of, read_lines
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.languages import is_test

# A name exported by more files is treated as unknown, since it has no definite meaning.
EXPORTERS_MAX = 5_000
OF_HEADERS = ("macro ", "type ", "typedef ")
PART_BYTES = 1 << 18
CACHE_BYTES = 64_000_000
# Memory of a Python object per byte of its JSON form.
BYTES_A_BYTE = 6
# Memory of a line of the index in addition to its text.
LINE_BYTES = 48

T = TypeVar("T")


class Exporter(NamedTuple):
    """A file that exports a name: its path, the number of the blob with its interface, and the hash of the payload."""

    blob: int
    path: str
    face: BlobRange
    digest: str
    test: bool


class Exports(NamedTuple):
    """The exports of a file by name, and the names whose payloads have been verified."""

    payloads: dict[str, Any]
    verified: set[str]


def merge_names(blobs: Blobs, batches: Sequence[tuple[str, str]], put: Callable[[bytes], str]) -> str:
    """Merge the batches, given as (blob of summaries, blob of index) in path order, and return the root blob."""
    lines = [read_lines(blobs, index) for _, index in batches]
    size = sum(len(bucket) for buckets in lines for bucket in buckets)
    count = 1
    while count < BUCKETS and size > count * PART_BYTES:
        count *= 2
    parts = [
        put(_merged(lines, range(part * BUCKETS // count, (part + 1) * BUCKETS // count))) for part in range(count)
    ]
    root = {"models": [models for models, _ in batches], "parts": parts, "bytes": size}
    return put(json.dumps(root).encode())


class SymbolIndex:
    """The symbol index of a run, for lookups by exported name."""

    def __init__(self, blobs: Blobs, root: str) -> None:
        header = json.loads(blobs.read(root))
        self.bytes: int = header["bytes"]
        self._blobs = blobs
        self._models: list[str] = header["models"]
        self._parts: list[str] = header["parts"]
        self._blocks = ByteLru(CACHE_BYTES)
        self._exporters_by_name: dict[str, tuple[Exporter, ...]] = {}
        # By name, directory of the asking file, whether tests count, and directories of headers.
        self._exporters_in: dict[tuple[str, bytes, bool, tuple[str, ...]], tuple[Exporter, ...]] = {}

    def fetch(self, names: Iterable[str]) -> None:
        """Look up many names at once; the results replace those of the last call."""
        lookups_by_bucket: defaultdict[int, list[tuple[str, bytes]]] = defaultdict(list)
        for name in set(names):
            key = json.dumps(name).encode()
            lookups_by_bucket[bucket_of(key) * len(self._parts) // BUCKETS].append((name, key))
        self._exporters_by_name, self._exporters_in = {}, {}
        for part, lookups in sorted(lookups_by_bucket.items()):
            lines = self._lines(part)
            self._exporters_by_name.update((name, _exporters(lines, key)) for name, key in lookups)

    def lookup(
        self, name: str, *, near: bytes = b"", tests: bool = True, include: Sequence[str] = ()
    ) -> list[tuple[str, Any]]:
        """Return path and payload of the files that export the name, in path order.

        If there are several files, only those that share the most directories with `near` are returned; of headers with
        a macro or type those in the first of the directories `include`, if there are any.
        Without `tests`, test code is ignored: it may replace functions of the program by its own.
        """
        key = name, near.rpartition(b"/")[0], tests, tuple(include)
        exporters = self._exporters_in.get(key)
        if exporters is None:
            exporters = self._exporters_in[key] = self._nearest(*key)
        return [(exporter.path, self._payload(name, exporter)) for exporter in exporters]

    def _nearest(self, name: str, directory: bytes, tests: bool, include: Sequence[str]) -> tuple[Exporter, ...]:
        exporters = tuple(one for one in self._exporters(name) if tests or not one.test)
        if len(exporters) > 1 and include and name.startswith(OF_HEADERS):
            exporters = _included(exporters, include)
        if len(exporters) <= 1 or not directory:
            return exporters
        place = shown(directory).split("/")
        shared = [_shared(place, exporter.path.split("/")) for exporter in exporters]
        most = max(shared)
        return tuple(one for one, count in zip(exporters, shared, strict=True) if count == most)

    def answers(self, names: Iterable[str]) -> str:
        """Return a hash of the meaning of the names: equal hashes mean equal results of all lookups."""
        meanings = [
            (name, [(exporter.path, exporter.digest) for exporter in self._exporters(name)])
            for name in sorted(set(names))
        ]
        return sha256(json.dumps(meanings).encode()).hexdigest()[:16]

    def _exporters(self, name: str) -> tuple[Exporter, ...]:
        if name not in self._exporters_by_name:
            key = json.dumps(name).encode()
            lines = self._lines(bucket_of(key) * len(self._parts) // BUCKETS)
            self._exporters_by_name[name] = _exporters(lines, key)
        return self._exporters_by_name[name]

    def _payload(self, name: str, exporter: Exporter) -> Any:
        blob = self._models[exporter.blob]
        exports = self._blocks.get((blob, exporter.face.start), lambda: self._face(blob, exporter.face))
        payload = exports.payloads.get(name)
        if name not in exports.verified:
            if name not in exports.payloads or digest_of(payload) != exporter.digest:
                raise SnapshotDamaged(f"the cached exports of {exporter.path} are corrupt; scan again with --no-cache")
            exports.verified.add(name)
        return payload

    def _face(self, blob: str, face: BlobRange) -> tuple[Exports, int]:
        payloads, size = face_of(self._blobs, blob, face)
        return Exports(payloads, set()), size * BYTES_A_BYTE

    def _lines(self, part: int) -> list[bytes]:
        def read() -> tuple[list[bytes], int]:
            content = self._blobs.read(self._parts[part])
            lines = content.splitlines()
            return lines, len(content) + LINE_BYTES * len(lines)

        return self._blocks.get(part, read)


@lru_cache(1)
def open_names(blobs: Blobs, root: str) -> SymbolIndex:
    """Return the symbol index of a run; a process shares it between many jobs."""
    return SymbolIndex(blobs, root)


class ByteLru:
    """A least-recently-used cache bounded in bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.size = 0
        self._things: OrderedDict[object, tuple[Any, int]] = OrderedDict()

    def get(self, key: object, read: Callable[[], tuple[T, int]]) -> T:
        if key in self._things:
            self._things.move_to_end(key)
        else:
            self._things[key] = read()
            self.size += self._things[key][1]
            while self.size > self._most and len(self._things) > 1:
                self.size -= self._things.popitem(last=False)[1][1]
        thing: T = self._things[key][0]
        return thing


def _merged(batches: Sequence[Sequence[memoryview]], buckets: Iterable[int]) -> bytes:
    """Return one line per name with all its exporters."""
    result: dict[bytes, list[bytes]] = {}
    for bucket in buckets:
        for number, lines in enumerate(batches):
            for name, exporter in _parted(lines[bucket]):
                result.setdefault(name, []).append(b"[%d,%b" % (number, exporter[1:]))
    return b"".join(
        b"%b\t[%b]\n" % (name, b",".join(exporters))
        for name, exporters in sorted(result.items())
        if len(exporters) <= EXPORTERS_MAX
    )


def _parted(lines: memoryview) -> Iterator[tuple[bytes, bytes]]:
    for line in bytes(lines).splitlines():
        name, _, exporter = line.partition(b"\t")
        yield name, exporter


def _exporters(lines: Sequence[bytes], name: bytes) -> tuple[Exporter, ...]:
    """Find the exporters of a name by binary search in the sorted lines."""
    start = name + b"\t"
    at = bisect_left(lines, start)
    if at == len(lines) or not lines[at].startswith(start):
        return ()
    return tuple(map(_exporter, json.loads(lines[at][len(start) :])))


def _included(exporters: tuple[Exporter, ...], include: Sequence[str]) -> tuple[Exporter, ...]:
    """Return the files in the first of some directories that has any, or below it; all if none has any."""
    for directory in include:
        inside = tuple(one for one in exporters if one.path.rpartition("/")[0] == directory)
        if inside:
            return inside
    for directory in include:
        below = tuple(one for one in exporters if directory and one.path.startswith(f"{directory}/"))
        if below:
            return below
    return exporters


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of leading directories that two paths share."""
    return next((at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other), len(first))


def _exporter(row: Sequence[Any]) -> Exporter:
    blob, path, start, length, digest = row
    name = from_text(path)
    return Exporter(blob, shown(name), BlobRange(start, length), digest, is_test(name))
