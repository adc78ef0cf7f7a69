"""Events: in the order in which they came."""

from jarvis_workers.store import events
from jarvis_workers.store.engine import Store
from tests.store.arrange import add_run


def test_events_are_read_in_order_with_their_facts(store: Store) -> None:
    run, other = add_run(store), add_run(store)
    before = store.now()
    with store.write() as session:
        events.record(session, run, "recovered", "scan", jobs=2)
        events.record(session, run, "paused", reason="a rest")
        events.record(session, other, "done")
    with store.read() as session:
        _, first, second = events.read(session, run)

    assert (first["name"], first["stage"], first["jobs"]) == ("recovered", "scan", 2)
    assert (second["name"], second["stage"], second["reason"]) == ("paused", None, "a rest")
    assert before <= first["at"] <= second["at"]
