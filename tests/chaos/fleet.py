"""A fleet of real workers over Redis and PostgreSQL, and faults to inject into it.

Workers share nothing but the three servers: each has a separate data directory. A fault is a function of the fleet and
a random generator; it returns when the fault is over, not when the fleet has recovered.
"""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import redis
from sqlalchemy import select, text

from jarvis_workers.executors.dispatch.routing import queue_key
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import AGENT_QUEUE
from tests.chaos.commands import PATIENCE_SECONDS, PAUSE, SEED_STAGES, crowd, until
from tests.support.proxy import Proxy, proxy_to
from tests.support.servers import Postgres, Redis

SCANNING, CONVERSING = "scan,control", "agent,control"
LEASE_SECONDS = 2.0
TICK_SECONDS = 0.2
STATEMENT_SECONDS = 2.0
SILENCE_SECONDS = 3 * STATEMENT_SECONDS
DELAY_SECONDS = 0.05
LOST_ANSWERS = 5
STARTING_LOOKS = 10


class Worker:
    """A `jarvis worker start` with a separate data directory."""

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
        """The processes that execute jobs."""
        return [child for pool in self.pools() for child in _children(pool.pid)]

    def family(self) -> list[psutil.Process]:
        """The parent, its pools and their processes."""
        own = [psutil.Process(self.process.pid)] if psutil.pid_exists(self.process.pid) else []
        return own + self.pools() + self.slots()

    def kill(self) -> list[psutil.Process]:
        """Kill only the parent; return the processes that should end with it."""
        left = self.family()[1:]
        self.process.kill()
        self.process.wait()
        return left

    def heartbeats(self) -> list[Path]:
        """The heartbeats of the worker."""
        return sorted((self.home / "data").glob("*.alive"))


class Hit(NamedTuple):
    """The job that a fault interrupted, and the time by the database clock."""

    fault: str
    at: float
    job: int
    fence: int


class Proxies(NamedTuple):
    """The proxies between the fleet and its servers."""

    database: Proxy
    broker: Proxy


