import os
import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.errors import StoreFull
from jarvis_workers.snapshots import ignore
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.selection import Selection


def contents(blobs: DirectoryBlobs, snapshot_id: str) -> dict[bytes, bytes]:
    with open_snapshot(blobs, snapshot_id) as reader:
        batches = list(reader.batches(3, 10_000_000))
        return {e.path: reader.read(e) for b in batches for e in reader.entries(b.offset, b.length)}


def test_a_tree_comes_back_with_every_name_and_byte(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    files = {
        "a b.c": b"int a;",
        "line\nbreak\r.c": b"\0\xff",
        os.fsdecode(b"caf\xe9.h"): b"",
        "s/é.c": b"x" * 10,
        "😀\udc80.c": b"1",
    }
    snapshot = pack(grow(tmp_path / "tree", files), chosen, blobs)

    assert contents(blobs, snapshot.id) == {os.fsencode(name): content for name, content in files.items()}
    assert (snapshot.files, snapshot.bytes) == (5, 19)


def test_a_tree_with_nothing_to_check_is_a_snapshot_too(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    nothing = pack(grow(tmp_path / "none", {"a.txt": "x"}), chosen, blobs)
    empty = pack(grow(tmp_path / "empty", {"a.c": ""}), chosen, blobs)

    assert (nothing.files, nothing.shards, nothing.left_out) == (0, (), {})
    assert contents(blobs, nothing.id) == {}
    assert contents(blobs, empty.id) == {b"a.c": b""}


def test_identical_files_are_stored_once_and_listed_everywhere(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    snapshot = pack(grow(tmp_path / "tree", {"a.c": "x" * 1_000, "b/a.c": "x" * 1_000, "c.c": "y"}), chosen, blobs)

    (shard,) = snapshot.shards
    assert len(blobs.read(shard)) == 1_001
    assert set(contents(blobs, snapshot.id)) == {b"a.c", b"b/a.c", b"c.c"}


def test_two_copies_made_in_another_order_at_another_time_are_one_snapshot(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    files = {f"d{n % 7}/f{n}.c": f"int x{n};" for n in range(100)} | {
        "build/a.c": "",
        "x.txt": "",
        ".gitignore": "f1?.c",
    }
    first = pack(grow(tmp_path / "one", files), chosen, blobs)
    second = grow(tmp_path / "two", dict(reversed(files.items())))
    for path in second.rglob("*.c"):
        os.utime(path, (1, 1))

    assert pack(second, chosen, DirectoryBlobs(tmp_path / "other")) == first
    (second / "d1" / "f1.c").write_text("int y1;")
    assert pack(second, chosen, blobs).id != first.id


def test_what_is_written_beside_the_sources_changes_no_snapshot(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    tree = grow(tmp_path / "tree", {"a.c": "x"})
    before = pack(tree, chosen, blobs)

    assert pack(grow(tree, {"report.json": "{}"}), chosen, blobs) == before


@pytest.mark.slow
def test_a_small_change_reuses_most_shards(tmp_path: Path, chosen: Selection, blobs: DirectoryBlobs) -> None:
    tree, seeded = tmp_path / "tree", random.Random(7)
    tree.mkdir()
    for number in range(1_500):
        (tree / f"{number:04}.c").write_bytes(seeded.randbytes(10_000))
    before = pack(tree, chosen, blobs)
    (tree / "0700.c").write_text("changed")
    (tree / "0800a.c").write_text("new")
    after = pack(tree, chosen, blobs)

    assert len(before.shards) >= 5
    assert len(set(after.shards) - set(before.shards)) <= 3


def test_each_shard_is_announced_before_the_blobs_are_asked_for_it(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    tree = grow(tmp_path / "tree", {"a.c": "x", "b.c": "y" * 20_000_000, "c.c": "z"})
    announced: dict[str, bool] = {}
    snapshot = pack(tree, chosen, blobs, on_shard=lambda name: announced.update({name: blobs.has(name)}))

    assert announced == dict.fromkeys(snapshot.shards, False)
    assert len(snapshot.shards) == 2


def test_progress_counts_files_and_bytes_to_the_end(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    seen: list[tuple[int, int]] = []
    pack(grow(tmp_path / "t", {f"{n}.c": "xx" for n in range(300)}), chosen, blobs, lambda *so_far: seen.append(so_far))

    assert seen == [(256, 512), (300, 600)]


def test_a_file_that_changes_once_while_it_is_read_is_read_again(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    tree = grow(tmp_path / "tree", {"a.c": "old"})

    def read(descriptor: int, size: int) -> bytes:
        content = os.read(descriptor, size)
        if content == b"old":
            (tree / "a.c").write_text("renewed")
        return content

    assert contents(blobs, pack(tree, chosen, blobs, read=read).id) == {b"a.c": b"renewed"}


def test_a_file_that_keeps_changing_is_not_checked(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    tree = grow(tmp_path / "tree", {"a.c": "old", "b.c": "still"})
    times = iter(range(10**9, 10**9 + 100))

    def read(descriptor: int, size: int) -> bytes:
        content = os.read(descriptor, size)
        if content == b"old":
            os.utime(tree / "a.c", (next(times),) * 2)
        return content

    snapshot = pack(tree, chosen, blobs, read=read)
    assert snapshot.not_checked == ((b"a.c", ignore.CHANGING),)
    assert snapshot.files == 1


def test_a_file_that_comes_in_pieces_is_read_whole(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    tree = grow(tmp_path / "tree", {"a.c": "in pieces"})
    snapshot = pack(tree, chosen, blobs, read=lambda descriptor, size: os.read(descriptor, min(size, 2)))

    assert contents(blobs, snapshot.id) == {b"a.c": b"in pieces"}


def test_what_is_removed_replaced_or_fails_between_listing_and_reading_is_not_checked(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    tree = grow(tmp_path / "tree", dict.fromkeys(["a.c", "b.c", "c.c", "d.c", "e.c"], "x"))

    def read(descriptor: int, size: int) -> bytes:
        (tree / "b.c").unlink(missing_ok=True)
        for name in ("c.c", "d.c", "e.c"):
            (tree / name).unlink(missing_ok=True)
        (tree / "c.c").symlink_to("/etc/passwd")
        os.mkfifo(tree / "d.c")
        (tree / "e.c").mkdir()
        raise OSError(5, os.strerror(5))

    assert pack(tree, chosen, blobs, read=read).not_checked == (
        (b"a.c", "cannot be read: Input/output error"),
        (b"b.c", ignore.VANISHED),
        (b"c.c", ignore.REPLACED),
        (b"d.c", "named pipe, not a regular file"),
        (b"e.c", "not a regular file"),
    )


def test_a_file_that_is_too_large_is_not_checked(
    tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    tree = grow(tmp_path / "tree", {"a.c": "x" * 1_001, "b.c": "x" * 1_000})

    snapshot = pack(tree, replace(chosen, max_file_bytes=1_000), blobs)
    assert snapshot.not_checked == ((b"a.c", "too large: 1,001 bytes, limit 1,000"),)


@pytest.mark.parametrize(
    ("pointer", "reason"),
    [
        ("\ufeffversion https://git-lfs.github.com/spec/v1\noid sha256:aa\n", ignore.LFS_POINTER),
        ("version https://git-lfs.github.com/spec/v1\r\noid sha256:aa\r\n", ignore.LFS_POINTER),
        ("version https://hawser.github.com/spec/v1\noid sha256:aa\n", ignore.LFS_POINTER),
        ("version http://git-media.io/v/2\noid sha256:aa\n", ignore.LFS_POINTER),
        ("/annex/objects/SHA256E-s31390--f50d7ac.c\n", ignore.ANNEX_POINTER),
        ("\ufeff/annex/objects/SHA256E-s31390--f50d7ac.c\r\n", ignore.ANNEX_POINTER),
    ],
)
def test_other_forms_of_pointers_are_not_checked(
    pointer: str, reason: str, tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs
) -> None:
    snapshot = pack(grow(tmp_path / "tree", {"a.c": pointer}), chosen, blobs)

    assert snapshot.not_checked == ((b"a.c", reason),)


def test_a_pointer_of_git_lfs_is_not_checked(tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
    snapshot = pack(grow(tmp_path / "tree", {"a.c": pointer, "b.c": f"/* {pointer} */"}), chosen, blobs)

    assert snapshot.not_checked == ((b"a.c", ignore.LFS_POINTER),)


def test_what_cannot_be_read_is_in_the_snapshot_by_name(
    public_path: Path, grow, chosen: Selection, as_nobody: Callable[[], AbstractContextManager[None]]
) -> None:
    tree = grow(public_path / "tree", {"a.c": "x", "closed.c": "x", "shut/b.c": "x", "build/c.c": "x"})
    (tree / "closed.c").chmod(0)
    (tree / "shut").chmod(0)
    (public_path / "blobs").mkdir()
    (public_path / "blobs").chmod(0o777)
    blobs = DirectoryBlobs(public_path / "blobs")
    with as_nobody():
        snapshot = pack(tree, chosen, blobs)
    (tree / "shut").chmod(0o700)

    assert snapshot.not_checked == (
        (b"closed.c", ignore.NO_PERMISSION),
        (b"shut", ignore.NO_PERMISSION),
    )
    with open_snapshot(blobs, snapshot.id) as reader:
        assert reader.index.not_checked == snapshot.not_checked
        assert reader.index.excluded == ((b"build", ignore.EXCLUDED_DIRECTORY),)


def test_a_full_disk_stops_the_packing(tmp_path: Path, grow, chosen: Selection) -> None:
    class Full(DirectoryBlobs):
        def put(self, content: bytes) -> str:
            raise StoreFull(f"{self.root}: No space left on device")

    with pytest.raises(StoreFull):
        pack(grow(tmp_path / "tree", {"a.c": "x"}), chosen, Full(tmp_path / "blobs"))
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []
