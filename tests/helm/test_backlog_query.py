"""The query by which KEDA scales workers, as the chart renders it, on a PostgreSQL store."""

import json
from typing import Any

import pytest

from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.metric_queries import queue_depths
from tests.helm.chart import SERVERS, manifests, of_kind
from tests.store.arrange import add_planned_run, claim, commit

pytestmark = pytest.mark.slow
GROUPS = {"scan": ["scan"], "control": ["control"], "both": ["scan", "control"]}


@pytest.fixture(scope="module")
def queries() -> dict[str, str]:
    """The query of each group of workers."""
    groups: dict[str, Any] = {name: {"queues": queues} for name, queues in GROUPS.items()}
    values = SERVERS | {"workers": groups, "workerDefaults": {"autoscaling": {"kind": "keda"}}}
    objects = of_kind(manifests(values), "ScaledObject")
    triggers = {name: one["spec"]["triggers"][0] for name, one in objects.items()}
    return {name: triggers[f"test-jarvis-worker-{name}"]["metadata"]["query"] for name in GROUPS}


def count(store: Store, query: str) -> int:
    with store.engine.connect() as connection:
        return int(connection.exec_driver_sql(query).scalar_one())


def test_query_returns_the_waiting_and_running_jobs_of_cluster_runs(postgres_url, open_stores, queries):
    store = open_stores(postgres_url)
    assert {count(store, query) for query in queries.values()} == {0}

    active = add_planned_run(store, 7, executor="cluster")
    done, _ = claim(store, active, limit=2)
    commit(store, done)
    assert {name: count(store, query) for name, query in queries.items()} == {"scan": 6, "control": 0, "both": 6}

    add_planned_run(store, 3, executor="local:desk")
    assert count(store, queries["scan"]) == 6, "a command executes its own run"

    with store.write() as session:
        runs.pause(session, active, "budget")
    assert count(store, queries["both"]) == 0, "no worker may claim its jobs, and the running one is released"

    ended = add_planned_run(store, 5, executor="cluster")
    with store.read() as session:
        (scan,) = (one for one in queue_depths(session) if one.queue == "scan")
    assert count(store, queries["scan"]) == scan.backlog == 5, "as the metric has it"
    with store.write() as session:
        runs.cancel(session, ended)
    assert count(store, queries["scan"]) == 0


def test_query_is_written_once(queries):
    """Only the names of queues differ between groups."""
    plain = {query.replace(", ".join(f"'{name}'" for name in GROUPS[group]), "?") for group, query in queries.items()}

    assert len(plain) == 1, json.dumps(queries)
