"""Functions that a model translates become the same crate wherever this is done, whatever is killed meanwhile."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from jarvis_workers.store.engine import Store
from tests.agents.server import Body, ModelServer, Step, calls, late
from tests.agents.translating import answers, perfect
from tests.chaos.commands import PATIENCE_SECONDS, crowd, until
from tests.chaos.conversations import asked_again, has_heard
from tests.chaos.fleet import Fleet, fleet_of
from tests.chaos.test_conversions import PLAIN, results
from tests.servers import Postgres, redis_server, require

pytestmark = [pytest.mark.slow, pytest.mark.timing]

QUEUES = "scan,control,build,agent"


def learner(body: Body) -> Step:
    """Answer with prose, then as the mechanical translation."""
    return late(0.3, perfect(body)) if answers(body) else calls("submit_report", rust="I do not know.")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=learner) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Path:
    require("cc", "make", "cargo", "nm", "gcov")
    return Path(shutil.copytree(PLAIN, tmp_path / "project"))


def set_model(directory: Path, server: ModelServer) -> None:
    """Configure the server as the only model, which is asked for reports by a tool."""
    directory.mkdir(parents=True, exist_ok=True)
    group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
    (directory / "jarvis.yaml").write_text(json.dumps({"models": {"m": group}}))


def arguments(project: Path, crate: Path) -> list[str]:
    command = ["c2rust", "transpile", "-q", "-p", str(project), "--build", "make", "--test", "make test"]
    return [*command, "-m", "2", "-o", str(crate)]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Mapping[str, object]:
    """The results of a local run."""
    home = tmp_path_factory.mktemp("calm")
    project = Path(shutil.copytree(PLAIN, home / "project"))
    set_model(home, server)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    environ |= {"JARVIS_DATA_DIR": str(home / "data"), "JARVIS_TICK_SECONDS": "0.1"}
    ended = subprocess.run(
        [sys.executable, "-m", "jarvis_cli", *arguments(project, home / "crate")],
        env=environ,
        cwd=home,
        stderr=subprocess.PIPE,
        check=False,
        timeout=2 * PATIENCE_SECONDS * crowd(),
    )
    assert ended.returncode == 0, ended.stderr
    return results(project, home / "crate", environ)


@pytest.fixture
def fleet(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> Iterator[Fleet]:
    home = tmp_path / "fleet"
    for place in (home, home / "worker1", home / "worker2"):
        set_model(place, server)
    store = open_stores(own_postgres.url("template"))
    with redis_server() as bell, fleet_of(home, bell, own_postgres, store, queues=QUEUES) as fleet:
        yield fleet


def building(fleet: Fleet) -> psutil.Process | None:
    """Return a process of a pool that builds an answer."""
    for worker in fleet.workers:
        for pool in worker.pools():
            try:
                if any(process.name() == "rustc" for process in pool.children(recursive=True)):
                    return pool
            except psutil.NoSuchProcess:
                continue
    return None


@pytest.mark.timeout(900)
def test_a_worker_that_is_killed_while_it_checks_an_answer_changes_nothing(
    project: Path, calm: Mapping[str, object], fleet: Fleet, server: ModelServer, tmp_path: Path
) -> None:
    assert b'"state": "translated"' in calm["symbol_map.jsonl"]  # type: ignore[operator]
    count = len(server.requests)
    server.requests.clear()
    fleet.waiting = fleet.command(*arguments(project, tmp_path / "crate"))
    until(has_heard(server, 4))
    pool = until(lambda: building(fleet))
    below = pool.children(recursive=True)
    pool.kill()
    assert not psutil.wait_procs(below, timeout=PATIENCE_SECONDS)[1], "no process outlives its worker"
    fleet.wait(0)

    environ = {**fleet.environ, "JARVIS_DATA_DIR": str(fleet.home / "desk" / "data")}
    assert results(project, tmp_path / "crate", environ) == calm
    assert len(server.requests) - asked_again(server) == count
