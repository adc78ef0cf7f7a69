"""What users ask for at the same time: submits and prunes, and two commands on one run."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.runs import runs as requests
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.snapshots.blobs import DirectoryBlobs, Stored
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.prune import prune
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store import artifacts, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import SnapshotFacts
from tests.store.arrange import (
    add_planned_run,
    add_run,
    claim,
    enrol,
    failed_run,
    job_rows,
    run_now,
    states,
)
from tests.store.interleaving import Pair, Scene, arrive, every_interleaving

pytestmark = pytest.mark.timing

LEASE = 30.0
LONG_AGO = 1_000_000_000.0
C = Selection(frozenset({b".c"}))
_numbers = count(1)


class WatchedBlobs(DirectoryBlobs):
    """Stops before each thing that it does, as a store stops before each statement."""

    def put(self, content: bytes) -> str:
        arrive("put a blob")
        return super().put(content)

    def names(self) -> Iterator[Stored]:
        arrive("list the blobs")
        return super().names()

    def delete(self, name: str, *, unless_wanted_since: float | None = None) -> bool:
        arrive("delete a blob")
        return super().delete(name, unless_wanted_since=unless_wanted_since)


class UntouchedBlobs(WatchedBlobs):
    """Blobs whose times say nothing: one that is there is left as it is."""

    def put(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        if self.has(name):
            arrive("leave a blob")
            return name
        super().put(content)
        os.utime(self.path(name), (LONG_AGO, LONG_AGO))
        return name


@pytest.mark.slow
def test_a_submit_finds_its_blobs_whatever_is_pruned_meanwhile(
    pair: Pair, walk: Callable[..., Iterator[Any]], tmp_path: Path
) -> None:
    """Shards are wished for before they are looked for; manifest and index are only touched, which tells as well."""
    blobs = WatchedBlobs(tmp_path / "blobs")

    def arrange() -> Scene[str, int]:
        tree = old_tree(tmp_path, blobs)
        asked = request(f"s{tree.name}", tree)
        return Scene(asked.run_id, lambda store: submit(store, blobs, asked), lambda store: cull(store, blobs))

    for seen in walk(arrange):
        reader = open_snapshot(blobs, run_now(pair.onlooker, seen.run_id).snapshot_id)
        files = [reader.read(entry) for entry in reader.entries(0, reader.index.manifest_bytes)]
        assert files == [b"int a%s;" % seen.run_id.removeprefix("s").encode()], seen.where


def test_a_wish_keeps_a_blob_whose_time_tells_nothing(
    pair: Pair, walk: Callable[..., Iterator[Any]], tmp_path: Path
) -> None:
    """The lock: whoever prunes holds all wishes still, so a new one comes before it has looked, or after it."""
    blobs = UntouchedBlobs(tmp_path / "blobs")
    for seen in walk(lambda: wish_and_prune(blobs, cull)):
        assert blobs.has(seen.left), seen.where


def test_without_the_lock_such_a_blob_would_be_lost(pair: Pair, tmp_path: Path) -> None:
    blobs = UntouchedBlobs(tmp_path / "blobs")

    def cull_what_was_not_wanted(store: Store, blobs: DirectoryBlobs) -> int:
        with store.write() as session:
            artifacts.lock_uses(session)
            wanted = artifacts.used_blobs(session)
        return prune(blobs, wanted, time.time()).blobs

    seen = every_interleaving(pair, lambda: wish_and_prune(blobs, cull_what_was_not_wanted))
    assert {blobs.has(one.left) for one in seen} == {True, False}


def test_without_a_wish_a_touch_keeps_a_blob(pair: Pair, tmp_path: Path) -> None:
    """The touch: what is put without a wish is safe for a day, though pruning had listed it already."""
    blobs = WatchedBlobs(tmp_path / "blobs")

    def arrange() -> Scene[str, int]:
        content = old_blob(blobs)
        return Scene("", lambda _: blobs.put(content), lambda store: cull(store, blobs))

    for seen in every_interleaving(pair, arrange):
        assert blobs.has(seen.left), seen.where


def test_two_prunes_do_not_wait_for_each_other_for_ever(pair: Pair, tmp_path: Path) -> None:
    blobs = WatchedBlobs(tmp_path / "blobs")

    def arrange() -> Scene[int, int]:
        old_blob(blobs)
        with pair.onlooker.write() as session:
            artifacts.add_uses(session, "submit:given-up", ["0" * 64])
        return Scene("", lambda store: cull(store, blobs, -1), lambda store: cull(store, blobs, -1))

    for seen in every_interleaving(pair, arrange):
        assert list(blobs.names()) == [], seen.where


def test_a_tree_can_be_submitted_while_the_last_run_over_it_is_removed(
    pair: Pair, walk: Callable[..., Iterator[Any]]
) -> None:
    def arrange() -> Scene[str, int]:
        snapshot = SnapshotFacts(f"{next(_numbers):064d}", files=1, bytes=1, not_checked=0)
        old = add_run(pair.onlooker, snapshot=snapshot)
        with pair.onlooker.write() as session:
            runs.finish(session, old, "done")
        return Scene(
            old,
            lambda store: add_run(store, snapshot=snapshot),
            lambda store: requests.remove_runs(store, [old]),
        )

    for seen in walk(arrange):
        snapshot_id = run_now(pair.onlooker, seen.left).snapshot_id
        with pair.onlooker.read() as session:
            assert runs.get(session, seen.run_id) is None, seen.where
            assert runs.snapshot(session, snapshot_id) is not None, seen.where


@pytest.mark.slow
def test_a_run_is_taken_up_by_one(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[bool, bool]:
        run = add_planned_run(pair.onlooker, scans=2)
        claim(pair.onlooker, run)
        for worker in ("a", "b"):
            enrol(pair.onlooker, worker)
        return Scene(run, lambda store: resume(store, run, "local:a"), lambda store: resume(store, run, "local:b"))

    for seen in walk(arrange):
        assert seen.left + seen.right == 1, seen.where
        assert run_now(pair.onlooker, seen.run_id).executor == ("local:a" if seen.left else "local:b"), seen.where
        assert [(row.state, row.crashes) for row in job_rows(pair.onlooker, seen.run_id)] == [("pending", 0)] * 2


@pytest.mark.slow
def test_failed_jobs_are_tried_again_or_removed(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[bool, None]:
        run = failed_run(pair.onlooker)
        return Scene(run, lambda store: retry(store, run, "local:a"), lambda store: remove(store, run))

    for seen in walk(arrange):
        with pair.onlooker.read() as session:
            left = runs.get(session, seen.run_id)
        assert (left is not None) == seen.left, seen.where
        assert states(pair.onlooker, seen.run_id) == (["pending"] if seen.left else []), seen.where


@pytest.mark.slow
def test_failed_jobs_are_tried_again_once(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[bool, bool]:
        run = failed_run(pair.onlooker)
        return Scene(run, lambda store: retry(store, run, "local:a"), lambda store: retry(store, run, "local:b"))

    for seen in walk(arrange):
        assert seen.left + seen.right == 1, seen.where
        assert run_now(pair.onlooker, seen.run_id).executor == ("local:a" if seen.left else "local:b"), seen.where
        assert states(pair.onlooker, seen.run_id) == ["pending"], seen.where


def resume(store: Store, run_id: str, executor: str) -> bool:
    with suppress(UsageError):
        requests.resume(store, requests.find_run(store, run_id), executor, LEASE)
        return True
    return False


def retry(store: Store, run_id: str, executor: str) -> bool:
    with suppress(UsageError):
        return requests.retry(store, requests.find_run(store, run_id), executor) == 1
    return False


def remove(store: Store, run_id: str) -> None:
    requests.remove_runs(store, [run_id])


def old_blob(blobs: DirectoryBlobs) -> bytes:
    """Put a blob that was last wanted long ago; return its content."""
    content = f"blob {next(_numbers)}".encode()
    os.utime(blobs.path(blobs.put(content)), (LONG_AGO, LONG_AGO))
    return content


def old_tree(tmp_path: Path, blobs: DirectoryBlobs) -> Path:
    """Write a tree whose blobs are there from long ago, and that no run wants any more."""
    tree = tmp_path / f"{next(_numbers):05d}"
    tree.mkdir()
    (tree / "a.c").write_text(f"int a{tree.name};")
    pack(tree, C, blobs)
    for stored in blobs.names():
        os.utime(blobs.path(stored.name), (LONG_AGO, LONG_AGO))
    return tree


def request(run_id: str, tree: Path) -> RunRequest[ScanInput]:
    return RunRequest(
        run_id=run_id,
        kind="sec.fast",
        path=tree,
        selection=C,
        executor="local:w",
        run_input=ScanInput(SecOptions(min_confidence=0.0, batch_files=10, batch_bytes=1000, processes=1)),
    )


def wish_and_prune(blobs: DirectoryBlobs, prune_them: Callable[[Store, DirectoryBlobs], int]) -> Scene[str, int]:
    """Somebody wishes for an old blob and puts it; somebody else prunes."""
    content = old_blob(blobs)
    name = hashlib.sha256(content).hexdigest()

    def wish_and_put(store: Store) -> str:
        with store.write() as session:
            artifacts.add_uses(session, f"submit:{name[:16]}", [name])
        return blobs.put(content)

    return Scene("", wish_and_put, lambda store: prune_them(store, blobs))


def cull(store: Store, blobs: DirectoryBlobs, grace_seconds: float = requests.BLOB_GRACE_SECONDS) -> int:
    return requests.prune_unused(store, blobs, time.time(), grace_seconds).blobs
