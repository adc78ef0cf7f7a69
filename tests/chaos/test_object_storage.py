"""Submit from one machine, scan on others that share no files with it: the source travels through object storage."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import redis
from sqlalchemy import text

from jarvis_workers.store.engine import Store
from jarvis_workers.store.schema import load_tables
from jarvis_workers.store.tables import RUN
from tests.bench.trees import make_tree
from tests.chaos.commands import crowd
from tests.chaos.fleet import Worker
from tests.support.s3 import KEY, S3, SECRET, s3_server
from tests.support.servers import Postgres, Redis, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing, pytest.mark.timeout(900)]

FILES = 40
MARKER, END = "zebra7351marker", "end of the commands of this test"
MARKED = f"""\
/* {MARKER} in a comment */
static const char *const motto = "{MARKER} in a string";
int {MARKER}_count(int {MARKER}_first) {{
    int {MARKER}_next = {MARKER}_first + 1;
    return {MARKER}_next;
}}
void copy(char *to, const char *from) {{
    /* {MARKER} beside a finding */
    strcpy(to, from);
}}
"""
OF_THE_RUN = re.compile(r'"run": \{.*?\n  \}', re.DOTALL)
EVIDENCE_MAX = 200


class Machine:
    """A directory with a home, a data directory and temporary files of its own, and the addresses of the servers."""

    def __init__(self, home: Path, addresses: Mapping[str, str]) -> None:
        self.home = home
        for name in ("data", "tmp"):
            (home / name).mkdir(parents=True)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("JARVIS_", "AWS_"))}
        own = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "JARVIS_DATA_DIR": str(home / "data")}
        self.environ = {**inherited, **own, **addresses}

    def jarvis(self, *arguments: object, code: int = 0) -> str:
        """Run a command; return its output."""
        done = subprocess.run(
            [sys.executable, "-m", "jarvis_cli", *map(str, arguments)],
            env=self.environ,
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            timeout=120 * crowd(),
        )
        assert done.returncode == code, done.stderr
        assert SECRET not in done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    with s3_server() as server:
        yield server


@pytest.fixture
def broker() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


@pytest.fixture
def commands_of_redis(broker: Redis) -> Callable[[], str]:
    """Return a function that returns all commands that Redis has received since the start of the test."""
    seen = bytearray()
    listening = threading.Event()

    def listen() -> None:
        with socket.create_connection(("127.0.0.1", broker.port)) as monitor:
            monitor.sendall(b"MONITOR\r\n")
            while END.encode() not in seen:
                seen.extend(monitor.recv(65536))
                listening.set()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    assert listening.wait(30)

    def stop() -> str:
        with redis.Redis(port=broker.port) as client:
            while thread.is_alive():
                client.echo(END)
                thread.join(0.1)
            held = [client.dump(key) for key in client.scan_iter()]
        assert b"sec.scan" in seen
        return "\n".join(map(str, [bytes(seen), *held]))

    return stop


@pytest.fixture
def worker_homes(tmp_path: Path) -> list[Path]:
    return [tmp_path / f"worker{number}" for number in (1, 2)]


@pytest.fixture
def start_workers(worker_homes: list[Path]) -> Iterator[Callable[[Mapping[str, str]], list[Worker]]]:
    started: list[Worker] = []

    def start(addresses: Mapping[str, str]) -> list[Worker]:
        for home in worker_homes:
            started.append(Worker(home, Machine(home, addresses).environ))
        return started

    yield start
    for worker in started:
        for process in worker.kill():
            with suppress(psutil.NoSuchProcess):
                process.kill()


def rows_of(store: Store) -> str:
    """Return all that the database holds, without the evidence of candidates."""
    found = []
    load_tables()
    with store.engine.connect() as connection:
        for table in RUN.metadata.sorted_tables:
            names = [column.name for column in table.columns if column.name != "evidence"]
            listed = ", ".join(f'"{name}"' for name in names)
            found += [(table.name, *row) for row in connection.execute(text(f'SELECT {listed} FROM "{table.name}"'))]
    return "\n".join(map(repr, found))


def test_workers_scan_what_a_laptop_has_put_into_a_bucket(
    tmp_path: Path,
    s3: S3,
    broker: Redis,
    commands_of_redis: Callable[[], str],
    own_postgres: Postgres,
    open_stores: Callable[..., Store],
    start_workers: Callable[[Mapping[str, str]], list[Worker]],
) -> None:
    tree = tmp_path / "tree"
    make_tree(tree, FILES)
    (tree / "marked.c").write_text(MARKED)
    store = open_stores(own_postgres.url("template"))
    addresses = {
        **s3.environ,
        "JARVIS_STORE_URL": own_postgres.url("template"),
        "JARVIS_BROKER_URL": broker.url,
        "JARVIS_BLOBS_URL": s3.url,
        "JARVIS_TICK_SECONDS": "0.2",
        "JARVIS_LOG_LEVEL": "debug",
    }
    alone = Machine(tmp_path / "alone", {"JARVIS_PROCESSES": "1"})
    alone.jarvis("sec", "fast", "-p", tree, "-q", "-o", "report.json")
    laptop = Machine(tmp_path / "laptop", addresses)

    run = laptop.jarvis("sec", "fast", "-p", tree, "--label", "team=net", "--detach", "-q").strip()
    tree.rename(tmp_path / "moved")
    workers = start_workers(addresses)
    laptop.jarvis("runs", "wait", run, "-q")
    shown = [process.cmdline() for worker in workers for process in worker.family()]
    laptop.jarvis("runs", "report", run, "-o", "report.json")

    reports = [OF_THE_RUN.sub("", (one.home / "report.json").read_text()) for one in (alone, laptop)]
    assert reports[0] == reports[1]
    assert '"file": "marked.c"' in reports[1] and MARKER in "".join(map(str, s3.objects().values()))
    assert MARKER not in commands_of_redis(), "in Redis"
    assert [line for line in rows_of(store).splitlines() if MARKER in line] == [], "in PostgreSQL"
    with store.engine.connect() as connection:
        lengths = connection.execute(text("SELECT max(length(evidence)) FROM candidate")).scalar_one()
    assert 0 < lengths <= EVIDENCE_MAX
    said = "".join(worker.said.read_text() for worker in workers)
    assert not [part for part in shown for word in part if SECRET in word or KEY in word]
    assert SECRET not in said and KEY not in said and MARKER not in said
    operate_from_the_laptop(laptop, run)


def operate_from_the_laptop(laptop: Machine, run: str) -> None:
    """Commands on runs work with nothing but the addresses of the servers."""
    assert run in laptop.jarvis("runs", "list", "--label", "team=net")
    assert "heuristic_issues.jsonl" in laptop.jarvis("runs", "export", run, "-d", laptop.home / "out")
    laptop.jarvis("runs", "prune", run)
    # No worker serves the queue of agents.
    assert "✓ blobs" in laptop.jarvis("doctor", code=2)
