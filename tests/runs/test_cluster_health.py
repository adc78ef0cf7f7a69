"""What the doctor says of a cluster's connections to its database."""

from jarvis_workers.runs.health.cluster import examine_cluster
from jarvis_workers.runs.health.doctor import Check
from jarvis_workers.store import workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import WorkerFacts
from tests.store.arrange import enrol

REDIS = {"version": "7", "memory": "1M", "share": "0.5", "eviction": "noeviction", "persistence": "none"}


def checked(store: Store, *pools: tuple[str, str, int]) -> list[Check]:
    """Enrol pools by id, queue and slots; return what is said of connections."""
    for name, queue, slots in pools:
        with store.write() as session:
            workers.touch(session, WorkerFacts(name, "host", 1, "", queues=queue, slots=slots, version="0"))
    found = examine_cluster(store, lambda: REDIS, lease_seconds=30, tick_seconds=2)
    return [check for check in found if check.name == "connections"]


def test_what_workers_may_take_is_counted(store: Store) -> None:
    enrol(store, "somebody-local")
    found = checked(store, ("a-scan", "scan", 8), ("a-agent", "agent", 200), ("a-control", "control", 1))

    if store.dialect == "sqlite":
        assert found == []
    else:
        assert found[0].state == "ok"
        assert found[0].says.endswith("these workers take up to 21")


def test_a_server_with_too_few_connections_is_a_warning(store: Store) -> None:
    found = checked(store, *((f"{n}-scan", "scan", 40) for n in range(3)))

    if store.dialect == "postgresql":
        assert (found[0].state, found[0].remedy.partition(",")[0]) == ("warn", "raise max_connections of PostgreSQL")


def test_a_redis_without_room_is_a_failure_and_one_that_is_nearly_full_a_warning(store: Store) -> None:
    def broker(share: str) -> Check:
        return examine_cluster(store, lambda: REDIS | {"share": share}, lease_seconds=30, tick_seconds=2)[0]

    assert [broker(share).state for share in ("0.0", "0.89", "0.9", "2.54")] == ["ok", "ok", "warn", "fail"]
    assert broker("2.54").says == "Redis 7, 1M, 254% of its maxmemory"
    assert broker("2.54").remedy.startswith("raise maxmemory")
