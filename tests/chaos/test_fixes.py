"""Fixes of findings are the same commits here and on a fleet, whatever is killed meanwhile."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.agents.loop.server import Body, ModelServer, Step, calls, late, says
from tests.chaos.commands import PATIENCE_SECONDS, command, crowd, until
from tests.chaos.conversations import set_model
from tests.chaos.fleet import Fleet, Worker, fleet_of
from tests.cli.code_repository import git
from tests.store.arrange import job_rows
from tests.support.judging import judge
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 6
SECONDS = 0.3
CODE = """\
#include <stdio.h>
#include <string.h>
int copy_{n}(char out[16], const char *name)
{{
    strcpy(out, name);
    return {n};
}}
"""
NAMED = re.compile(r"^\Wfile: (\S+)", re.MULTILINE)


def answer(body: Body) -> Step:
    """Confirm each candidate, and fix each finding in two answers."""
    system, task = (message["content"] for message in body["messages"][:2])
    if system.startswith("You review"):
        return says('{"report": []}')
    if not system.startswith("You repair"):
        return judge(body, "confirmed")
    if any(message["role"] == "assistant" for message in body["messages"]):
        return late(SECONDS, says("Bound the copy of a name"))
    bounded = 'snprintf(out, 16, "%s", name)'
    edit = {"path": NAMED.findall(task)[0], "search": "strcpy(out, name)", "replace": bounded}
    return late(SECONDS, calls("patch", edits=[edit]))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    top.mkdir()
    for number in range(FILES):
        (top / f"f{number}.c").write_text(CODE.format(n=number))
    names = [("config", "user.name", "Ann"), ("config", "user.email", "ann@example.org")]
    for words in [("init", "-qb", "trunk"), *names, ("add", "."), ("commit", "-qm", "first")]:
        git(top, *words)
    return top


@pytest.fixture
def fleet(tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store]) -> Iterator[Fleet]:
    with ModelServer(forever=answer) as server:
        for place in (tmp_path, tmp_path / "worker1", tmp_path / "worker2", tmp_path / "local"):
            set_model(place, server)
        store = open_stores(own_postgres.url("template"))
        with (
            redis_server() as bell,
            fleet_of(tmp_path, bell, own_postgres, store, queues="scan,agent,control", HOME=str(tmp_path)) as fleet,
        ):
            yield fleet


@pytest.mark.timeout(600)
def test_a_fleet_writes_the_same_commits_as_one_machine_whatever_is_killed(fleet: Fleet, tree: Path) -> None:
    agent = ("sec", "agent", "-p", str(tree), "-q", "--rules", "unsafe_api")
    fix = ("sec", "fix", "last", "-q")
    for words in (agent, fix):
        with command(fleet.home / "local", *words) as alone:
            assert alone.process.wait(4 * PATIENCE_SECONDS * crowd()) == 0
    local = branches(tree)
    fleet.waiting = fleet.command(*agent)
    fleet.wait(0)

    fleet.waiting = fleet.command(*fix)
    kill_a_worker(fleet)
    fleet.wait(0)

    both = branches(tree)
    assert (len(local), len(both)) == (1, 2)
    assert len(set(both.values())) == 1
    assert git(tree, "log", "--format=%s", f"trunk..{next(iter(both))}").count("Bound the copy") == FILES


def branches(top: Path) -> dict[str, str]:
    """Return the branches of fixes, with their last commits."""
    lines = git(top, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/jarvis").splitlines()
    return dict(line.split() for line in lines)


def kill_a_worker(fleet: Fleet) -> None:
    """Kill the parent and the pool of a worker that converses, and start another one."""
    pid = until(lambda: next(iter(conversing(fleet)), None))
    place = next(n for n, one in enumerate(fleet.workers) if pid in [pool.pid for pool in one.pools()])
    gone = fleet.workers[place]
    psutil.Process(pid).kill()
    fleet.doomed += gone.kill()
    fleet.workers[place] = Worker(gone.home, fleet.environ, gone.queues)


def conversing(fleet: Fleet) -> list[int]:
    """Return the processes that fix a finding now."""
    with fleet.store.read() as session:
        run = next(iter(newest(session, 1)))
    running = [row for row in job_rows(fleet.store, run.id, "fix") if row.state == "running" and row.process]
    return [int(row.process.rpartition("/")[2]) for row in running]
