"""The hot paths find their jobs by an index, however many there are."""

import os
from collections.abc import Callable

import pytest

from jarvis_workers.store.dispatching import mark_sent
from jarvis_workers.store.engine import Store
from tests.store.arrange import add_planned_run, add_run
from tests.store.plans import RUNS, Watched, analyze, fill, hot_paths

JOBS = int(os.environ.get("PLANS", "1000000"))
MOST_SECONDS = {"progress": 0.5}
MOST_SECONDS_ELSE = 0.1
TIMES = 13
COUNTS_ALL = "progress"


@pytest.mark.long
def test_a_million_jobs_slow_nobody_down(postgres_url: str, open_stores: Callable[..., Store]) -> None:
    store = open_stores(postgres_url)
    for n in range(RUNS):
        add_run(store, run_id=f"r{n}", executor="cluster")
    fill(store, JOBS)
    analyze(store)
    watched = Watched(store)
    bad = []
    for name, do in hot_paths(store).items():
        seconds = watched.seconds(do, TIMES)
        scans = watched.full_scans(watched.plans_of(do))
        print(f"{name:26} {seconds * 1000:8.1f} ms {len(scans)}")
        if scans and name != COUNTS_ALL:
            bad.append(f"{name}: {scans}")
        if seconds > MOST_SECONDS.get(name, MOST_SECONDS_ELSE):
            bad.append(f"{name}: {seconds:.3f} s")

    assert not bad, "\n".join(bad)


def test_no_hot_path_goes_through_all_jobs(sqlite_url: str, open_stores: Callable[..., Store]) -> None:
    store = open_stores(sqlite_url)
    for n in range(RUNS):
        add_planned_run(store, 30, run_id=f"r{n}", executor="cluster")
    with store.write() as session:
        mark_sent(session, "scan", {f"r{n}": 20 for n in range(RUNS)})
    watched = Watched(store)

    for name, do in hot_paths(store).items():
        plans = watched.plans_of(do)
        assert plans
        assert watched.full_scans(plans) == [], name
