import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from jarvis_workers.errors import SettingsError, SnapshotDamaged, SnapshotError, StoreError
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.prune import prune
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.remote import RemoteBlobs
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.snapshots.selection import Selection

pytestmark = pytest.mark.timing


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    return f"memory://{uuid4().hex}" if request.param == "memory" else f"file://{tmp_path}/remote"


def cached(cache: Path) -> set[str]:
    return {path.name for path in cache.rglob("*") if path.is_file()}


def test_a_tree_goes_there_and_comes_back(url: str, tmp_path: Path, grow, chosen: Selection) -> None:
    tree = grow(tmp_path / "tree", {"a.c": "int a;", "b/c.c": "int c;"})
    snapshot = pack(tree, chosen, RemoteBlobs(url, tmp_path / "here", 1_000_000))

    with open_snapshot(RemoteBlobs(url, tmp_path / "there", 1_000_000), snapshot.id) as reader:
        (batch,) = reader.batches(10, 1_000)
        assert [reader.read(entry) for entry in reader.entries(batch.offset, batch.length)] == [b"int a;", b"int c;"]
    assert cached(tmp_path / "there") == {snapshot.id, snapshot.manifest, *snapshot.shards}


def test_the_cache_keeps_what_was_used_last(url: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    blobs = RemoteBlobs(url, cache, 250)
    first, second, third = [blobs.put(bytes([value]) * 100) for value in range(3)]
    for age, name in enumerate([first, second, first]):
        blobs.read(name)
        os.utime(blobs.path(name), (age, age))

    blobs.read(third)
    assert cached(cache) == {first, third}
    assert blobs.read(second) == b"\1" * 100


def test_what_is_open_in_another_process_is_not_evicted(tmp_path: Path) -> None:
    url, cache = f"file://{tmp_path}/remote", tmp_path / "cache"
    blobs = RemoteBlobs(url, cache, 150)
    held, other, third = [blobs.put(bytes([value]) * 100) for value in range(3)]
    program = (
        "import sys; from pathlib import Path; from jarvis_workers.snapshots.remote import RemoteBlobs\n"
        "RemoteBlobs(sys.argv[1], Path(sys.argv[2]), 150).open(sys.argv[3]); print('open', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, url, str(cache), held], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        blobs.read(other)
        assert cached(cache) == {held, other}
        holder.communicate(b"\n")
    blobs.read(third)
    assert cached(cache) == {third}


def test_what_arrives_is_checked(tmp_path: Path) -> None:
    blobs = RemoteBlobs(f"file://{tmp_path}/remote", tmp_path / "cache", 1_000)
    name = blobs.put(b"hello")
    (tmp_path / "remote" / name[:2] / name[2:4] / name).write_bytes(b"jello")

    with pytest.raises(SnapshotDamaged, match="does not match"):
        blobs.read(name)
    with pytest.raises(SnapshotDamaged, match="missing"):
        blobs.read(sha256(b"none").hexdigest())
    assert cached(tmp_path / "cache") == set()


def test_a_damaged_copy_in_the_cache_is_fetched_again_next_time(url: str, tmp_path: Path) -> None:
    blobs = RemoteBlobs(url, tmp_path / "cache", 1_000)
    name = blobs.put(b"hello")
    blobs.path(name).write_bytes(b"jello")

    with pytest.raises(SnapshotDamaged, match="try again"):
        blobs.read(name)
    assert blobs.read(name) == b"hello"


def test_a_damaged_object_is_removed_and_written_again(tmp_path: Path) -> None:
    blobs = RemoteBlobs(f"file://{tmp_path}/remote", tmp_path / "cache", 1_000)
    name = blobs.put(b"hello")
    (tmp_path / "remote" / name[:2] / name[2:4] / name).write_bytes(b"jello")
    with pytest.raises(SnapshotDamaged, match="it was removed: submit the tree again"):
        blobs.read(name)

    blobs.put(b"hello")

    assert blobs.read(name) == b"hello"


def test_what_is_old_is_written_again_and_so_survives_pruning(tmp_path: Path) -> None:
    blobs = RemoteBlobs(f"file://{tmp_path}/remote", tmp_path / "cache", 1_000)
    names = [blobs.put(b"hello"), blobs.put(b"world")]
    for name in names:
        os.utime(tmp_path / "remote" / name[:2] / name[2:4] / name, (1_000, 1_000))
    blobs.put(b"hello")

    assert prune(blobs, set(), now=200_000) == (1, 5)
    assert [stored.name for stored in blobs.names()] == names[:1]
    assert not blobs.delete(names[0], unless_wanted_since=2_000)
    assert blobs.delete(names[0])
    assert blobs.delete(names[0])
    assert not blobs.has(names[0])


def test_a_store_that_cannot_be_reached_or_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "remote").write_text("in the way")
    blobs = open_blobs("memory://x", tmp_path / "cache")
    assert isinstance(blobs, RemoteBlobs)
    blobs = RemoteBlobs(f"file://{tmp_path}/remote", tmp_path / "cache", 1_000)

    with pytest.raises(SnapshotError, match="remote"):
        blobs.put(b"hello")
    with pytest.raises(SnapshotError, match="remote"):
        blobs.read(sha256(b"hello").hexdigest())


def test_a_url_that_nothing_can_open_is_a_setting_to_correct(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        open_blobs("nosuch://user:secret@host/blobs", tmp_path)
    assert "nosuch" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("scheme", "module", "extra"), [("s3", "s3fs", "s3"), ("gs", "fsspec", "gcs")])
def test_a_missing_client_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    says = rf'^blobs URL {scheme}://…: {module} is not installed; .* extra "{extra}" of jarvis-workers'
    with pytest.raises(SettingsError, match=says):
        open_blobs(f"{scheme}://bucket/blobs", tmp_path)


def test_access_is_checked_by_writing_and_leaves_nothing(tmp_path: Path) -> None:
    blobs = open_blobs("memory://checked", tmp_path / "cache")
    blobs.check_access()

    assert list(blobs.names()) == []


def test_a_place_that_cannot_be_written_fails_the_check(tmp_path: Path) -> None:
    (tmp_path / "remote").write_text("a file")
    for blobs in (
        RemoteBlobs(f"file://{tmp_path}/remote", tmp_path / "cache", 1_000),
        DirectoryBlobs(tmp_path / "remote" / "deeper"),
    ):
        with pytest.raises((SnapshotError, StoreError), match="remote"):
            blobs.check_access()


def test_an_unavailable_store_is_no_fault_of_a_file(tmp_path: Path, grow, chosen: Selection) -> None:
    tree = grow(tmp_path / "tree", {"a.c": "int a;", "b.c": ""})
    remote = tmp_path / "remote"
    snapshot = pack(tree, chosen, RemoteBlobs(f"file://{remote}", tmp_path / "here", 1_000_000))
    there = RemoteBlobs(f"file://{remote}", tmp_path / "there", 1_000_000)

    with open_snapshot(there, snapshot.id) as reader:
        entries = list(reader.files())
        remote.rename(tmp_path / "away")
        remote.write_text("in the way")
        with pytest.raises(SnapshotError) as unavailable:
            reader.fetch(entries)
        assert not isinstance(unavailable.value, SnapshotDamaged)
        remote.unlink()
        reader.fetch(entries)  # the store is there, and has lost the shard
        with pytest.raises(SnapshotDamaged, match="missing"):
            reader.read(entries[0])
        (tmp_path / "away").rename(remote)
        reader.fetch(entries)
        remote.rename(tmp_path / "away")
        assert [reader.read(entry) for entry in entries] == [b"int a;", b""]
