"""What people see of a fleet at work: the story of a job in the logs, and every job as a task in Flower."""

import json
import re
import signal
import subprocess
import urllib.request
from ast import literal_eval
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError

import psutil
import pytest

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.bench.trees import make_tree
from tests.chaos.commands import scan_of, until
from tests.chaos.fleet import Fleet, fleet_of
from tests.store.arrange import job_rows
from tests.support.servers import Postgres, free_port, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 12
SLOW = "d0000/slow.c"
SLOW_LINES = 8_000
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARNING|ERROR) ([\w.]+) \w+=")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a file that takes so long that one can aim."""
    root = tmp_path / "tree"
    make_tree(root, FILES - 1)
    (root / SLOW).write_text("strcpy(a, b);\n" * SLOW_LINES)
    return root


@pytest.fixture
def fleet(tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store]) -> Iterator[Fleet]:
    store = open_stores(own_postgres.url("template"))
    api = {"JARVIS_SCAN__BATCH_FILES": "1", "FLOWER_UNAUTHENTICATED_API": "true"}
    with redis_server() as bell, fleet_of(tmp_path, bell, own_postgres, store, **api) as fleet:
        yield fleet


def submit(fleet: Fleet, tree: Path) -> str:
    """Submit a run and leave it to the workers; return its id."""
    assert fleet.command("sec", "fast", "-p", str(tree), "-q", "--detach").wait(60) == 0, fleet.said()
    return run_of(fleet).id


def run_of(fleet: Fleet) -> Any:
    with fleet.store.read() as session:
        return newest(session, 1)[0]


def slow_job(fleet: Fleet, run: str) -> Any:
    """Return the row of the job that takes long, once it is done by somebody."""
    until(lambda: scan_of(fleet.store).jobs == FILES)
    until(lambda: max(job_rows(fleet.store, run), key=lambda row: row.weight).process)
    return max(job_rows(fleet.store, run), key=lambda row: row.weight)


def logs(fleet: Fleet) -> list[str]:
    """Return the lines of all workers in the order of their times."""
    return sorted(line for worker in fleet.workers for line in worker.said.read_text().splitlines())


def story(fleet: Fleet, job: int) -> list[str]:
    """Return what `grep 'job=… '` shows of the logs."""
    return [line for line in logs(fleet) if f"job={job} " in line]


def events(lines: list[str]) -> list[str]:
    return [line.split(" ")[2] for line in lines]


@pytest.mark.long
def test_the_logs_of_all_workers_tell_the_story_of_a_job(fleet: Fleet, tree: Path) -> None:
    run = submit(fleet, tree)
    job = slow_job(fleet, run)
    until(lambda: story(fleet, job.id))
    psutil.Process(int(job.process.rpartition("/")[2])).kill()
    until(lambda: run_of(fleet).state == "done")
    told = story(fleet, job.id)

    assert events(told) == ["claimed", "crashed", "claimed", "committed"], "\n".join(logs(fleet))
    assert all(f" run={run} stage=scan label={SLOW} " in line for line in told)
    assert f"process={job.process} " in told[1]
    assert f" findings={SLOW_LINES}" in told[3]
    assert fleet.stop() == [0, 0]
    assert [line for line in logs(fleet) if not LINE.match(line)] == []


def test_a_run_that_is_on_can_be_watched_in_flower(fleet: Fleet, tree: Path) -> None:
    port = free_port()
    flower = fleet.command("worker", "flower", "--port", str(port))
    try:
        until(lambda: workers_seen(port))
        run = submit(fleet, tree)
        stopped = stop_whoever_does(fleet, slow_job(fleet, run))
        seen = until(lambda: tasks(port, run) if len(tasks(port, run)) > FILES else None)
        state = run_of(fleet).state
        stopped.send_signal(signal.SIGCONT)
        until(lambda: run_of(fleet).state == "done")
    finally:
        end(flower)

    assert state == "running"
    labels = {(task["name"], literal_eval(task["kwargs"])["label"]): task["state"] for task in seen}
    assert labels["sec.plan", "plan scan"] == "SUCCESS"
    assert labels["sec.scan", SLOW] == "STARTED"
    assert labels["sec.scan", "d0000/f000003.c"] == "SUCCESS"
    assert {task["worker"].partition("@")[0] for task in seen} == {"scan", "control"}


def stop_whoever_does(fleet: Fleet, job: Any) -> psutil.Process:
    """Stop the process of a job, so that its run lasts until it goes on."""
    until(lambda: story(fleet, job.id))
    process = psutil.Process(int(job.process.rpartition("/")[2]))
    process.send_signal(signal.SIGSTOP)
    return process


def workers_seen(port: int) -> bool:
    """Say whether Flower knows both pools of both workers."""
    return len(ask(port, "workers?status=true") or ()) == 4


def tasks(port: int, run: str) -> list[dict[str, Any]]:
    """Return what Flower tells of the tasks of a run."""
    return [task for task in (ask(port, "tasks") or {}).values() if run in (task["kwargs"] or "")]


def ask(port: int, what: str) -> Any:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/{what}", timeout=5) as answer:
            return json.load(answer)
    except URLError:
        return None


def end(command: "subprocess.Popen[bytes]") -> None:
    command.send_signal(signal.SIGINT)
    try:
        command.wait(5)
    finally:
        command.kill()
        command.wait()
