"""A pool: a process that does what is rung for, and says nothing of where things are in its arguments."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import pytest
import redis

from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.pool import time_limit
from jarvis_workers.executors.dispatch.pool_config import POOL_MODULE, PoolConfig
from jarvis_workers.executors.dispatch.routing import POOLS, queue_key, task_names
from jarvis_workers.executors.dispatch.sender import Sender
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.queues import CONVERSATION_QUEUES, QUEUES
from jarvis_workers.toolchain.children import Child
from jarvis_workers.toolchain.die_with_parent import is_running
from tests.chaos.commands import PATIENCE_SECONDS, crowd, until
from tests.executors.dispatch import orphaning
from tests.store.arrange import add_run, enrol, job_rows
from tests.support.proxy import Proxy, proxy_to
from tests.support.servers import Redis

pytestmark = pytest.mark.timing

NO_BROKER = "redis://127.0.0.1:1/0"
ORPHAN_SECONDS = 5.0
ROOT = Path(__file__).parents[3]
PACE = {"lease_seconds": 30.0, "tick_seconds": 0.2, "resend_seconds": 60.0}


def orders(home: Path, store_url: str, broker_url: str) -> PoolConfig:
    DirectoryBlobs(home / "blobs").put(b"another run's")
    return PoolConfig(
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
    assert {"sec.plan", "sec.scan", "sec.report", "c2rust.translate", "c2rust.retranslate"} <= set(task_names())


def test_a_pool_whose_parent_is_killed_while_it_starts_ends(tmp_path: Path) -> None:
    line = orders(tmp_path, f"sqlite:///{tmp_path / 'jarvis.db'}", NO_BROKER).line()
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    parent = subprocess.run(
        [sys.executable, "-m", orphaning.MODULE], input=line + b"\n", stdout=subprocess.PIPE, env=environ, check=False
    )

    assert parent.returncode == -signal.SIGKILL
    until(lambda: not is_running(int(parent.stdout)), ORPHAN_SECONDS)


@pytest.mark.parametrize("informed", [False, True], ids=["before its orders", "after its orders"])
def test_a_pool_ends_at_the_end_of_its_input(informed: bool, tmp_path: Path) -> None:
    pool = Child(POOL_MODULE, [], os.environ, sys.__stderr__.buffer)
    if informed:
        pool.send(orders(tmp_path, f"sqlite:///{tmp_path / 'jarvis.db'}", NO_BROKER).line())
    pool.close()

    assert pool.ended() == ("exited with code 1" if informed else "exited with code 0")


@pytest.mark.slow
def test_a_pool_does_what_is_rung_for_and_ends_when_told(
    postgres_url: str, open_stores: Callable[..., Store], redis_here: Redis, notifier: Notifier, tmp_path: Path
) -> None:
    store = open_stores(postgres_url)
    run = add_run(store, executor="cluster")
    enrol(store, "w", seconds=3600)
    pool = Child(POOL_MODULE, [], os.environ, sys.__stderr__.buffer)
    try:
        pool.send(orders(tmp_path, postgres_url, redis_here.url).line())
        Sender(store, notifier, **PACE).send()
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
    assert how == "exited with code 0"
    assert psutil.wait_procs(family, timeout=5 * crowd())[1] == []


@contextmanager
def redis_that_refuses(proxy: Proxy, pool: psutil.Process) -> Iterator[None]:
    proxy.reply_to_redis("READONLY You can't write against a read only replica.")
    yield
    proxy.accept()


@contextmanager
def no_file_descriptor(proxy: Proxy, pool: psutil.Process) -> Iterator[None]:
    before = pool.rlimit(psutil.RLIMIT_NOFILE)
    pool.rlimit(psutil.RLIMIT_NOFILE, (3, before[1]))
    proxy.cut()
    yield
    pool.rlimit(psutil.RLIMIT_NOFILE, before)


@pytest.mark.slow
@pytest.mark.parametrize("outage", [redis_that_refuses, no_file_descriptor])
def test_a_pool_survives_error_replies_of_redis_and_a_lack_of_file_descriptors(
    outage: Callable[[Proxy, psutil.Process], AbstractContextManager[None]],
    postgres_url: str,
    open_stores: Callable[..., Store],
    redis_here: Redis,
    notifier: Notifier,
    tmp_path: Path,
) -> None:
    store = open_stores(postgres_url)
    run = add_run(store, executor="cluster")
    enrol(store, "w", seconds=3600)
    log = tmp_path / "log"
    with log.open("ab") as errors, proxy_to(redis_here.port) as proxy:
        pool = Child(POOL_MODULE, [], os.environ, errors)
        try:
            pool.send(orders(tmp_path, postgres_url, f"redis://127.0.0.1:{proxy.port}/0").line())
            sender = Sender(store, notifier, **PACE)
            sender.send()
            until(lambda: job_rows(store, run, plan=True)[0].attempts)
            with outage(proxy, psutil.Process(pool.pid)):
                until(lambda: "Connection to broker lost" in log.read_text())
            # A job that meets the outage is released without an attempt, and is sent again.
            until(lambda: (sender.send(), sender.send_again()) and job_rows(store, run, plan=True)[0].attempts >= 2)
            ended = pool.ended()
        finally:
            pool.kill()

    assert ended is None
    assert not [words for words in ("Unrecoverable", "Aborting") if words in log.read_text()]


@pytest.mark.slow
def test_forged_messages_and_commands_end_no_pool_and_blame_no_job(
    postgres_url: str, open_stores: Callable[..., Store], redis_here: Redis, notifier: Notifier, tmp_path: Path
) -> None:
    store = open_stores(postgres_url)
    run = add_run(store, executor="cluster")
    enrol(store, "w", seconds=3600)
    with redis.Redis(port=redis_here.port) as client, (tmp_path / "log").open("wb") as log:
        pool = Child(POOL_MODULE, [], os.environ, log)
        try:
            pool.send(orders(tmp_path, postgres_url, redis_here.url).line())
            Sender(store, notifier, **PACE).send()
            true = json.loads(client.lpop(queue_key("control")))
            for raw in (b"no JSON", b"\xff", b"[" * 2000, b'{"headers": {"task": "sec.plan"}}'):
                client.lpush(queue_key("control"), raw)
            forged = {"timelimit": [0.001, 0.001], "eta": "2099-01-01T00:00:00", "expires": "1999-01-01T00:00:00"}
            client.lpush(queue_key("control"), json.dumps(true | {"headers": true["headers"] | forged}))
            until(lambda: job_rows(store, run, plan=True)[0].attempts, 2 * PATIENCE_SECONDS)
            notifier.app.control.shutdown()
            notifier.app.control.rate_limit("sec.plan", "1/h")
            listening = client.pubsub_channels()
            client.lpush(queue_key("control"), b"no JSON")
            until(lambda: (tmp_path / "log").read_text().count("message dropped") == 5)
            alive = pool.ended() is None
        finally:
            pool.kill()

    (plan,) = job_rows(store, run, plan=True)
    assert (plan.crashes, plan.attempts, alive, listening) == (0, 1, True, [])


def test_every_queue_has_a_pool_and_conversations_share_an_event_loop() -> None:
    loops = [queue for queue, pool in POOLS.items() if pool.kind == "threads"]

    assert (list(POOLS), loops) == (list(QUEUES), list(CONVERSATION_QUEUES))
