import os
from pathlib import Path

from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.prune import GRACE_SECONDS, prune

NOW = 2_000_000_000.0


def put(blobs: DirectoryBlobs, content: bytes, *, age: float) -> str:
    name = blobs.put(content)
    os.utime(blobs.path(name), (NOW - age, NOW - age))
    return name


def test_what_no_row_names_goes_after_a_day(blobs: DirectoryBlobs) -> None:
    wanted = put(blobs, b"wanted", age=GRACE_SECONDS + 1)
    young = put(blobs, b"young", age=GRACE_SECONDS - 1)
    old = put(blobs, b"old", age=GRACE_SECONDS + 1)

    assert old in {stored.name for stored in blobs.names()}
    assert prune(blobs, {wanted}, NOW) == (1, 3)
    assert {stored.name for stored in blobs.names()} == {wanted, young}
    assert prune(blobs, {wanted}, NOW) == (0, 0)


def test_what_a_submit_wants_again_meanwhile_stays(blobs: DirectoryBlobs) -> None:
    name = put(blobs, b"old", age=GRACE_SECONDS + 1)
    put(blobs, b"old", age=0)

    assert not blobs.delete(name, unless_wanted_since=NOW - GRACE_SECONDS)
    assert blobs.read(name) == b"old"


def test_what_interrupted_writes_left_goes_too(blobs: DirectoryBlobs) -> None:
    directory = blobs.path(put(blobs, b"x", age=0)).parent
    for left in (blobs.root / "new-left", directory / "new-left"):
        left.write_text("half")
        os.utime(left, (NOW - GRACE_SECONDS - 1,) * 2)
    (blobs.root / "new-now").write_text("half")
    os.utime(blobs.root / "new-now", (NOW, NOW))
    prune(blobs, set(), NOW)

    assert {path.name for path in blobs.root.rglob("new-*")} == {"new-now"}


def test_an_empty_store_has_nothing_to_prune(tmp_path: Path) -> None:
    assert prune(DirectoryBlobs(tmp_path / "none"), set(), NOW) == (0, 0)
