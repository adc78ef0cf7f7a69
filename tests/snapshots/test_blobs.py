import errno
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from jarvis_workers.errors import BlobsUnavailable, SnapshotDamaged, StoreError, StoreFull
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.resources import open_blobs

NAME = sha256(b"hello").hexdigest()


@contextmanager
def files_at_most(size: int) -> Iterator[None]:
    """As on a full disk: a write beyond fails (EFBIG)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files_in(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_bytes_come_back_under_their_hash(blobs: DirectoryBlobs) -> None:
    assert blobs.put(b"hello") == blobs.put_chunks([b"hel", b"", b"lo"]) == NAME
    assert blobs.has(NAME)
    assert not blobs.has("0" * 64)
    assert blobs.read(NAME) == blobs.path(NAME).read_bytes() == b"hello"
    with os.fdopen(blobs.open(NAME), "rb") as stream:
        assert stream.read() == b"hello"
    assert len(files_in(blobs.root)) == 1


def test_writing_what_is_there_only_touches_it(blobs: DirectoryBlobs) -> None:
    place = blobs.path(blobs.put(b"hello"))
    os.utime(place, (1, 1))
    before = place.stat().st_ino
    blobs.put(b"hello")

    (stored,) = blobs.names()
    assert (stored.name, stored.size, place.stat().st_ino) == (NAME, 5, before)
    assert stored.used_at > 1


def test_a_blob_cut_short_by_a_power_cut_is_written_again(blobs: DirectoryBlobs) -> None:
    blobs.path(blobs.put(b"hello")).write_bytes(b"")
    blobs.put(b"hello")

    assert blobs.read(NAME) == b"hello"


def test_damaged_and_missing_blobs_are_said_so(blobs: DirectoryBlobs) -> None:
    blobs.put(b"a sound one")
    with pytest.raises(SnapshotDamaged, match="missing; set JARVIS_BLOBS_URL"):
        blobs.path(NAME)
    with pytest.raises(SnapshotDamaged, match="missing; set JARVIS_BLOBS_URL"):
        blobs.open(NAME)
    blobs.path(blobs.put(b"hello")).write_bytes(b"jello")
    with pytest.raises(SnapshotDamaged, match="damaged"):
        blobs.read(NAME)


def test_a_blob_that_a_reader_found_damaged_is_written_again(blobs: DirectoryBlobs) -> None:
    blobs.path(blobs.put(b"hello")).write_bytes(b"jello")
    blobs.put(b"hello")
    with pytest.raises(SnapshotDamaged, match="submit the tree again to replace it"):
        blobs.read(NAME)

    blobs.put(b"hello")

    assert blobs.read(NAME) == b"hello"
    inode = blobs.path(NAME).stat().st_ino
    blobs.put(b"hello")
    assert blobs.path(NAME).stat().st_ino == inode


def test_what_cannot_be_read_is_said_with_its_cause(blobs: DirectoryBlobs) -> None:
    blobs.put(b"a sound one")
    blobs.path(blobs.put(b"hello")).unlink()
    (blobs.root / NAME[:2] / NAME[2:4] / NAME).mkdir()

    with pytest.raises(SnapshotDamaged, match="cannot be read: Is a directory"):
        blobs.read(NAME)


def make_empty(root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()


def garble(root: Path) -> None:
    for place in files_in(root):
        place.write_bytes(bytes(place.stat().st_size))


@pytest.mark.parametrize("happens", [shutil.rmtree, make_empty, garble])
def test_a_directory_without_any_sound_blob_is_unavailable_and_is_not_written_to(
    blobs: DirectoryBlobs, happens: Callable[[Path], None]
) -> None:
    blobs.put(b"another one")
    blobs.put(b"hello")
    assert blobs.responds()
    happens(blobs.root)

    with pytest.raises(BlobsUnavailable):
        blobs.read(NAME)
    assert not blobs.responds()
    if happens is not garble:
        with pytest.raises(BlobsUnavailable):
            blobs.open(NAME)
        with pytest.raises(BlobsUnavailable, match="is missing or empty, although it had blobs before"):
            blobs.put(b"new")


def test_a_lack_of_file_descriptors_is_no_damage(blobs: DirectoryBlobs) -> None:
    name = blobs.put(b"hello")
    blobs.put(b"a sound one")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        with pytest.raises(BlobsUnavailable, match="Too many open files"):
            blobs.read(name)
        with pytest.raises(BlobsUnavailable, match="Too many open files"):
            blobs.open(name)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert blobs.read(name) == b"hello"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", NAME + "\n", NAME.upper(), NAME[:63]])
def test_a_name_that_is_no_hash_reaches_no_file(blobs: DirectoryBlobs, name: str) -> None:
    with pytest.raises(SnapshotDamaged, match="not the name of a blob"):
        blobs.read(name)


@pytest.mark.parametrize("write", [lambda b: b.put(bytes(5_000)), lambda b: b.put_chunks([bytes(5_000)])])
def test_a_full_disk_is_one_line_that_names_the_directory_and_leaves_nothing(
    blobs: DirectoryBlobs, write: Callable[[DirectoryBlobs], str]
) -> None:
    with files_at_most(1_000), pytest.raises(StoreFull) as caught:
        write(blobs)

    assert str(blobs.root) in str(caught.value)
    assert os.strerror(errno.EFBIG) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert files_in(blobs.root) == []


def test_a_directory_that_may_not_be_written_is_a_store_error(
    public_path: Path, as_nobody: Callable[[], AbstractContextManager[None]]
) -> None:
    (public_path / "closed").mkdir(mode=0o555)
    with as_nobody(), pytest.raises(StoreError, match="cannot be written"):
        DirectoryBlobs(public_path / "closed").put(b"hello")


def test_a_path_and_a_file_url_open_the_same_directory(tmp_path: Path) -> None:
    name = open_blobs(str(tmp_path / "blobs"), tmp_path / "cache").put(b"hello")

    assert open_blobs(f"file://{tmp_path}/blobs", tmp_path / "cache").read(name) == b"hello"
