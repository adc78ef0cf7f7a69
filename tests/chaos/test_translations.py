"""Functions that a model translates become the same crate wherever this is done, whatever is killed meanwhile."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from jarvis_workers.store.engine import Store
from tests.agents.loop.server import Body, ModelServer, Step, calls, late
from tests.agents.loop.translating import answers, perfect, with_reviews
from tests.chaos.commands import PATIENCE_SECONDS, until
from tests.chaos.conversations import asked_again, has_heard, set_model
from tests.chaos.crates import arguments, converted, copied, results
from tests.chaos.fleet import Fleet, fleet_of
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

QUEUES = "scan,control,build,translate"
RETRIES = ("-m", "2")
# Reports are requested by a tool.
PROFILE = "deepseek"


def learner(body: Body) -> Step:
    """Answer with prose, then as the mechanical translation."""
    return late(0.3, perfect(body)) if answers(body) else calls("submit_report", rust="I do not know.")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=with_reviews(learner)) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copied(tmp_path)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Mapping[str, object]:
    """The results of a local run."""
    home = tmp_path_factory.mktemp("calm")
    set_model(home, server, profile=PROFILE)
    return converted("transpile", copied(home), home, *RETRIES)


@pytest.fixture
def fleet(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> Iterator[Fleet]:
    home = tmp_path / "fleet"
    for place in (home, home / "worker1", home / "worker2"):
        set_model(place, server, profile=PROFILE)
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
    fleet.waiting = fleet.command(*arguments("transpile", project, tmp_path / "crate", *RETRIES))
    until(has_heard(server, 4))
    pool = until(lambda: building(fleet))
    below = pool.children(recursive=True)
    pool.kill()
    assert not psutil.wait_procs(below, timeout=PATIENCE_SECONDS)[1], "no process outlives its worker"
    fleet.wait(0)

    environ = {**fleet.environ, "JARVIS_DATA_DIR": str(fleet.home / "desk" / "data")}
    assert results(project, tmp_path / "crate", environ) == calm
    assert len(server.requests) - asked_again(server) == count


@pytest.mark.timeout(1800)
def test_a_run_whose_budget_is_spent_leaves_a_crate_and_ends_the_same_when_it_is_resumed(
    project: Path, calm: Mapping[str, object], fleet: Fleet, tmp_path: Path
) -> None:
    """The workers make the crate so far, without the model."""
    crate, environ = tmp_path / "crate", {**fleet.environ, "JARVIS_DATA_DIR": str(fleet.home / "desk" / "data")}
    fleet.waiting = fleet.command(*arguments("transpile", project, crate, *RETRIES, "--budget", "1tok"))
    fleet.wait(3)
    assert f"crate so far: {crate}/" in fleet.said()
    assert "0 of them translated by the model" in fleet.said()
    subprocess.run(["cargo", "build", "--quiet", "--offline", "--target-dir", tmp_path], cwd=crate, check=True)

    fleet.waiting = fleet.command("runs", "resume", "last", "--budget", "10000000tok")
    fleet.wait(0)
    fleet.waiting = fleet.command("runs", "export", "last", "-d", str(tmp_path / "end"))
    fleet.wait(0)
    assert results(project, tmp_path / "end" / "crate", environ) == calm
