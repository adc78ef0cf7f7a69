"""Compute the outcome of each error at each place of a worker, by injecting errors at its ports.

The ports are the sessions of the store, the paths of files, and Redis behind a proxy. An error of a server happens
once, one of a file system lasts until the worker gives the job up, or for OUTAGE_SECONDS if its result is retried.
"""

import errno
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PosixPath
from typing import Any, NamedTuple

import psycopg
from psycopg import errors as sqlstates
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from jarvis_workers.errors import JarvisError
from jarvis_workers.executors.dispatch.broker import Notification, Notifier
from jarvis_workers.executors.dispatch.leased_jobs import Holder, LeasedJobs
from jarvis_workers.executors.dispatch.pool_config import PoolConfig
from jarvis_workers.executors.dispatch.prefork_task import PreforkRunner
from jarvis_workers.executors.dispatch.supervisor import PoolSupervisor, SupervisorContext
from jarvis_workers.pipeline.outage import Outage, OutageLimits
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.filecache import FOLDER, KEY_FILE, FileCache
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.lockwait import store_error
from jarvis_workers.store.tables import JOB, RUN
from jarvis_workers.store.values import Claimed, Commit, WorkerFacts

STORE_PLACES = ("tick", "claim", "load", "save", "renew")
FILE_PLACES = ("heartbeat", "blob read", "one blob", "blob write", "cache read", "cache write")
PLACES = STORE_PLACES + FILE_PLACES
LOST_COMMIT = "lost commit"
NOWHERE = "–"
# Classes of PostgreSQL that only its clients see, or that its statements cannot raise.
CLASSES = sorted({code[:2] for code in sqlstates._sqlcodes if len(code) == 5 and code.isupper() | code.isdigit()})
SPECIAL_STATES = ("25006", "42501", "53100")
REDIS_ERRORS = ("READONLY", "UNBLOCKED", "NOPERM", "BUSY", "LOADING", "MISCONF", "OOM", "MASTERDOWN", "ERR", "NOAUTH")
ERRNOS = (
    *("EIO", "ENOSPC", "EMFILE", "ENFILE", "ESTALE", "EROFS", "EACCES"),
    *("ENOENT", "ENOMEM", "EDQUOT", "EINTR", "ETIMEDOUT"),
)
WORKER = "w"
OUTAGE_SECONDS = 0.1

Row = Mapping[str, str]


class ErrorPath(PosixPath):
    """A path whose files cannot be used while an error is set: `__fspath__` is called before each system call."""

    error: Exception | None = None
    only = ""
    until = 0.0

    def __fspath__(self) -> str:
        place = super().__fspath__()
        if ErrorPath.error and ErrorPath.only in place and time.monotonic() < ErrorPath.until:
            raise ErrorPath.error
        return place


class ErrorStore(Store):
    """A store that raises an error at the next session in a place, or after the next commit there."""

    place = at = ""
    error: Exception | None = None
    after_commit = False

    def fail(self, after_commit: bool) -> None:
        if self.error and self.at == self.place and self.after_commit == after_commit:
            error, self.error = self.error, None
            raise error

    @contextmanager
    def _session(self, mode: str) -> Iterator[Session]:
        with super()._session(mode) as session:
            self.fail(after_commit=False)
            yield session

    @contextmanager
    def write(self, *, pauses: bool = False) -> Iterator[Session]:
        with super().write(pauses=pauses) as session:
            yield session
        try:
            self.fail(after_commit=True)
        except DBAPIError as error:
            raise store_error(error, self.where) from error


class PlacedRunner(PreforkRunner):
    """A runner that tells its store in which place it is."""

    store: ErrorStore
    on_place: Callable[[str], None] = lambda _: None

    def _at(self, place: str) -> None:
        self.store.place = place
        self.on_place(place)

    def claim(self, job_id: int) -> Claimed | None:
        self._at("claim")
        return super().claim(job_id)

    def decide(self, job: Claimed) -> Commit | None:
        self._at("load")
        return super().decide(job)

    def save(self, job: Claimed, commit: Commit) -> bool:
        self._at("save")
        return super().save(job, commit._replace(artifacts=(("note", b"a note"),)))

    def release(self, job: Claimed) -> bool:
        self._at("release")
        return super().release(job)

    def fail(self, job: Claimed, reason: str) -> bool:
        self._at("release")
        return super().fail(job, reason)


