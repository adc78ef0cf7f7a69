"""What agents make of a tree is the same here and on a fleet, whatever is killed or forgotten meanwhile.

BENCH_TREE names a tree of your own, such as the sources of redis; JUDGE_SECONDS how long the model thinks.
"""

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.agents.loop.server import ModelServer
from tests.chaos.commands import PATIENCE_SECONDS, command, crowd, until
from tests.chaos.conversations import set_model
from tests.chaos.fleet import Fleet, Worker, fleet_of, flush_redis
from tests.cli.test_sec_agent import CALL, STATUSES
from tests.store.arrange import job_rows
from tests.support.judging import slow_judge
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

SECONDS = float(os.environ.get("JUDGE_SECONDS", "0.3"))
QUEUES = "scan,agent,control"
INCOMPLETE = 3
ASKED_TWICE = 2


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    if given := os.environ.get("BENCH_TREE"):
        return Path(given)
    (tmp_path / "tree").mkdir()
    for number in range(16):
        (tmp_path / "tree" / f"f{number}.c").write_text(CALL.format(n=number))
    return tmp_path / "tree"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=slow_judge(SECONDS)) as server:
        yield server


@pytest.fixture
def fleet(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> Iterator[Fleet]:
    for place in (tmp_path, tmp_path / "worker1", tmp_path / "worker2", tmp_path / "local"):
        set_model(place, server)
    store = open_stores(own_postgres.url("template"))
    with (
        redis_server() as bell,
        fleet_of(tmp_path, bell, own_postgres, store, queues=QUEUES, HOME=str(tmp_path)) as fleet,
    ):
        yield fleet


@pytest.mark.timeout(600)
def test_a_fleet_judges_as_one_machine_does_whatever_is_killed(fleet: Fleet, server: ModelServer, tree: Path) -> None:
    with command(fleet.home / "local", "sec", "agent", "-p", str(tree), "-q", "--lang", "en") as alone:
        assert alone.process.wait(4 * PATIENCE_SECONDS * crowd()) == INCOMPLETE
    asked = take_requests(server)

    submit(fleet, tree)
    in_flight = kill_the_worker_with_more(fleet)
    until(lambda: jobs_done(fleet) > 0.6)
    flush_redis(fleet, random.Random(0))
    fleet.wait(INCOMPLETE)
    again = take_requests(server)

    theirs = json.loads((fleet.home / "desk" / "report.json").read_text())
    del theirs["run"]
    assert theirs == alone.body()
    assert list(theirs) == list(alone.body())
    assert {issue["status"] for issue in [*theirs["issues"], *theirs["dismissed"]]} == STATUSES
    assert len(set(again)) == len(set(asked))
    assert len(again) - len(set(again)) <= in_flight
    assert max(again.count(one) for one in again) <= ASKED_TWICE


def submit(fleet: Fleet, tree: Path) -> None:
    """Begin a run of which somebody waits for the report."""
    report = "desk/report.json"
    fleet.waiting = fleet.command("sec", "agent", "-p", str(tree), "-q", "--lang", "en", "-o", report)


def kill_the_worker_with_more(fleet: Fleet) -> int:
    """Kill the parent of a worker in the middle of its conversations, and start another; return how many there were."""
    pid = until(lambda: next(iter(at_work(fleet)), None))
    until(lambda: jobs_done(fleet) > 0.2)
    hold = at_work(fleet)
    pid = max(hold, key=lambda pid: hold[pid], default=pid)
    place = next(n for n, one in enumerate(fleet.workers) if pid in [pool.pid for pool in one.pools()])
    gone = fleet.workers[place]
    psutil.Process(pid).kill()
    fleet.doomed += gone.kill()
    fleet.workers[place] = Worker(gone.home, fleet.environ, gone.queues)
    until(fleet.workers[place].pools)
    return sum(hold.values())


def at_work(fleet: Fleet) -> dict[int, int]:
    """How many conversations each process has."""
    held: dict[int, int] = {}
    for row in conversations(fleet):
        if row.state == "running" and row.process:
            pid = int(row.process.rpartition("/")[2])
            held[pid] = held.get(pid, 0) + 1
    return held


def jobs_done(fleet: Fleet) -> float:
    """Which part of the verifying jobs is done."""
    states = [row.state for row in conversations(fleet) if row.stage == "verify"]
    return states.count("done") / len(states) if states else 0.0


def conversations(fleet: Fleet) -> list[Any]:
    with fleet.store.read() as session:
        run = next(iter(newest(session, 1)), None)
    return [row for stage in ("cluster", "verify") for row in job_rows(fleet.store, run.id, stage)] if run else []


def take_requests(server: ModelServer) -> list[str]:
    """Return what was asked since, and forget it."""
    with server.lock:
        asked = [json.dumps(request, sort_keys=True) for request in server.requests]
        server.requests.clear()
    return asked
