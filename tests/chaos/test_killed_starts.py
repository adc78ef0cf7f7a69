"""A worker killed while its pools start leaves no process behind, and harms no run of a sound worker beside it."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from jarvis_workers.executors.dispatch.pool_config import POOL_MODULE
from jarvis_workers.store.engine import Store
from tests.bench.trees import make_tree
from tests.chaos.commands import PATIENCE_SECONDS, PAUSE, crowd, until
from tests.chaos.fleet import Fleet, Worker, fleet_of
from tests.support.servers import Postgres, Redis, redis_server

FILES = 20
QUEUES = "scan,control"
# Over so long the kills are spread, from the first pool on.
STARTING_SECONDS = 1.0
LEFT_SECONDS = 5.0
# So many start, and are killed, at once.
TOGETHER = 5


@pytest.fixture(scope="module")
def bell() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("kills", [pytest.param(2, id="few"), pytest.param(20, marks=pytest.mark.long, id="many")])
@pytest.mark.timeout(1800)
def test_a_worker_killed_while_its_pools_start_leaves_no_process(
    kills: int, tmp_path: Path, bell: Redis, own_postgres: Postgres, open_stores: Callable[..., Store]
) -> None:
    store = open_stores(own_postgres.url("template"))
    make_tree(tmp_path / "tree", FILES)
    moments = [n * STARTING_SECONDS / max(1, kills - 1) for n in range(kills)]
    with fleet_of(tmp_path, bell, own_postgres, store, workers=1) as fleet:
        until(lambda: len(fleet.workers[0].pools()) == 2)
        for first in range(0, kills, TOGETHER):
            fleet.waiting = fleet.command("sec", "fast", "-p", str(tmp_path / "tree"), "-q", "-o", "report.json")
            some = moments[first : first + TOGETHER]
            with ThreadPoolExecutor(TOGETHER) as threads:
                took = list(threads.map(lambda moment: seconds_until_gone(kill_while_it_starts(fleet, moment)), some))
            print(f"killed {some} s after the first pool: gone after {took} s")
            assert fleet.waiting.wait(PATIENCE_SECONDS * crowd()) == 0, fleet.said()
            assert len(json.loads((tmp_path / "report.json").read_text())["issues"]) > 0


def kill_while_it_starts(fleet: Fleet, moment: float) -> Path:
    """Start a worker, and kill its parent alone so many seconds after its first pool; return its home."""
    home = fleet.home / f"doomed{moment:.3f}"
    doomed = Worker(home, fleet.environ | {"HOME": str(home)}, QUEUES)
    fleet.doomed += until(lambda: processes_of(home))
    killed_at = min(pool.create_time() for pool in doomed.pools()) + moment
    while time.time() < killed_at:
        PAUSE.wait(0.005)
    fleet.doomed += doomed.kill()
    return home


def seconds_until_gone(home: Path) -> float:
    """Wait until no process of a worker is left, as long as it may take; return how long that took."""
    killed = time.monotonic()
    until(lambda: not processes_of(home), LEFT_SECONDS)
    return round(time.monotonic() - killed, 2)


def processes_of(home: Path) -> list[psutil.Process]:
    """Return the processes of pools that were started with this home, whoever is their parent now."""
    found = []
    for process in psutil.process_iter():
        try:
            if POOL_MODULE in process.cmdline() and process.environ().get("HOME") == str(home):
                found.append(process)
        except psutil.Error:
            continue
    return found
