"""A C library becomes the same crate wherever it is converted, whatever is killed meanwhile."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from jarvis_workers.store.engine import Store
from tests.chaos.commands import PATIENCE_SECONDS, crowd, until
from tests.chaos.fleet import LEASE_SECONDS, TICK_SECONDS, Fleet, fleet_of
from tests.servers import Postgres, redis_server, require

pytestmark = [pytest.mark.slow, pytest.mark.timing]

PLAIN = Path(__file__).parents[1] / "data" / "c2rust" / "plain"
# The manifest of a crate names the run.
MANIFEST = ".jarvis-crate.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    require("cc", "make", "cargo", "nm", "gcov")
    return Path(shutil.copytree(PLAIN, tmp_path / "project"))


def arguments(project: Path, crate: Path) -> list[str]:
    command = ["c2rust", "fast", "-q", "-p", str(project), "--build", "make", "--test", "make test"]
    return [*command, "-o", str(crate)]


def results(project: Path, crate: Path, environ: Mapping[str, str]) -> dict[str, object]:
    """Return the files of a conversion, and its reports without what they say of the run."""
    found: dict[str, object] = {
        str(path.relative_to(crate)): path.read_bytes()
        for path in sorted(crate.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    for name in ("symbol_map.jsonl", "progress.json"):
        found[name] = (project / ".jarvis" / "c2rust" / name).read_bytes()
    for form in ("json", "markdown", "html", "text"):
        command = [sys.executable, "-m", "jarvis_cli", "runs", "report", "last", "--format", form]
        found[form] = subprocess.run(command, env=environ, cwd=crate, stdout=subprocess.PIPE, check=True).stdout
    found["json"] = json.loads(str(found["json"], "utf-8"))["conversion"]  # type: ignore[call-overload]
    return found


def converted(project: Path, home: Path, **settings: str) -> dict[str, object]:
    """Return the results of a local conversion."""
    home.mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    environ |= {"JARVIS_DATA_DIR": str(home / "data"), "JARVIS_TICK_SECONDS": "0.1"} | settings
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


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, object]:
    """The results with one process."""
    place = tmp_path_factory.mktemp("calm")
    project = Path(shutil.copytree(PLAIN, place / "project"))
    return converted(project, place / "home", JARVIS_PROCESSES="1")


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
def test_four_processes_and_another_database_give_the_same(
    project: Path, calm: Mapping[str, object], tmp_path: Path, postgres_url: str
) -> None:
    assert b'"words_checksum"' in calm["symbol_map.jsonl"]  # type: ignore[operator]
    settings = {"JARVIS_PROCESSES": "4", "JARVIS_STORE_URL": postgres_url}
    assert converted(project, tmp_path / "four", **settings) == calm


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
@pytest.mark.parametrize(("program", "fault"), [("rustc", "kill"), ("check", "kill"), ("rustc", "stop")])
def test_a_worker_that_is_killed_or_stopped_changes_nothing(
    project: Path, calm: Mapping[str, object], fleet: Fleet, tmp_path: Path, program: str, fault: str
) -> None:
    crate = tmp_path / "crate"
    fleet.waiting = fleet.command(*arguments(project, crate))
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
