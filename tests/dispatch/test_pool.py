"""A pool: a process that does what is rung for, and says nothing of where things are in its arguments."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from jarvis_workers.dispatch.broker import Doorbell
from jarvis_workers.dispatch.parent import POOL_MODULE
from jarvis_workers.dispatch.pool import Orders, time_limit
from jarvis_workers.dispatch.routes import task_names
from jarvis_workers.dispatch.sender import Sender
from jarvis_workers.store.engine import Store
from jarvis_workers.toolchain.children import Child
from tests.chaos.commands import until
from tests.servers import Redis
from tests.store.arrange import add_run, job_rows

PACE = {"lease_seconds": 30.0, "tick_seconds": 0.2, "resend_seconds": 60.0}


def orders(home: Path, store_url: str, broker_url: str) -> Orders:
    return Orders(
        broker_url,
        store_url,
        str(home / "blobs"),
        str(home / "cache"),
        "w",
        "control",
        1,
        job_lease_seconds=60.0,
        **PACE,
    )


def test_orders_are_one_line(tmp_path: Path) -> None:
    line = orders(tmp_path, "postgresql://jarvis:secret@db/jarvis", "redis://:secret@redis/0").line()

    assert b"\n" not in line
    assert json.loads(line)["worker_id"] == "w"


@pytest.mark.parametrize(("lease", "limit"), [(310.0, 305.0), (10.5, 5.5), (2.0, 1.0)])
def test_a_job_is_ended_before_its_lease_runs_out(lease: float, limit: float) -> None:
    assert time_limit(lease) == limit


def test_every_step_has_a_task_that_reads_well() -> None:
    assert {"sec.plan", "sec.scan", "sec.report"} <= set(task_names())


def test_a_pool_does_what_is_rung_for_and_ends_when_told(
    postgres_url: str, open_stores: Callable[..., Store], redis_here: Redis, bell: Doorbell, tmp_path: Path
) -> None:
    store = open_stores(postgres_url)
    run = add_run(store, executor="cluster")
    pool = Child(POOL_MODULE, [], os.environ, sys.__stderr__.buffer)
    try:
        pool.send(orders(tmp_path, postgres_url, redis_here.url).line())
        Sender(store, bell, **PACE).send()
        until(lambda: job_rows(store, run, plan=True)[0].attempts)
        (plan,) = job_rows(store, run, plan=True)
        family = psutil.Process(pool.pid).children(recursive=True)
        seen = psutil.Process(pool.pid).cmdline()
        pool.signal(signal.SIGTERM)
        how = pool.wait(20.0)
    finally:
        pool.kill()

    assert plan.reason.startswith("SnapshotDamaged: ")
    assert not [word for word in seen if "redis" in word or "postgres" in word]
    assert how == "ended with code 0"
    assert psutil.wait_procs(family, timeout=5)[1] == []
