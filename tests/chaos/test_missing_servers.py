"""Servers that are missing: at the start that is an error in one line, in the middle it costs time alone."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.bench.trees import make_tree
from tests.chaos.commands import crowd, scan_of, until
from tests.chaos.fleet import Fleet, fleet_of
from tests.store.arrange import add_planned_run, job_rows
from tests.support.servers import Postgres, Redis, free_port, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 120
SOON = 10
AWAY_SECONDS = 3.0
START_SECONDS = 5.0
PASSWORD = "sesame"
ASKS = " running? see JARVIS_"
VARIABLES = {"database": "JARVIS_STORE_URL", "broker": "JARVIS_BROKER_URL"}
ADDRESSES = {
    "database": f"postgresql://jarvis:{PASSWORD}@127.0.0.1:{{}}/jarvis",
    "broker": f"redis://jarvis:{PASSWORD}@127.0.0.1:{{}}/0",
}
COMMANDS = {
    "worker": ("worker", "start"),
    "sec": ("sec", "fast", "-p", "tree", "--where", "cluster"),
    "wait": ("runs", "wait", "waiting"),
}


@pytest.fixture(scope="module")
def bell() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


@contextmanager
def refusing() -> Iterator[int]:
    """A port that nobody listens on."""
    yield free_port()


@contextmanager
def silent() -> Iterator[int]:
    """A port that takes every connection, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.mark.parametrize("asked", COMMANDS)
@pytest.mark.parametrize("server", VARIABLES)
def test_a_server_that_is_missing_at_the_start_is_told_in_one_line(
    server: str, asked: str, tmp_path: Path, bell: Redis, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    add_planned_run(open_stores(postgres_url), 1, run_id="waiting", executor="cluster")
    make_tree(tmp_path / "tree", 1)
    there = {"JARVIS_STORE_URL": postgres_url, "JARVIS_BROKER_URL": bell.url}
    for missing in (refusing, silent):
        with missing() as port:
            begun = time.monotonic()
            settings = there | {VARIABLES[server]: ADDRESSES[server].format(port)}
            ended = run(tmp_path, *COMMANDS[asked], **settings)
            took = time.monotonic() - begun
        assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
        assert VARIABLES[server] in ended.stderr
        assert PASSWORD not in ended.stderr
        assert took < START_SECONDS * crowd()


@pytest.mark.parametrize("asked", ["worker", "sec"])
def test_a_database_that_is_read_only_at_the_start_is_told_in_one_line(
    asked: str, tmp_path: Path, bell: Redis, postgres_server: Postgres, postgres_url: str
) -> None:
    make_tree(tmp_path / "tree", 1)
    database = make_url(postgres_url).database
    postgres_server.sql(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    ended = run(tmp_path, *COMMANDS[asked], JARVIS_STORE_URL=postgres_url, JARVIS_BROKER_URL=bell.url)

    told = [line for line in ended.stderr.splitlines() if "JARVIS_BLOBS_URL is not set" not in line]
    assert (ended.returncode, len(told)) == (2, 1), ended.stderr
    assert "the database is read-only, possibly a standby" in told[0]


def run(home: Path, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end; it has to come soon."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    environ |= {"JARVIS_DATA_DIR": str(home / "data"), **settings}
    whole = [sys.executable, "-m", "jarvis_cli", *arguments]
    return subprocess.run(whole, env=environ, cwd=home, capture_output=True, text=True, timeout=240, check=False)


def stop_redis(fleet: Fleet) -> None:
    """Take Redis away, with all it knew."""
    fleet.bell.kill()
    let_pass(AWAY_SECONDS)
    fleet.bell.start()


def stop_postgres(fleet: Fleet) -> None:
    """Take the database away, whatever it does."""
    fleet.database.stop()
    let_pass(AWAY_SECONDS)
    fleet.database.start()


def let_pass(seconds: float) -> None:
    back_at = time.monotonic() + seconds
    until(lambda: time.monotonic() > back_at)


@pytest.mark.parametrize("stop", [stop_redis, pytest.param(stop_postgres, marks=pytest.mark.long)])
def test_a_server_that_is_missing_in_the_middle_is_waited_for(
    stop: Callable[[Fleet], None],
    tmp_path: Path,
    bell: Redis,
    own_postgres: Postgres,
    open_stores: Callable[..., Store],
) -> None:
    tree = tmp_path / "tree"
    make_tree(tree, FILES)
    store = open_stores(own_postgres.url("template"))
    with fleet_of(tmp_path, bell, own_postgres, store, JARVIS_SCAN__BATCH_FILES="1") as fleet:
        fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "desk/report.json")
        until(lambda: there_is_a_run(store) and scan_of(store).done >= SOON)
        stop(fleet)
        assert scan_of(store).state == "open", "the run was over before the server was away"
        fleet.wait(0)

        places = [fleet.home / "desk" / "stderr", *(worker.said for worker in fleet.workers)]
        told = [[line for line in place.read_text().splitlines() if ASKS in line] for place in places]
        # Who does not need the server while it is away, does not notice.
        assert any(told)
        assert max(map(len, told)) == 1, told
        assert not any("PendingDeprecation" in place.read_text() for place in places)
        assert body(fleet.home / "desk" / "report.json") == calm_body(tmp_path, tree)
        assert {row.crashes + row.attempts for row in job_rows(store, newest_run(store))} == {0}


def there_is_a_run(store: Store) -> bool:
    with store.read() as session:
        return bool(newest(session, 1))


def newest_run(store: Store) -> str:
    with store.read() as session:
        return newest(session, 1)[0].id


def calm_body(home: Path, tree: Path) -> Any:
    """The report of a local run."""
    (home / "calm").mkdir()
    assert run(home / "calm", "sec", "fast", "-p", str(tree), "-q", "-o", "report.json").returncode == 0
    return body(home / "calm" / "report.json")


def body(report: Path) -> Any:
    return {name: part for name, part in json.loads(report.read_text()).items() if name != "run"}
