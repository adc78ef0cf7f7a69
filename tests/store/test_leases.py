"""Leases: one holder at a time."""

from jarvis_workers.store import leases
from jarvis_workers.store.engine import Store


def take(store: Store, holder: str, seconds: float = 60.0) -> bool:
    with store.write() as session:
        return leases.take(session, "controller", holder, seconds)


def is_free(store: Store, holder: str) -> bool:
    with store.read() as session:
        return leases.is_free(session, "controller", holder)


def test_a_lease_has_one_holder(store: Store) -> None:
    assert is_free(store, "a")
    assert take(store, "a")
    assert not take(store, "b")
    assert take(store, "a")
    assert is_free(store, "a")
    assert not is_free(store, "b")


def test_a_lease_that_ran_out_can_be_taken(store: Store) -> None:
    take(store, "a", seconds=-1.0)

    assert is_free(store, "b")
    assert take(store, "b")
    assert not take(store, "a")


def test_it_is_known_for_how_long_nobody_has_had_a_lease(store: Store) -> None:
    def overdue() -> float:
        with store.read() as session:
            return leases.overdue(session, "controller")

    assert overdue() == 0.0
    take(store, "a", seconds=-5.0)
    assert 5.0 <= overdue() < 60.0
    take(store, "a")
    assert overdue() == 0.0
    with store.write() as session:
        leases.release(session, "controller", "a")
    assert overdue() == 0.0


def test_a_lease_is_given_back_by_its_holder_alone(store: Store) -> None:
    take(store, "a")
    for holder, free in (("b", False), ("a", True)):
        with store.write() as session:
            leases.release(session, "controller", holder)
        assert take(store, "b") == free
