"""A snapshot as files: whole or not at all, once for all processes, gone when nobody wants it."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path

import pytest

from jarvis_workers.errors import SnapshotDamaged, SnapshotError, StoreFull
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.checkout import UNUSED_SECONDS, unpack
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.reader import Entry, entry_line
from jarvis_workers.snapshots.selection import Selection
from tests.snapshots.test_reader import store as store_made_up

Packed = Callable[..., str]
FILES = {"a.c": "int a;", "s/é/b.c": b"\0\xff", "s/c.h": "", os.fsdecode(b"caf\xe9.h"): "x"}
OTHER = "import sys; from pathlib import Path; from jarvis_workers.snapshots.blobs import DirectoryBlobs; \
from jarvis_workers.snapshots.checkout import unpack; \
print(unpack(DirectoryBlobs(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3])))"


@pytest.fixture
def packed(tmp_path: Path, grow, chosen: Selection, blobs: DirectoryBlobs) -> Packed:
    """Pack files by their paths; return the snapshot's id."""

    def do(files: dict[str, str | bytes], name: str = "tree") -> str:
        return pack(grow(tmp_path / name, files), chosen, blobs).id

    return do


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def names(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()}


def test_every_name_and_byte_is_there_and_a_second_time_nothing_is_written(
    tmp_path: Path, packed: Packed, blobs: DirectoryBlobs
) -> None:
    snapshot = packed(FILES)
    first = unpack(blobs, snapshot, tmp_path / "place")
    inode = first.stat().st_ino
    second = unpack(DirectoryBlobs(tmp_path / "none"), snapshot, tmp_path / "place")

    assert contents(first) == {name: text if isinstance(text, bytes) else text.encode() for name, text in FILES.items()}
    assert (second, second.stat().st_ino) == (first, inode)


