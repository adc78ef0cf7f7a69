"""A C library becomes the same crate wherever it is converted, whatever is killed meanwhile."""

import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from jarvis_workers.store.engine import Store
from tests.chaos.commands import PATIENCE_SECONDS, until
from tests.chaos.crates import arguments, converted, copied, results
from tests.chaos.fleet import LEASE_SECONDS, TICK_SECONDS, Fleet, fleet_of
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copied(tmp_path)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, object]:
    """The results with one process."""
    place = tmp_path_factory.mktemp("calm")
    return converted("fast", copied(place), place / "home", JARVIS_PROCESSES="1")


@pytest.fixture
def fleet(tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store]) -> Iterator[Fleet]:
    store = open_stores(own_postgres.url("template"))
    home = tmp_path / "fleet"
    home.mkdir()
    with (
        redis_server() as bell,
        fleet_of(home, bell, own_postgres, store, queues="scan,control,build") as fleet,
    ):
        yield fleet


@pytest.mark.timeout(900)
@pytest.mark.long
def test_four_processes_and_another_database_give_the_same(
    project: Path, calm: Mapping[str, object], tmp_path: Path, postgres_url: str
) -> None:
    assert b'"words_checksum"' in calm["symbol_map.jsonl"]  # type: ignore[operator]
    settings = {"JARVIS_PROCESSES": "4", "JARVIS_STORE_URL": postgres_url}
    assert converted("fast", project, tmp_path / "four", **settings) == calm


def running(fleet: Fleet, name: str) -> psutil.Process | None:
    """Return a process of a slot that runs a program of this name in the sandbox."""
    for worker in fleet.workers:
        for slot in worker.slots():
            try:
                below = slot.children(recursive=True)
                if any(process.name() == name for process in below):
                    return slot
            except psutil.NoSuchProcess:
                continue
    return None


@pytest.mark.timeout(900)
@pytest.mark.sample(0, 1)
@pytest.mark.parametrize(("program", "fault"), [("rustc", "kill"), ("check", "kill"), ("rustc", "stop")])
def test_a_worker_that_is_killed_or_stopped_changes_nothing(
    project: Path, calm: Mapping[str, object], fleet: Fleet, tmp_path: Path, program: str, fault: str
) -> None:
    crate = tmp_path / "crate"
    fleet.waiting = fleet.command(*arguments("fast", project, crate))
    slot = until(lambda: running(fleet, program))
    below = slot.children(recursive=True)
    if fault == "kill":
        slot.kill()
        assert not psutil.wait_procs(below, timeout=PATIENCE_SECONDS)[1], "no process outlives its worker"
    else:
        woken_after = fleet.store.now() + LEASE_SECONDS + 2 * TICK_SECONDS
        slot.send_signal(signal.SIGSTOP)
        until(lambda: fleet.store.now() > woken_after)
        slot.send_signal(signal.SIGCONT)
    fleet.wait(0)

    environ = {**fleet.environ, "JARVIS_DATA_DIR": str(fleet.home / "desk" / "data")}
    assert results(project, crate, environ) == calm