class SilentNotifier:
    """A broker without messages."""

    def depth(self, queue: str) -> int:
        return 0

    def waits_since(self, queue: str) -> float | None:
        return None

    def is_new(self) -> bool:
        return False

    def notify(self, notifications: list[Notification]) -> None:
        pass


class RunningChild:
    """A pool that runs."""

    pid = os.getpid()

    def ended(self) -> None:
        return None


class Template(NamedTuple):
    """A data directory with a run whose only scan job waits, and that job."""

    directory: Path
    run: str
    job: int
    shard: str


@dataclass
class World:
    """A copy of the template for one cell."""

    template: Template
    home: Path
    store: ErrorStore = field(init=False)

    def __post_init__(self) -> None:
        shutil.copytree(self.template.directory, self.home)
        opened = open_store(f"sqlite:///{self.home}/jarvis.db")
        self.store = ErrorStore(opened.engine, opened.clock, opened.deadline, opened.lock_wait)

    def close(self) -> None:
        self.store.close()
        shutil.rmtree(self.home)

    def supervisor(self, notifier: Any) -> PoolSupervisor:
        config = PoolConfig("", "", "", "", WORKER, "control", 1, 30.0, 60.0, 1.0, 60.0)
        facts = WorkerFacts(WORKER, "here", os.getpid(), "", "control", 1, "0")
        heartbeat = ErrorPath(self.home / f"worker-{WORKER}.alive")
        context = SupervisorContext(heartbeat, {}, sys.__stderr__.buffer, lambda _: None)  # type: ignore[union-attr]
        parent = PoolSupervisor(self.store, notifier, [(config, facts)], context)
        parent.pools[0].child = RunningChild()  # type: ignore[assignment]
        parent.register()
        return parent

    def runner(self) -> PlacedRunner:
        blobs = DirectoryBlobs(ErrorPath(self.home / "blobs"))
        cache = FileCache(ErrorPath(self.home / "cache" / FOLDER), 1 << 20, self.home / KEY_FILE)
        limits = OutageLimits(full=60.0, blob_pause=0.0, host_pause=0.0)
        world = self.store, Resources(blobs, cache), lambda: None
        runner = PlacedRunner(WORKER, 60.0, lambda: world, 30.0, outage=Outage(lambda _: None, limits))
        runner.store = self.store
        return runner

    def row(self) -> Any:
        self.store.place = "look"
        with self.store.read() as session:
            return session.execute(JOB.select().where(JOB.c.id == self.template.job)).one()

    def state(self) -> str:
        self.store.place = "look"
        with self.store.read() as session:
            return str(session.execute(RUN.select().where(RUN.c.id == self.template.run)).one().state)


def database_error(code: str) -> DBAPIError:
    """Return the error of SQLAlchemy for one of psycopg."""
    named = next(known for known in sqlstates._sqlcodes if known.startswith(code) and len(known) == 5)
    cause = sqlstates.lookup(named)(f"an error of class {code}")
    error = DBAPIError.instance("SELECT 1", (), cause, psycopg.Error)
    assert isinstance(error, DBAPIError)
    return error


def outcome_of_tick(world: World, notifier: Any, arm: Callable[[], None]) -> str:
    parent = world.supervisor(notifier)
    world.store.place = "tick"
    arm()
    try:
        parent.tick()
    except JarvisError:
        return "ends by name"
    except Exception:  # noqa: BLE001  (what the table is about)
        return "internal error"
    return "borne"


def outcome_of_job(world: World, arm: Callable[[str], None]) -> str:
    """Return what becomes of the scan job; `arm` is called with each place."""
    world.supervisor(SilentNotifier())
    runner = world.runner()
    runner.on_place = arm
    try:
        runner.do(world.template.job)
        raised = ""
    except JarvisError:
        raised = " by name"
    except (OSError, MemoryError):
        raised = " with a logged error"
    except Exception:  # noqa: BLE001  (what the table is about)
        return "internal error"
    finally:
        ErrorPath.error = None
    return outcome_of_row(world.row(), world.state(), raised)


def outcome_of_row(row: Any, run_state: str, raised: str) -> str:
    outcomes = {
        "done": "file not checked" if row.not_checked else "borne",
        "pending": "job back" if row.fence else f"sent again{raised}",
    }
    if run_state == "paused":
        return "the run pauses"
    if row.state == "pending" and row.attempts:
        return "attempt fails"
    return outcomes.get(row.state, f"lease expires{raised}")


