"""A fleet of real workers over Redis and PostgreSQL, and what the world does to it.

Workers share nothing but the three servers: each has a data directory of its own.  A fault is a
function of the fleet and the dice; it returns when it is over, not when the fleet has recovered.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import redis
from sqlalchemy import select

from jarvis_workers.dispatch.routes import queue_key
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from tests.chaos.commands import PATIENCE_SECONDS, until
from tests.servers import Postgres, Redis

SCANNING, CONVERSING = "scan,control", "agent,control"
LEASE_SECONDS = 2.0
TICK_SECONDS = 0.2


class Worker:
    """A `jarvis worker start` with a data directory of its own."""

    def __init__(self, home: Path, environ: Mapping[str, str], queues: str = SCANNING) -> None:
        home.mkdir(exist_ok=True)
        self.home, self.queues = home, queues
        self.said = home / "stderr"
        with self.said.open("ab") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jarvis_cli", "worker", "start", "--queues", queues, "-c", "1"],
                env={**environ, "JARVIS_DATA_DIR": str(home / "data")},
                cwd=home,
                stderr=stderr,
            )

    def pools(self) -> list[psutil.Process]:
        """The main processes of its pools."""
        return _children(self.process.pid)

    def slots(self) -> list[psutil.Process]:
        """The processes that do jobs."""
        return [child for pool in self.pools() for child in _children(pool.pid)]

    def family(self) -> list[psutil.Process]:
        """The parent, its pools and their processes."""
        own = [psutil.Process(self.process.pid)] if psutil.pid_exists(self.process.pid) else []
        return own + self.pools() + self.slots()

    def kill(self) -> list[psutil.Process]:
        """Kill the parent alone; return who should die with it."""
        left = self.family()[1:]
        self.process.kill()
        self.process.wait()
        return left

    def heartbeats(self) -> list[Path]:
        """What says that it is alive."""
        return sorted((self.home / "data").glob("*.alive"))


class Hit(NamedTuple):
    """Which job a fault took from its process, and when by the database's clock."""

    fault: str
    at: float
    job: int
    fence: int


