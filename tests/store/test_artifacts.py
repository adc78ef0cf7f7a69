"""Artifacts, and who wants which blob."""

from collections.abc import Sequence

from jarvis_workers.store import artifacts
from jarvis_workers.store.engine import Store
from tests.store.arrange import add_run


def want(store: Store, owner: str, blobs: Sequence[str]) -> None:
    with store.write() as session:
        artifacts.add_uses(session, owner, blobs)


def wanted(store: Store) -> set[str]:
    with store.write() as session:
        artifacts.lock_uses(session)
        return artifacts.used_blobs(session)


def test_an_artifact_of_the_same_name_is_replaced(store: Store) -> None:
    run = add_run(store)
    for blob in ("old", "new"):
        with store.write() as session:
            artifacts.save(session, run, [("report", blob, 3), ("log", "x", 1)])

    with store.read() as session:
        assert artifacts.find(session, run, "report") == "new"
        assert artifacts.find(session, run, "other") is None


def test_wanting_twice_is_wanting_once(store: Store) -> None:
    want(store, "a", ["x", "y", "x"])
    want(store, "a", ["y", "z"])
    want(store, "a", [])

    assert wanted(store) == {"x", "y", "z"}


def test_a_blob_is_wanted_while_anyone_wants_it(store: Store) -> None:
    want(store, "a", ["x"])
    want(store, "b", ["x", "y"])
    with store.write() as session:
        artifacts.drop_uses(session, "b")

    assert wanted(store) == {"x"}


def test_what_a_submit_wanted_is_its_runs(store: Store) -> None:
    run = add_run(store)
    want(store, "submit:r", ["x"])
    with store.write() as session:
        artifacts.transfer_uses(session, "submit:r", run)
        assert artifacts.drop_stale_uses(session, -1.0) == 0

    assert wanted(store) == {"x"}


def test_what_an_old_submit_or_a_removed_run_wanted_is_forgotten(store: Store) -> None:
    want(store, "submit:r", ["x"])
    want(store, "removed", ["y"])
    want(store, add_run(store), ["z"])
    with store.write() as session:
        assert artifacts.drop_stale_uses(session, 60.0) == 0
        assert artifacts.drop_stale_uses(session, -1.0) == 2

    assert wanted(store) == {"z"}