def outcome_of_renewal(world: World, error: Exception, *, after_commit: bool) -> str:
    lost: list[Claimed] = []
    world.supervisor(SilentNotifier())
    jobs = LeasedJobs(world.store, Holder(WORKER, f"{WORKER}/1", 60.0), lost.append, threading.Event())
    jobs.claim([world.template.job])
    world.store.place = world.store.at = "renew"
    world.store.error, world.store.after_commit = error, after_commit
    try:
        jobs.renew()
    except Exception:  # noqa: BLE001  (what the table is about)
        return "internal error"
    return "jobs are lost" if lost else "borne"


def outcome_at(world: World, place: str, error: Exception, *, after_commit: bool = False) -> str:
    """Return the outcome of an error in a place of the store."""

    def arm(_: str = "") -> None:
        if world.store.at != place:
            world.store.at, world.store.error, world.store.after_commit = place, error, after_commit

    if place == "tick":
        return outcome_of_tick(world, SilentNotifier(), arm)
    if place == "renew":
        return outcome_of_renewal(world, error, after_commit=after_commit)
    return outcome_of_job(world, arm)


def outcome_of_file(world: World, place: str, error: Exception) -> str:
    """Return the outcome of an error of the file system in a place."""
    if place == "heartbeat":

        def fail() -> None:
            ErrorPath.only, ErrorPath.error, ErrorPath.until = ".alive", error, math.inf

        try:
            return outcome_of_tick(world, SilentNotifier(), fail)
        finally:
            ErrorPath.error = None
    at, only = {
        "blob read": ("load", "/blobs"),
        "one blob": ("load", world.template.shard),
        "blob write": ("save", "/blobs"),
        "cache read": ("load", "/cache/"),
        "cache write": ("load", "/cache/"),
    }[place]

    def arm(now: str) -> None:
        ErrorPath.only, ErrorPath.error = only, error if now == at else None
        ErrorPath.until = time.monotonic() + OUTAGE_SECONDS if place == "blob write" else math.inf

    return outcome_of_job(world, arm)


class TableMaker:
    """Computes rows of the table, each cell in a fresh copy of the template."""

    def __init__(self, template: Template, scratch: Path) -> None:
        self._template, self._scratch, self._cells = template, scratch, 0

    def row(self, compute: Callable[[World, str], str], places: tuple[str, ...]) -> Row:
        cells = dict.fromkeys(PLACES, NOWHERE)
        for place in places:
            self._cells += 1
            world = World(self._template, self._scratch / f"cell{self._cells}")
            cells[place] = compute(world, place)
            world.close()
        return cells

    def database_row(self, state: str) -> Row:
        return self.row(lambda world, place: outcome_at(world, place, database_error(state)), STORE_PLACES)

    def lost_commit_row(self) -> Row:
        def compute(world: World, place: str) -> str:
            return outcome_at(world, place, database_error("08006"), after_commit=True)

        return self.row(compute, tuple(place for place in STORE_PLACES if place != "load"))

    def errno_row(self, name: str) -> Row:
        number = getattr(errno, name)
        return self.host_row(lambda: OSError(number, os.strerror(number)))

    def host_row(self, make: Callable[[], Exception]) -> Row:
        def compute(world: World, place: str) -> str:
            at = outcome_at if place in STORE_PLACES else outcome_of_file
            return at(world, place, make())

        return self.row(compute, PLACES)

    def redis_row(self, notifier: Notifier) -> Row:
        """Return the row of an error that Redis replies now."""
        return self.row(lambda world, _: outcome_of_tick(world, notifier, lambda: None), ("tick",))


def written(table: Mapping[str, Row]) -> str:
    """Return the table in Markdown, with one line for all errors that have the same outcomes."""
    grouped: dict[tuple[str, ...], list[str]] = {}
    for error, row in table.items():
        grouped.setdefault(tuple(row[place] for place in PLACES), []).append(error)
    lines = [("error", *PLACES), ("---",) * (len(PLACES) + 1)]
    lines += [(", ".join(errors), *cells) for cells, errors in grouped.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read(text: str) -> dict[str, Row]:
    """Return the table of a page in Markdown."""
    table = [line.strip("|") for line in text.splitlines() if line.startswith("|")]
    lines = [[cell.strip() for cell in line.split("|")] for line in table]
    start = next(at for at, cells in enumerate(lines) if cells[0] == "error")
    places = lines[start][1:]
    rows = lines[start + 2 :]
    return {error: dict(zip(places, cells, strict=True)) for names, *cells in rows for error in names.split(", ")}