class Fleet:
    """Workers, their servers, and the command that waits for the run.

    Workers and commands reach the servers through proxies, `store` is connected without a proxy.
    """

    def __init__(
        self,
        home: Path,
        bell: Redis,
        database: Postgres,
        store: Store,
        environ: Mapping[str, str],
        proxies: "Proxies",
        queues: str = SCANNING,
        workers: int = 2,
    ) -> None:
        self.home, self.bell, self.database, self.store, self.environ = home, bell, database, store, environ
        self.proxies = proxies
        self.workers = [Worker(home / f"worker{n}", environ, queues) for n in range(1, 1 + workers)]
        self.waiting: subprocess.Popen[bytes] | None = None
        self.doomed: list[psutil.Process] = []
        self.hits: list[Hit] = []

    def command(self, *arguments: str, **settings: str) -> "subprocess.Popen[bytes]":
        """Start a command of the product next to the workers."""
        (self.home / "desk").mkdir(exist_ok=True)
        with (self.home / "desk" / "stderr").open("ab") as stderr:
            return subprocess.Popen(
                [sys.executable, "-m", "jarvis_cli", *arguments],
                env={
                    **self.environ,
                    "JARVIS_DATA_DIR": str(self.home / "desk" / "data"),
                    **SEED_STAGES,
                    **settings,
                },
                cwd=self.home,
                stderr=stderr,
            )

    def said(self) -> str:
        """Return the text that commands and workers have written to standard error."""
        places = [self.home / "desk" / "stderr", *(worker.said for worker in self.workers)]
        return "\n".join(f"{place}:\n{place.read_text()}" for place in places if place.exists())

    def wait(self, code: int, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for the command that waits for the run, for some seconds of an idle machine."""
        assert self.waiting is not None
        assert self.waiting.wait(seconds * crowd()) == code, self.said()

    def catch(self, fault: str) -> list[psutil.Process]:
        """Stop a process in the middle of a job; return the parent of its worker, its pool and the process."""
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
        """Return the ids of processes that execute a job according to the store, each with the job and its fence.

        A job whose result is just being committed is locked, and not among them.
        """
        running = select(JOB.c.process, JOB.c.id, JOB.c.fence).where(JOB.c.state == "running")
        with self.store.write() as session:
            rows = session.execute(running.with_for_update(skip_locked=True))
            return {int(row.process.rpartition("/")[2]): (row.id, row.fence) for row in rows}

    def everybody(self) -> list[psutil.Process]:
        """Return all processes of all workers."""
        return [process for worker in self.workers for process in worker.family()]

    def stop(self) -> list[int]:
        """Terminate the workers; return their exit codes."""
        for worker in self.workers:
            worker.process.send_signal(signal.SIGTERM)
        return [worker.process.wait(PATIENCE_SECONDS * crowd()) for worker in self.workers]

    def end(self) -> None:
        """Kill all remaining processes."""
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
    """Start workers without shared files; all their processes are killed at the end."""
    with proxy_to(database.socket) as to_database, proxy_to(bell.port) as to_broker:
        own = "JARVIS_", "GITHUB_", "GITLAB_", "CI"
        environ = {name: value for name, value in os.environ.items() if not name.startswith(own)} | {
            "JARVIS_BROKER_URL": f"redis://127.0.0.1:{to_broker.port}/0",
            "JARVIS_STORE_URL": database.url_of(to_database.port, str(store.engine.url)),
            "JARVIS_BLOBS_URL": str(home / "blobs"),
            "JARVIS_LEASE_SECONDS": str(LEASE_SECONDS),
            "JARVIS_TICK_SECONDS": str(TICK_SECONDS),
            "JARVIS_STORE__STATEMENT_SECONDS": str(STATEMENT_SECONDS),
            **settings,
        }
        fleet = Fleet(home, bell, database, store, environ, Proxies(to_database, to_broker), queues, workers)
        try:
            yield fleet
        finally:
            fleet.end()


def kill_pool_child(fleet: Fleet, dice: random.Random) -> None:
    """Kill a process in the middle of a job."""
    fleet.catch("kill_pool_child")[-1].kill()


def kill_pool(fleet: Fleet, dice: random.Random) -> None:
    """Kill the main process of a pool while one of its processes executes a job."""
    fleet.catch("kill_pool")[1].kill()


def kill_worker(fleet: Fleet, dice: random.Random) -> None:
    """Kill the parent of a worker while one of its processes executes a job, and start a new worker."""
    parent = fleet.catch("kill_worker")[0].pid
    place = next(n for n, worker in enumerate(fleet.workers) if worker.process.pid == parent)
    gone = fleet.workers[place]
    fleet.doomed += gone.kill()
    fleet.workers[place] = Worker(gone.home, fleet.environ, gone.queues)
    # A server that is missing when it starts would end it, as it should.
    until(fleet.workers[place].pools)


def kill_worker_at(fleet: Fleet, stage: str) -> int:
    """Kill a pool in conversations of a stage, and its worker's parent; start a new worker. Return their number."""
    held = until(lambda: _held(fleet, stage))
    pid = max(held, key=held.__getitem__)
    place = next(n for n, worker in enumerate(fleet.workers) if pid in [pool.pid for pool in worker.pools()])
    gone = fleet.workers[place]
    psutil.Process(pid).kill()
    fleet.doomed += gone.kill()
    fleet.workers[place] = Worker(gone.home, fleet.environ, gone.queues)
    until(fleet.workers[place].pools)
    return held[pid]


def _held(fleet: Fleet, stage: str) -> dict[int, int]:
    """Return the number of running conversations of a stage by process."""
    running = select(JOB.c.process).where(JOB.c.state == "running", JOB.c.stage == stage, JOB.c.queue == AGENT_QUEUE)
    with fleet.store.read() as session:
        return Counter(int(process.rpartition("/")[2]) for process in session.execute(running).scalars())


def kill_waiting_command(fleet: Fleet, dice: random.Random) -> None:
    """Kill the command that waits for the run, and start another one."""
    assert fleet.waiting is not None
    fleet.waiting.kill()
    fleet.waiting.wait()
    named = {"JARVIS_STORE_URL": f"{fleet.environ['JARVIS_STORE_URL']}?application_name=waiting"}
    fleet.waiting = fleet.command("runs", "wait", "last", "--quiet", **named)
    # A database that is missing when it starts would end it, as it should: until it looks again and again.
    looks: set[object] = set()

    def is_waiting() -> bool:
        assert fleet.waiting
        if fleet.waiting.poll() == 0:
            return True
        with fleet.store.read() as session:
            looked = text("SELECT state_change FROM pg_stat_activity WHERE application_name = 'waiting'")
            looks.update(session.execute(looked).scalars())
        return len(looks) > STARTING_LOOKS

    until(is_waiting)


def freeze_worker(fleet: Fleet, dice: random.Random) -> None:
    """Stop a whole worker for longer than a lease."""
    parent = fleet.catch("freeze_worker")[0]
    frozen = [parent, *parent.children(recursive=True)]
    woken_after = fleet.store.now() + LEASE_SECONDS + 2 * TICK_SECONDS
    _signal(frozen, signal.SIGSTOP)
    until(lambda: fleet.store.now() > woken_after)
    _signal(frozen, signal.SIGCONT)


def flush_redis(fleet: Fleet, dice: random.Random) -> None:
    """Delete all data of Redis."""
    fleet.bell.flush()


def restart_redis(fleet: Fleet, dice: random.Random) -> None:
    """Kill Redis, and start it without data."""
    fleet.bell.kill()
    fleet.bell.start()


def restart_postgres(fleet: Fleet, dice: random.Random) -> None:
    """Restart the database without waiting for its clients."""
    fleet.database.stop()
    fleet.database.start()
    fleet.store.engine.dispose()


def duplicate_messages(fleet: Fleet, dice: random.Random) -> None:
    """Duplicate every message on its queue."""
    with redis.Redis(port=fleet.bell.port) as client:
        for queue in map(queue_key, ("scan", "control")):
            if messages := client.lrange(queue, 0, -1):
                client.rpush(queue, *messages)


def reorder_messages(fleet: Fleet, dice: random.Random) -> None:
    """Shuffle the queued messages."""
    with redis.Redis(port=fleet.bell.port) as client:
        queue = queue_key("scan")
        messages = client.lrange(queue, 0, -1)
        if messages and client.ltrim(queue, len(messages), -1):
            client.rpush(queue, *dice.sample(messages, len(messages)))


def kill_worker_while_pools_start(fleet: Fleet, dice: random.Random) -> None:
    """Replace a worker by a new one, and kill the parent of the new one as soon as it has started a pool."""
    place = dice.randrange(len(fleet.workers))
    old = fleet.workers[place]
    fleet.doomed += old.kill()
    early = Worker(old.home, fleet.environ, old.queues)
    until(early.pools)
    fleet.doomed += early.kill()
    fleet.workers[place] = Worker(old.home, fleet.environ, old.queues)
    until(fleet.workers[place].pools)


def silence_database(fleet: Fleet, dice: random.Random) -> None:
    """Stall all open connections to the database permanently, while new ones work."""
    fleet.proxies.database.stall()


def silence_broker(fleet: Fleet, dice: random.Random) -> None:
    """Stall all open connections to Redis permanently, while new ones work."""
    fleet.proxies.broker.stall()


def silence_all(fleet: Fleet, dice: random.Random) -> None:
    """Stall all connections to both servers for a while; those opened in that time stay stalled."""
    for proxy in fleet.proxies:
        proxy.stall(new=True)
    let_pass(SILENCE_SECONDS)
    for proxy in fleet.proxies:
        proxy.accept()


def cut_connections(fleet: Fleet, dice: random.Random) -> None:
    """Reset every connection."""
    for proxy in fleet.proxies:
        proxy.cut()


def refuse_connections(fleet: Fleet, dice: random.Random) -> None:
    """Reset every connection, and each new one for a while."""
    for proxy in fleet.proxies:
        proxy.refuse()
    let_pass(SILENCE_SECONDS / 2)
    for proxy in fleet.proxies:
        proxy.accept()


def cut_within_messages(fleet: Fleet, dice: random.Random) -> None:
    """Reset every connection in the middle of its next message."""
    for proxy in fleet.proxies:
        proxy.halve()


def lose_answers_to_commits(fleet: Fleet, dice: random.Random) -> None:
    """Reset connections before the answer to a COMMIT arrives, several times."""
    for _ in range(LOST_ANSWERS):
        fleet.proxies.database.lose_answer(b"COMMIT")
        until(lambda: not fleet.proxies.database.loses_answer)


def delay_messages(fleet: Fleet, dice: random.Random) -> None:
    """Delay the messages to both servers for a while."""
    for proxy in fleet.proxies:
        proxy.delay(DELAY_SECONDS)
    let_pass(SILENCE_SECONDS / 2)
    for proxy in fleet.proxies:
        proxy.accept()


def make_database_read_only(fleet: Fleet, dice: random.Random) -> None:
    """Make the database read-only for a while, as a standby is."""
    with read_only(fleet.database):
        let_pass(SILENCE_SECONDS / 2)


@contextmanager
def read_only(database: Postgres) -> Iterator[None]:
    """Make a server read-only during the block, also in open sessions."""
    setting, reload = "ALTER SYSTEM {} default_transaction_read_only {}", "SELECT pg_reload_conf()"
    for statement in (setting.format("SET", "= on"), reload):
        database.sql(statement)
    yield
    # What ends it must be allowed to write itself.
    for statement in (setting.format("RESET", ""), reload):
        database.sql(statement)


def let_pass(seconds: float) -> None:
    """Wait for some time."""
    PAUSE.wait(seconds)


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
    kill_worker_while_pools_start,
    silence_database,
    silence_broker,
    silence_all,
    cut_connections,
    refuse_connections,
    cut_within_messages,
    lose_answers_to_commits,
    delay_messages,
    make_database_read_only,
)


def draw(dice: random.Random, many: int) -> list[Fault]:
    """Return this many different faults in random order."""
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