class Fleet:
    """Some workers, their servers, and whoever waits for the run."""

    def __init__(
        self,
        home: Path,
        bell: Redis,
        database: Postgres,
        store: Store,
        environ: Mapping[str, str],
        queues: str = SCANNING,
        workers: int = 2,
    ) -> None:
        self.home, self.bell, self.database, self.store, self.environ = home, bell, database, store, environ
        self.workers = [Worker(home / f"worker{n}", environ, queues) for n in range(1, 1 + workers)]
        self.waiting: subprocess.Popen[bytes] | None = None
        self.doomed: list[psutil.Process] = []
        self.hits: list[Hit] = []

    def command(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a command of the product beside the workers."""
        (self.home / "desk").mkdir(exist_ok=True)
        with (self.home / "desk" / "stderr").open("ab") as stderr:
            return subprocess.Popen(
                [sys.executable, "-m", "jarvis_cli", *arguments],
                env={**self.environ, "JARVIS_DATA_DIR": str(self.home / "desk" / "data")},
                cwd=self.home,
                stderr=stderr,
            )

    def said(self) -> str:
        """What commands and workers have written to standard error."""
        places = [self.home / "desk" / "stderr", *(worker.said for worker in self.workers)]
        return "\n".join(f"{place}:\n{place.read_text()}" for place in places if place.exists())

    def wait(self, code: int) -> None:
        """Wait for the command that waits for the run."""
        assert self.waiting is not None
        assert self.waiting.wait(PATIENCE_SECONDS) == code, self.said()

    def catch(self, fault: str) -> list[psutil.Process]:
        """Stop a process in the middle of a job; return its worker's parent, its pool and itself."""
        return until(lambda: self._catch(fault))

    def _catch(self, fault: str) -> list[psutil.Process] | None:
        for worker in self.workers:
            for pool in worker.pools():
                for slot in _children(pool.pid):
                    _signal([slot], signal.SIGSTOP)
                    if slot.pid in (at_work := self._at_work()):
                        self.hits.append(Hit(fault, self.store.now(), *at_work[slot.pid]))
                        return [psutil.Process(worker.process.pid), pool, slot]
                    _signal([slot], signal.SIGCONT)
        return None

    def _at_work(self) -> dict[int, tuple[int, int]]:
        """The process ids that the store says do a job, each with the job and its fence."""
        with self.store.read() as session:
            running = session.execute(select(JOB.c.process, JOB.c.id, JOB.c.fence).where(JOB.c.state == "running"))
            return {int(row.process.rpartition("/")[2]): (row.id, row.fence) for row in running}

    def everybody(self) -> list[psutil.Process]:
        """Every process of every worker."""
        return [process for worker in self.workers for process in worker.family()]

    def stop(self) -> list[int]:
        """Ask the workers to end; return their exit codes."""
        for worker in self.workers:
            worker.process.send_signal(signal.SIGTERM)
        return [worker.process.wait(PATIENCE_SECONDS) for worker in self.workers]

    def end(self) -> None:
        """Kill whatever is left."""
        left = [*self.everybody(), *self.doomed]
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        for command in [worker.process for worker in self.workers] + ([self.waiting] if self.waiting else []):
            command.kill()
            command.wait()


@contextmanager
def fleet_of(
    home: Path,
    bell: Redis,
    database: Postgres,
    store: Store,
    *,
    queues: str = SCANNING,
    workers: int = 2,
    **settings: str,
) -> Iterator[Fleet]:
    """Start workers that see nothing of each other's files; nothing of them is left at the end."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")} | {
        "JARVIS_BROKER_URL": bell.url,
        "JARVIS_STORE_URL": store.engine.url.render_as_string(hide_password=False),
        "JARVIS_BLOBS_URL": str(home / "blobs"),
        "JARVIS_LEASE_SECONDS": str(LEASE_SECONDS),
        "JARVIS_TICK_SECONDS": str(TICK_SECONDS),
        **settings,
    }
    fleet = Fleet(home, bell, database, store, environ, queues, workers)
    try:
        yield fleet
    finally:
        fleet.end()


def kill_pool_child(fleet: Fleet, dice: random.Random) -> None:
    """Kill a process in the middle of a job."""
    fleet.catch("kill_pool_child")[-1].kill()


def kill_pool(fleet: Fleet, dice: random.Random) -> None:
    """Kill the main process of a pool while a process of it does a job."""
    fleet.catch("kill_pool")[1].kill()


def kill_worker(fleet: Fleet, dice: random.Random) -> None:
    """Kill a worker's parent while a process of it does a job, and start another in its place."""
    parent = fleet.catch("kill_worker")[0].pid
    place = next(n for n, worker in enumerate(fleet.workers) if worker.process.pid == parent)
    gone = fleet.workers[place]
    fleet.doomed += gone.kill()
    fleet.workers[place] = Worker(gone.home, fleet.environ, gone.queues)
    # A server that is missing when it starts would end it, as it should.
    until(fleet.workers[place].pools)


def kill_waiting_command(fleet: Fleet, dice: random.Random) -> None:
    """Kill who waits for the run, and wait for it anew."""
    assert fleet.waiting is not None
    fleet.waiting.kill()
    fleet.waiting.wait()
    fleet.waiting = fleet.command("runs", "wait", "last", "--quiet")
    # A database that is missing when it starts would end it, as it should.
    anew = psutil.Process(fleet.waiting.pid)
    until(lambda: anew.net_connections(kind="all"))


def freeze_worker(fleet: Fleet, dice: random.Random) -> None:
    """Stop a whole worker for longer than a lease."""
    parent = fleet.catch("freeze_worker")[0]
    frozen = [parent, *parent.children(recursive=True)]
    woken_after = fleet.store.now() + LEASE_SECONDS + 2 * TICK_SECONDS
    _signal(frozen, signal.SIGSTOP)
    until(lambda: fleet.store.now() > woken_after)
    _signal(frozen, signal.SIGCONT)


def flush_redis(fleet: Fleet, dice: random.Random) -> None:
    """Make Redis forget everything."""
    fleet.bell.flush()


def restart_redis(fleet: Fleet, dice: random.Random) -> None:
    """Kill Redis, and start it empty."""
    fleet.bell.kill()
    fleet.bell.start()


def restart_postgres(fleet: Fleet, dice: random.Random) -> None:
    """Take the database away in the middle of whatever it does."""
    fleet.database.stop()
    fleet.database.start()
    fleet.store.engine.dispose()


def duplicate_messages(fleet: Fleet, dice: random.Random) -> None:
    """Put every message on its queue once more."""
    with redis.Redis(port=fleet.bell.port) as client:
        for queue in map(queue_key, ("scan", "control")):
            if messages := client.lrange(queue, 0, -1):
                client.rpush(queue, *messages)


def reorder_messages(fleet: Fleet, dice: random.Random) -> None:
    """Shuffle what is queued."""
    with redis.Redis(port=fleet.bell.port) as client:
        queue = queue_key("scan")
        messages = client.lrange(queue, 0, -1)
        if messages and client.ltrim(queue, len(messages), -1):
            client.rpush(queue, *dice.sample(messages, len(messages)))


Fault = Callable[[Fleet, random.Random], None]
FAULTS: tuple[Fault, ...] = (
    kill_pool_child,
    kill_pool,
    kill_worker,
    kill_waiting_command,
    freeze_worker,
    flush_redis,
    restart_redis,
    restart_postgres,
    duplicate_messages,
    reorder_messages,
)


def draw(dice: random.Random, many: int) -> list[Fault]:
    """Return that many different faults, in some order."""
    return dice.sample(FAULTS, many)


def _signal(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def _children(pid: int) -> list[psutil.Process]:
    try:
        return [child for child in psutil.Process(pid).children() if child.status() != psutil.STATUS_ZOMBIE]
    except psutil.NoSuchProcess:
        return []
