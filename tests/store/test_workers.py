"""Workers: seen of late, or gone."""

from jarvis_workers.store import workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import WorkerFacts

WORKER = WorkerFacts("w", "host", pid=7, birth="boot/1", queues="scan", slots=2, version="0")


def touch(store: Store) -> None:
    with store.write() as session:
        workers.touch(session, WORKER)


def find(store: Store, lease_seconds: float) -> tuple[WorkerFacts, bool] | None:
    with store.read() as session:
        return workers.find(session, "w", lease_seconds)


def test_a_worker_is_there_while_it_says_so_within_a_lease(store: Store) -> None:
    touch(store)
    touch(store)

    assert find(store, 60.0) == (WORKER, True)
    assert find(store, -1.0) == (WORKER, False)


def test_a_worker_that_has_left_is_not_known(store: Store) -> None:
    touch(store)
    with store.write() as session:
        workers.leave(session, "w")

    assert find(store, 60.0) is None


def test_workers_not_seen_for_long_are_forgotten(store: Store) -> None:
    touch(store)
    for seconds, known in ((60.0, True), (-1.0, False)):
        with store.write() as session:
            workers.drop_dead(session, seconds)
        assert (find(store, 60.0) is not None) == known
