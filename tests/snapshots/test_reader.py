import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from jarvis_workers.errors import SnapshotDamaged, SnapshotError
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.reader import OPEN_BLOBS, Entry, Index, index_bytes, open_snapshot
from jarvis_workers.snapshots.selection import Selection

HELLO = sha256(b"hello").hexdigest()


def store(blobs: DirectoryBlobs, manifest: bytes, shards: tuple[str, ...] = ()) -> str:
    """Store a snapshot that somebody else made up."""
    parts = (sha256(manifest).hexdigest(),) if manifest else ()
    return blobs.put(index_bytes(Index(blobs.put(manifest), len(manifest), parts, shards, 1, 1, (), {}, ())))


def test_batches_cover_the_tree_in_order_within_their_limits(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    sizes = {"a.c": 40, "b.c": 40, "c.c": 40, "d.c": 500, "e.c": 1, "f.c": 1, "g.c": 1, "h.c": 1}
    snapshot = pack(grow(tmp_path / "t", {name: name[0] * size for name, size in sizes.items()}), chosen, blobs)
    with open_snapshot(blobs, snapshot.id) as reader:
        batches = list(reader.batches(max_files=3, max_bytes=100))
        names = [[entry.path.decode() for entry in reader.entries(b.offset, b.length)] for b in batches]

    assert names == [["a.c", "b.c"], ["c.c"], ["d.c"], ["e.c", "f.c", "g.c"], ["h.c"]]
    assert [(b.files, b.bytes, b.largest) for b in batches] == [
        (2, 80, 40),
        (1, 40, 40),
        (1, 500, 500),
        (3, 3, 1),
        (1, 1, 1),
    ]
    assert [b.label for b in batches[:3]] == ["a.c … b.c (2 files)", "c.c", "d.c"]


def test_a_label_is_short_and_can_be_shown(tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs) -> None:
    deep = "/".join(["d" * 90] * 3)
    tree = grow(tmp_path / "t", {f"{deep}/a.c": "", f"{deep}/b.c": "", f"{deep}/" + os.fsdecode(b"\xff.c"): ""})
    with open_snapshot(blobs, pack(tree, chosen, blobs).id) as reader:
        several, single = reader.batches(2, 100)

    assert len(several.label) <= 200
    assert several.label.endswith("b.c (2 files)")
    assert len(single.label) == 200
    assert single.label.startswith("…ddd")
    assert single.label.endswith("/\\xff.c")


def test_a_manifest_of_many_parts_is_read_by_ranges(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    tree = grow(tmp_path / "t", {f"{'n' * 150}{number:04}.c": str(number) for number in range(1_000)})
    with open_snapshot(blobs, pack(tree, chosen, blobs).id) as reader:
        batches = list(reader.batches(37, 10_000))
        read = [reader.read(entry) for b in reversed(batches) for entry in reversed(reader.entries(b.offset, b.length))]

    assert len(reader.index.parts) > 2
    assert read == [str(number).encode() for number in reversed(range(1_000))]


def test_few_shards_are_open_at_once(tmp_path: Path, blobs: DirectoryBlobs) -> None:
    contents = [bytes([number]) * 10 for number in range(3 * OPEN_BLOBS)]
    shards = tuple(blobs.put(content) for content in contents)
    entries = [Entry(b"a.c", 10, sha256(c).hexdigest(), number, 0) for number, c in enumerate(contents)]
    before = len(list(Path("/proc/self/fd").iterdir()))
    with open_snapshot(blobs, store(blobs, b"", shards)) as reader:
        assert [reader.read(entry) for entry in entries] == contents
        assert len(list(Path("/proc/self/fd").iterdir())) <= before + OPEN_BLOBS
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_damaged_shard_is_told_and_spares_the_others(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    snapshot = pack(grow(tmp_path / "t", {"a.c": "aaaa", "b.c": "bbbb"}), chosen, blobs)
    blobs.path(snapshot.shards[0]).write_bytes(b"aaXabbbb")
    with open_snapshot(blobs, snapshot.id) as reader:
        first, second = reader.entries(0, reader.index.manifest_bytes)
        with pytest.raises(SnapshotDamaged, match="its copy is corrupt; submit the tree again"):
            reader.read(first)
        assert reader.read(second) == b"bbbb"
    assert pack(tmp_path / "t", chosen, blobs) == snapshot
    with open_snapshot(blobs, snapshot.id) as reader:
        assert reader.read(first) == b"aaaa"


def test_a_missing_or_short_shard_is_damage(tmp_path: Path, blobs: DirectoryBlobs) -> None:
    gone, short = HELLO, blobs.put(b"hell")
    with open_snapshot(blobs, store(blobs, b"", (gone, short))) as reader:
        for shard in range(3):
            with pytest.raises(SnapshotDamaged):
                reader.read(Entry(b"a.c", 5, HELLO, shard, 0))
        with pytest.raises(SnapshotDamaged):
            reader.read(Entry(b"a.c", 10**15, HELLO, 1, 0))
        with pytest.raises(SnapshotDamaged, match="submit the tree again"):
            reader.read(Entry(b"a.c", 0, HELLO, 7, 0))


def test_a_damaged_manifest_is_noticed_by_the_plan_and_by_the_job(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    snapshot = pack(grow(tmp_path / "t", {"a.c": "a", "b.c": "b"}), chosen, blobs)
    place = blobs.path(snapshot.manifest)
    place.write_bytes(place.read_bytes().replace(b"a.c", b"x.c"))
    with open_snapshot(blobs, snapshot.id) as reader:
        with pytest.raises(SnapshotDamaged, match="manifest"):
            list(reader.batches(1, 1))
        with pytest.raises(SnapshotDamaged, match="manifest"):
            reader.entries(0, 10)
        with pytest.raises(SnapshotError, match="does not contain bytes"):
            reader.entries(0, 10_000)


@pytest.mark.parametrize("path", ["../a.c", "/etc/passwd", "a/../../b.c", "", "a\0.c"])
def test_a_manifest_that_names_what_is_outside_is_refused_by_that_name(blobs: DirectoryBlobs, path: str) -> None:
    line = json.dumps([path, 5, HELLO, 0, 0]).encode() + b"\n"
    with (
        open_snapshot(blobs, store(blobs, line)) as reader,
        pytest.raises(SnapshotError, match="outside the root") as caught,
    ):
        reader.entries(0, len(line))

    assert path.replace("\0", "x00") in str(caught.value).replace("\\", "")


@pytest.mark.parametrize(
    "line",
    [
        b"not json\n",
        b"[1, 2, 3]\n",
        b"7\n",
        b'[7, 5, "", 0, 0]\n',
        b'["a.c", -5, "", 0, 0]\n',
        b'["a.c", true, "", 0, 0]\n',
        b'["a.c", 5, 7, 0, 0]\n',
        b'["\\ud800.c", 5, "", 0, 0]\n',
        b'["a.c", 5, "", 0, 0]',
        b"\n",
    ],
)
def test_a_line_that_is_none_is_refused(blobs: DirectoryBlobs, line: bytes) -> None:
    with open_snapshot(blobs, store(blobs, line)) as reader, pytest.raises(SnapshotError):
        list(reader.batches(10, 10))


@pytest.mark.parametrize("index", [b"", b"[]", b"{}", b'{"format": 2}', b'{"format": 1}', b'{"format": 1, "parts": 7}'])
def test_what_is_no_index_of_this_format_is_refused(blobs: DirectoryBlobs, index: bytes) -> None:
    with pytest.raises(SnapshotError, match="snapshot"):
        open_snapshot(blobs, blobs.put(index))


@pytest.mark.timing
def test_reading_imports_nothing_heavy() -> None:
    program = "import sys, jarvis_workers.snapshots.reader, jarvis_workers.snapshots.blobs; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()

    assert not {"pydantic", "fsspec", "pathspec", "sqlalchemy", "hyperscan", "typer"} & set(modules)
