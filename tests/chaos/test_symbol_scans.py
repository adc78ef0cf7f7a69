"""A C project has the same symbols, order, graph and page wherever it is read, whatever is killed meanwhile."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from sqlalchemy import select

from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from tests.chaos.commands import PATIENCE_SECONDS, crowd, until
from tests.chaos.fleet import Fleet, fleet_of
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES, FUNCTIONS = 12, 60
LARGE_FUNCTIONS = 1200
WRITTEN = ("symbols.jsonl", "symbols_raw.jsonl", "translation_order.jsonl", "graph.dot", "graph.html")
INCOMPLETE = 3


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one large unit, one that has an error, statics of the same name, and a cycle over two units."""
    root = tmp_path_factory.mktemp("symbols") / "project"
    root.mkdir()
    (root / "all.h").write_text(
        "struct node { struct node *next; int value; };\n#define STEP(x) ((x) + 1)\nint even(int);\n"
    )
    for number in range(FILES):
        text = source(number, FUNCTIONS if number else LARGE_FUNCTIONS)
        (root / f"file{number:02}.c").write_text(text)
    (root / "odd.c").write_text('#include "all.h"\nint odd(int n) { return n ? even(n - 1) : 0; }\n')
    (root / "even.c").write_text("int odd(int);\nint even(int n) { return n ? odd(n - 1) : 1; }\n")
    (root / "broken.c").write_text('#include "missing.h"\nint broken(void) { return 1; }\n')
    return root


def source(number: int, functions: int) -> str:
    lines = ['#include "all.h"', "static int helper(struct node *n) { return STEP(n->value); }"]
    for one in range(functions):
        call = f"f{number}_{one - 1}(n->next)" if one else "even(1)"
        lines.append(f"int f{number}_{one}(struct node *n) {{ return n ? helper(n) + {call} : {one}; }}")
    return "\n".join(lines) + "\n"


def written(project: Path) -> dict[str, bytes]:
    """Return what a scan has written, and remove it."""
    place = project / ".jarvis" / "c2rust"
    contents = {name: (place / name).read_bytes() for name in WRITTEN}
    for name in WRITTEN:
        (place / name).unlink()
    return contents


def scanned(project: Path, home: Path, **settings: str) -> dict[str, bytes]:
    """Return what a local scan writes."""
    home.mkdir(exist_ok=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    environ |= {"JARVIS_DATA_DIR": str(home / "data"), "JARVIS_TICK_SECONDS": "0.1"} | settings
    ended = subprocess.run(
        [sys.executable, "-m", "jarvis_cli", "c2rust", "scan", "-p", str(project), "-q", "--no-png"],
        env=environ,
        cwd=home,
        stderr=subprocess.PIPE,
        check=False,
        timeout=PATIENCE_SECONDS * crowd(),
    )
    assert ended.returncode == INCOMPLETE, ended.stderr
    return written(project)


@pytest.fixture(scope="module")
def calm(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """What a scan with one process writes."""
    return scanned(project, tmp_path_factory.mktemp("calm"), JARVIS_PROCESSES="1")


@pytest.fixture
def fleet(tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store]) -> Iterator[Fleet]:
    store = open_stores(own_postgres.url("template"))
    with redis_server() as bell, fleet_of(tmp_path, bell, own_postgres, store) as fleet:
        yield fleet


def test_four_processes_and_another_database_write_the_same(
    project: Path, calm: Mapping[str, bytes], tmp_path: Path, postgres_url: str
) -> None:
    assert b"f0_1199" in calm["symbols.jsonl"]
    assert b"broken" not in calm["symbols.jsonl"]
    assert b"missing.h" in calm["graph.html"]
    settings = {"JARVIS_PROCESSES": "4", "JARVIS_STORE_URL": postgres_url}
    assert scanned(project, tmp_path / "four", **settings) == calm


@pytest.mark.timeout(600)
def test_a_worker_that_is_killed_within_a_unit_changes_nothing(
    project: Path, calm: Mapping[str, bytes], fleet: Fleet
) -> None:
    fleet.waiting = fleet.command("c2rust", "scan", "-p", str(project), "-q", "--no-png")
    until(lambda: reading(fleet.store))
    _, _, slot = fleet.catch("kill_in_a_unit")
    slot.kill()
    fleet.wait(INCOMPLETE)

    assert written(project) == calm
    (hit,) = fleet.hits
    with fleet.store.read() as session:
        stage, crashes = session.execute(select(JOB.c.stage, JOB.c.crashes).where(JOB.c.id == hit.job)).one()
    assert (stage, crashes) == ("symbols", 1)


def reading(store: Store) -> bool:
    """Return whether a worker reads the large unit."""
    with store.read() as session:
        running = session.execute(select(JOB.c.label).where(JOB.c.stage == "symbols", JOB.c.state == "running"))
        return any("file00.c" in label for (label,) in running)
