"""Storage of the summaries of a batch: a blob with all summaries, and an index of their locations and exports.

A summary has two parts, compressed separately: its interface to other files (`exports` and `calls`),
and its body. `key` is a hash of both parts and is verified on reading.

The first lines of an index are JSON: the lengths of the buckets, and the rows. They are followed by one line per
export, in BUCKETS by the hash of its name, so that many indexes can be merged without parsing their rows.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, NamedTuple

from jarvis_workers.errors import SnapshotDamaged
from jarvis_workers.paths import as_text, from_text
from jarvis_workers.snapshots.blobs import Blobs, read_range

BUCKETS = 256
KEY_LENGTH = 40
DIGEST_LENGTH = 32
# No part of a summary exceeds the memory limit of the process that makes it.
PART_MAX = 1 << 30
DAMAGED = "a cached file summary is corrupt; scan again with --no-cache"
FACE = ("exports", "calls")
_encode = json.JSONEncoder(separators=(",", ":")).encode


class Model(NamedTuple):
    """A summary in stored form; `names` are its exports with the hashes of their payloads."""

    key: str
    face: bytes
    body: bytes
    names: tuple[tuple[str, str], ...]
    calls: tuple[str, ...]


class BlobRange(NamedTuple):
    """A range of bytes of a blob."""

    start: int
    length: int


class Row(NamedTuple):
    """A file of a batch with a summary: `size` is the size of its source, `calls` are the names that it imports."""

    path: bytes
    size: int
    key: str
    face: BlobRange
    body: BlobRange
    calls: tuple[str, ...]


def pack_model(model: dict[str, Any]) -> Model:
    """Return a summary of `summarize` in stored form."""
    exports = [(name, _encode(payload)) for name, payload in model["exports"].items()]
    listed = ",".join([f"{_encode(name)}:{payload}" for name, payload in exports])
    face = f'{{"exports":{{{listed}}},"calls":{_encode(model["calls"])}}}'.encode()
    body = _encode({name: part for name, part in model.items() if name not in FACE}).encode()
    names = tuple((name, _digest(payload)) for name, payload in exports)
    packed = zlib.compress(face, 1), zlib.compress(body, 1)
    return Model(key_of(face, body), *packed, names, _calls(model))


def read_model(blobs: Blobs, blob: str, place: tuple[BlobRange, BlobRange], key: str) -> Model:
    """Return a summary from a blob. Raises SnapshotDamaged if it does not match the key."""
    face, body = (read_range(blobs, blob, *part) for part in place)
    with _marked(blobs, blob):
        _checked(face, body, key)
    return _packed(json.loads(_inflated(face)), key, face, body)


def model_of(blobs: Blobs, blob: str, row: Row) -> dict[str, Any]:
    """Return the summary of a file. Raises SnapshotDamaged if it does not match its key."""
    parts = read_range(blobs, blob, *row.face), read_range(blobs, blob, *row.body)
    with _marked(blobs, blob):
        face, body = _checked(*parts, row.key)
    model: dict[str, Any] = {**json.loads(face), **json.loads(body)}
    return model


def face_of(blobs: Blobs, blob: str, part: BlobRange) -> tuple[dict[str, Any], int]:
    """Return the exports of a file, unverified, and their size in bytes; `digest_of` verifies them."""
    compressed = read_range(blobs, blob, *part)
    with _marked(blobs, blob):
        text = _inflated(compressed)
        try:
            exports: dict[str, Any] = json.loads(text)["exports"]
        except (ValueError, TypeError, KeyError) as error:
            raise SnapshotDamaged(DAMAGED) from error
    return exports, len(text)


@contextmanager
def _marked(blobs: Blobs, blob: str) -> Iterator[None]:
    """Mark the blob if the block finds it damaged. Raises BlobsUnavailable if all blobs are."""
    try:
        yield
    except SnapshotDamaged:
        blobs.mark_damaged(blob)
        raise


def index_of(files: Iterable[tuple[bytes, int, Model]], places: dict[str, tuple[BlobRange, BlobRange]]) -> bytes:
    """Return the index of a batch, given each file with its size and summary; `places` maps keys to locations."""
    names: dict[str, int] = {}
    rows: list[Any] = []
    buckets: list[list[tuple[bytes, bytes]]] = [[] for _ in range(BUCKETS)]
    for path, size, model in files:
        calls = [names.setdefault(name, len(names)) for name in model.calls]
        face, body = places[model.key]
        shown = as_text(path)
        rows.append([shown, size, model.key, face, body, calls])
        for name, digest in model.names:
            key = _encode(name).encode()
            buckets[bucket_of(key)].append((key, _encode([shown, *face, digest]).encode()))
    lines = [b"".join(b"%b\t%b\n" % line for line in sorted(bucket, key=lambda line: line[0])) for bucket in buckets]
    head = [_encode(header).encode() for header in ([len(bucket) for bucket in lines], [rows, list(names)])]
    return b"".join([b"%b\n%b\n" % tuple(head), *lines])


def read_rows(blobs: Blobs, index: str) -> list[Row]:
    """Return the files of a batch with summaries, ordered by path."""
    rows, names = json.loads(blobs.read(index).split(b"\n", 2)[1])
    return list(_rows(rows, names))


def read_lines(blobs: Blobs, index: str) -> list[memoryview]:
    """Return the lines of each bucket of an index."""
    lengths, _, lines = blobs.read(index).split(b"\n", 2)
    return list(_cut(memoryview(lines), json.loads(lengths)))


def read_part(numbers: Sequence[int]) -> BlobRange:
    start, length = numbers
    return BlobRange(start, length)


def key_of(face: bytes, body: bytes) -> str:
    return sha256(b"%d:%b%b" % (len(face), face, body)).hexdigest()[:KEY_LENGTH]


def digest_of(payload: Any) -> str:
    """Return the hash of an export's payload."""
    return _digest(_encode(payload))


def _digest(payload: str) -> str:
    return sha256(payload.encode()).hexdigest()[:DIGEST_LENGTH]


def bucket_of(name: bytes) -> int:
    """Return the bucket of a name, which is given as JSON."""
    return zlib.crc32(name) % BUCKETS


def _packed(face: dict[str, Any], key: str, packed_face: bytes, packed_body: bytes) -> Model:
    names = tuple((name, digest_of(payload)) for name, payload in face["exports"].items())
    return Model(key, packed_face, packed_body, names, _calls(face))


def _calls(face: dict[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(set(face["calls"])))


def _checked(face: bytes, body: bytes, key: str) -> tuple[bytes, bytes]:
    parts = _inflated(face), _inflated(body)
    if key_of(*parts) != key:
        raise SnapshotDamaged(DAMAGED)
    return parts


def _inflated(packed: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(packed, PART_MAX)
    except zlib.error as error:
        raise SnapshotDamaged(DAMAGED) from error
    if not stream.eof:
        raise SnapshotDamaged(DAMAGED)
    return text


def _rows(rows: Iterable[Any], names: Sequence[str]) -> Iterator[Row]:
    for path, size, key, face, body, calls in rows:
        yield Row(from_text(path), size, key, read_part(face), read_part(body), tuple(names[call] for call in calls))


def _cut(content: memoryview, lengths: Iterable[int]) -> Iterator[memoryview]:
    start = 0
    for length in lengths:
        yield content[start : start + length]
        start += length
