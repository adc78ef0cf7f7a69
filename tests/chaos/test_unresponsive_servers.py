"""Servers that are reached and do not answer, or do not write: work goes on soon after they do, and SIGTERM ends it.

By default with short settings and times; what is marked `long` has those of the product.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jarvis_workers.store.engine import Store
from tests.bench.trees import make_tree
from tests.chaos.commands import PATIENCE_SECONDS, crowd, scan_of, until
from tests.chaos.fleet import SILENCE_SECONDS, Fleet, fleet_of, let_pass, read_only
from tests.chaos.test_missing_servers import body, calm_body, newest_run, there_is_a_run
from tests.store.arrange import job_rows
from tests.support.servers import Postgres, Redis, redis_server

FILES = 150
SOON = 5
# Of those that were done when the server fell silent, some are committed later.
MORE = 5
RECOVERY_SECONDS = STOP_SECONDS = 25.0
INTERRUPT_SECONDS = 5.0
# Of three processes that start at once, on processors that others use.
START_SECONDS = 240.0


class Pace(NamedTuple):
    """For how long a server is away, and the settings of the fleet."""

    away_seconds: float
    settings: dict[str, str]


QUICK = Pace(SILENCE_SECONDS, {})
DEFAULT = Pace(
    60.0, {"JARVIS_STORE__STATEMENT_SECONDS": "15", "JARVIS_LEASE_SECONDS": "30", "JARVIS_TICK_SECONDS": "2"}
)
PACES = [
    pytest.param(QUICK, id="quick", marks=[pytest.mark.slow, pytest.mark.timeout(400)]),
    pytest.param(DEFAULT, id="default settings", marks=[pytest.mark.long, pytest.mark.timeout(400)]),
]
Begin = Callable[..., AbstractContextManager[Fleet]]


@pytest.fixture(scope="module")
def bell() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("silence") / "tree"
    make_tree(root, FILES)
    return root


@pytest.fixture(scope="module")
def calm(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The report of a local run."""
    return calm_body(tmp_path_factory.mktemp("calm"), tree)


@pytest.fixture
def begin(tmp_path: Path, tree: Path, bell: Redis, own_postgres: Postgres, open_stores: Callable[..., Store]) -> Begin:
    """Start a fleet and a command that waits for it; return when some jobs are done."""
    bell.flush()
    store = open_stores(own_postgres.url("template"))

    @contextmanager
    def begin(pace: Pace) -> Iterator[Fleet]:
        with fleet_of(tmp_path, bell, own_postgres, store, JARVIS_SCAN__BATCH_FILES="1", **pace.settings) as fleet:
            fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "desk/report.json")
            until(lambda: there_is_a_run(store) and scan_of(store).done >= SOON, START_SECONDS)
            yield fleet

    return begin


def seconds_until_jobs_are_done(fleet: Fleet) -> float:
    """Return how long it takes until some more jobs are done."""
    before, begun = scan_of(fleet.store).done, time.monotonic()
    assert before < FILES - MORE, "the run was over before"
    until(lambda: scan_of(fleet.store).done >= before + MORE)
    return time.monotonic() - begun


def assert_the_run_ends_well(fleet: Fleet, calm: Any) -> None:
    fleet.wait(0)
    assert body(fleet.home / "desk" / "report.json") == calm
    assert {row.state for row in job_rows(fleet.store, newest_run(fleet.store))} == {"done"}
    assert fleet.stop() == [0, 0], fleet.said()


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("server", ["database", "broker"])
def test_work_goes_on_when_open_connections_are_silent_and_new_ones_work(
    server: str, pace: Pace, begin: Begin, calm: Any
) -> None:
    with begin(pace) as fleet:
        getattr(fleet.proxies, server).stall()
        took = seconds_until_jobs_are_done(fleet)
        print(f"{server}: {took:.1f} s until jobs were done over new connections")

        assert took < RECOVERY_SECONDS * crowd()
        assert_the_run_ends_well(fleet, calm)


@pytest.mark.parametrize("pace", PACES)
def test_work_goes_on_after_a_database_was_silent(pace: Pace, begin: Begin, calm: Any) -> None:
    with begin(pace) as fleet:
        fleet.proxies.database.stall(new=True)
        let_pass(pace.away_seconds)
        fleet.proxies.database.accept()
        took = seconds_until_jobs_are_done(fleet)
        print(f"{took:.1f} s until jobs were done after {pace.away_seconds:.0f} s of silence")

        assert took < RECOVERY_SECONDS * crowd()
        assert_the_run_ends_well(fleet, calm)
        told = (fleet.home / "desk" / "stderr").read_text()
        assert told.count("; waiting") == 1, told


@pytest.mark.parametrize("pace", PACES)
def test_sigterm_ends_workers_while_the_database_is_silent(pace: Pace, begin: Begin) -> None:
    with begin(pace) as fleet:
        fleet.proxies.database.stall(new=True)
        begun = time.monotonic()
        codes = fleet.stop()
        took = time.monotonic() - begun
        print(f"workers ended {took:.1f} s after SIGTERM")

        assert codes == [0, 0], fleet.said()
        assert took < STOP_SECONDS


@pytest.mark.slow
def test_ctrl_c_ends_a_waiting_command_while_the_database_is_silent(begin: Begin) -> None:
    with begin(QUICK) as fleet:
        assert fleet.waiting
        fleet.proxies.database.stall(new=True)
        begun = time.monotonic()
        fleet.waiting.send_signal(signal.SIGINT)
        code = fleet.waiting.wait(PATIENCE_SECONDS * crowd())
        took = time.monotonic() - begun
        print(f"the command ended {took:.1f} s after SIGINT")

        assert code == 130
        assert took < INTERRUPT_SECONDS * crowd()


@pytest.mark.parametrize("pace", PACES)
def test_a_database_that_is_read_only_for_a_while_ends_nothing(pace: Pace, begin: Begin, calm: Any) -> None:
    with begin(pace) as fleet:
        with read_only(fleet.database):
            let_pass(pace.away_seconds / 2)
            assert [worker.process.poll() for worker in fleet.workers] == [None, None], fleet.said()
            assert fleet.waiting
            assert fleet.waiting.poll() is None, fleet.said()
        print(f"{seconds_until_jobs_are_done(fleet):.1f} s until jobs were done after the database could be written")

        assert_the_run_ends_well(fleet, calm)
        assert "the database is read-only, possibly a standby" in fleet.said()