def test_files_are_for_reading_and_none_can_be_run(tmp_path: Path, packed: Packed, blobs: DirectoryBlobs) -> None:
    root = unpack(blobs, packed(FILES), tmp_path / "place")

    modes = {stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*") if path.is_file()}
    assert all(mode & 0o333 == 0 and mode & stat.S_IRUSR for mode in modes)


def test_somebody_who_may_not_write_cannot_change_a_file(
    public_path: Path, packed: Packed, blobs: DirectoryBlobs, as_nobody: Callable[[], AbstractContextManager[None]]
) -> None:
    root = unpack(blobs, packed(FILES), public_path / "place")

    with as_nobody(), pytest.raises(PermissionError):
        (root / "a.c").write_text("int b;")


@pytest.mark.timing
def test_processes_that_want_it_at_once_get_the_same_whole_tree(
    tmp_path: Path, packed: Packed, blobs: DirectoryBlobs
) -> None:
    snapshot = packed({f"d{number % 7}/{number}.c": f"int a{number};" for number in range(300)})
    place = tmp_path / "place"
    command = [sys.executable, "-c", OTHER, str(tmp_path / "blobs"), snapshot, str(place)]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    with ThreadPoolExecutor(4) as here:
        found = set(here.map(lambda _: unpack(blobs, snapshot, place), range(8)))
    said = {other.communicate()[0].strip() for other in others}

    assert said == set(map(str, found)) == {str(place / snapshot)}
    assert len(contents(place / snapshot)) == 300
    assert names(place) == {snapshot, ".lock"}


@pytest.mark.parametrize("path", ["../out.c", "/tmp/out.c", "a/../../out.c", "a//b.c", ".", "a/.", "", "a\0b"])
def test_a_path_that_leaves_the_tree_is_refused_and_nothing_is_left(
    tmp_path: Path, blobs: DirectoryBlobs, path: str
) -> None:
    with pytest.raises(SnapshotError, match="outside the root"):
        unpack(blobs, made_up(blobs, "good.c", path), tmp_path / "place")

    assert names(tmp_path / "place") == {".lock"}
    assert not list(tmp_path.glob("**/out.c"))


@pytest.mark.parametrize(("first", "second"), [("a.c", "a.c"), ("a", "a/b.c"), ("a/b.c", "a")])
def test_a_path_that_stands_twice_is_refused_and_nothing_is_left(
    tmp_path: Path, blobs: DirectoryBlobs, first: str, second: str
) -> None:
    with pytest.raises(SnapshotError, match="the sources cannot be unpacked"):
        unpack(blobs, made_up(blobs, first, second), tmp_path / "place")

    assert names(tmp_path / "place") == {".lock"}


def made_up(blobs: DirectoryBlobs, *paths: str) -> str:
    """Store a snapshot of files with the same text, by whatever paths."""
    entries = [Entry(os.fsencode(path), 4, sha256(b"text").hexdigest(), 0, 0) for path in paths]
    return store_made_up(blobs, b"".join(map(entry_line, entries)), (blobs.put(b"text"),))


def test_a_damaged_copy_is_never_unpacked(tmp_path: Path, packed: Packed, blobs: DirectoryBlobs) -> None:
    snapshot = packed({"a.c": "int a;"})
    for blob in (tmp_path / "blobs").rglob("*"):
        if blob.is_file() and blob.read_bytes() == b"int a;":
            blob.chmod(0o600)
            blob.write_bytes(b"int b;")

    with pytest.raises(SnapshotDamaged):
        unpack(blobs, snapshot, tmp_path / "place")
    assert names(tmp_path / "place") == {".lock"}


def test_what_nobody_has_opened_for_a_day_goes_when_another_comes(
    tmp_path: Path, packed: Packed, blobs: DirectoryBlobs
) -> None:
    old, used, new = (packed({f"{name}.c": name}, name) for name in ("old", "used", "new"))
    place, now = tmp_path / "place", time.time()
    for snapshot in (old, used):
        os.utime(unpack(blobs, snapshot, place), (0, 0))
    unpack(blobs, used, place)
    unpack(blobs, new, place, now + UNUSED_SECONDS / 2)

    assert names(place) == {used, new, ".lock"}


def test_what_was_left_by_a_process_that_died_goes_at_once(
    tmp_path: Path, packed: Packed, blobs: DirectoryBlobs
) -> None:
    place = tmp_path / "place"
    (place / ".half-a-tree").mkdir(parents=True)
    (place / ".half-a-tree" / "a.c").write_text("int")
    snapshot = packed(FILES)
    unpack(blobs, snapshot, place)

    assert names(place) == {snapshot, ".lock"}


@pytest.mark.slow
@pytest.mark.timing
def test_a_process_that_is_killed_leaves_no_tree_that_looks_whole(
    tmp_path: Path, packed: Packed, blobs: DirectoryBlobs
) -> None:
    snapshot = packed({f"{number}.c": f"int a{number};" * 50 for number in range(2_000)})
    place = tmp_path / "place"
    killed = subprocess.Popen([sys.executable, "-c", OTHER, str(tmp_path / "blobs"), snapshot, str(place)])
    while killed.poll() is None and not list(place.glob(".*-*/1*.c")):
        pass
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (place / snapshot).exists()

    assert len(contents(unpack(blobs, snapshot, place))) == 2_000
    assert names(place) == {snapshot, ".lock"}


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, packed: Packed, blobs: DirectoryBlobs) -> None:
    (tmp_path / "place").write_text("a file")

    with pytest.raises(SnapshotError, match="place: the sources cannot be unpacked"):
        unpack(blobs, packed(FILES), tmp_path / "place")


@pytest.mark.timing
def test_a_place_without_room_is_told_apart(tmp_path: Path, packed: Packed, blobs: DirectoryBlobs) -> None:
    """A limit on the size of files stands in for a disk that is full."""
    snapshot, place = packed({"big.c": "int a;" * 10_000}), tmp_path / "place"
    limited = (
        "import resource, signal; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); \
signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        + OTHER
    )
    command = [sys.executable, "-c", limited, str(tmp_path / "blobs"), snapshot, str(place)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert f"{StoreFull.__name__}: {place}: File too large; free some space, or set JARVIS_DATA_DIR" in ended.stderr
    assert names(place) == {".lock"}
