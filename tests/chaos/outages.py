"""Outages to inject into a fleet: error replies of Redis, and trouble of disks, descriptors and memory.

Each lasts 7 to 60 seconds and is then removed. Disks that are full, read-only or not mounted are file systems in memory
(tmpfs), which only a privileged user may mount.
"""

import random
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import redis

from tests.chaos.fleet import Fault, Fleet, Worker, let_pass

SHORTEST_SECONDS, LONGEST_SECONDS = 7.0, 60.0
NO_MASTER = ("127.0.0.1", "1")
ADMIN = {"username": "admin", "password": "any"}
BUSY_AFTER_MS = 100
# What a process may allocate beyond what it has.
SPARE_BYTES = 4 << 20

Outage = Callable[[Fleet, random.Random], AbstractContextManager[None]]


def lasting(outage: Outage) -> Fault:
    """Return the fault that an outage is for some time; most are short."""

    def fault(fleet: Fleet, dice: random.Random) -> None:
        seconds = SHORTEST_SECONDS + (LONGEST_SECONDS - SHORTEST_SECONDS) * dice.random() ** 3
        with outage(fleet, dice):
            let_pass(LONGEST_SECONDS if outage is blobs_missing else seconds)

    fault.__name__ = outage.__name__
    return fault


@contextmanager
def redis_admin(fleet: Fleet) -> Iterator[redis.Redis]:
    """Connect to Redis as a user whose permissions no outage removes."""
    with redis.Redis(port=fleet.bell.port) as default:
        default.execute_command("ACL", "SETUSER", "admin", "on", "nopass", "~*", "&*", "+@all")
    with redis.Redis(port=fleet.bell.port, **ADMIN) as admin:
        yield admin


@contextmanager
def redis_read_only(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Make Redis a replica: READONLY, and UNBLOCKED for those who wait for messages."""
    with redis_admin(fleet) as admin:
        admin.execute_command("REPLICAOF", *NO_MASTER)
        yield
        admin.execute_command("REPLICAOF", "NO", "ONE")


@contextmanager
def redis_without_master(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Make Redis a replica that refuses to read, too: MASTERDOWN."""
    with redis_admin(fleet) as admin:
        admin.config_set("replica-serve-stale-data", "no")
        admin.execute_command("REPLICAOF", *NO_MASTER)
        yield
        admin.execute_command("REPLICAOF", "NO", "ONE")
        admin.config_set("replica-serve-stale-data", "yes")


@contextmanager
def redis_without_permissions(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Remove all permissions of the user of the fleet: NOPERM."""
    with redis_admin(fleet) as admin:
        admin.execute_command("ACL", "SETUSER", "default", "-@all", "+auth")
        yield
        admin.execute_command("ACL", "SETUSER", "default", "+@all")


@contextmanager
def redis_busy(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Let Redis execute an endless script: BUSY."""

    def script() -> None:
        with suppress(redis.RedisError), redis.Redis(port=fleet.bell.port, **ADMIN) as client:
            client.eval("while true do end", 0)

    with redis_admin(fleet) as admin:
        admin.config_set("busy-reply-threshold", BUSY_AFTER_MS)
        endless = threading.Thread(target=script)
        endless.start()
        yield
        admin.execute_command("SCRIPT", "KILL")
        endless.join()


@contextmanager
def redis_full(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Leave Redis no memory: OOM."""
    with redis_admin(fleet) as admin:
        admin.config_set("maxmemory", 1)
        yield
        admin.config_set("maxmemory", 0)


def replying(name: str, error: str) -> Outage:
    """Return the outage in which each command of Redis has this error reply."""

    @contextmanager
    def outage(fleet: Fleet, dice: random.Random) -> Iterator[None]:
        fleet.proxies.broker.reply_to_redis(error)
        yield
        fleet.proxies.broker.accept()

    outage.__name__ = name
    return outage


@contextmanager
def blobs_missing(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Take the directory of blobs away."""
    blobs = blobs_of(fleet)
    with away(blobs):
        yield


@contextmanager
def blobs_not_mounted(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Leave an empty directory where the blobs were."""
    with mounted(blobs_of(fleet)):
        yield


@contextmanager
def blobs_on_a_full_disk(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Fill the disk of the blobs: ENOSPC."""
    filler = blobs_of(fleet).with_name("filler")
    fill(filler)
    yield
    filler.unlink()


@contextmanager
def data_missing(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Take the data directories of some workers away."""
    with ExitStack() as stack:
        for worker in some(fleet, dice):
            stack.enter_context(away(worker.home / "data"))
        yield


@contextmanager
def data_read_only(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Make the data directories of some workers read-only: EROFS."""
    with ExitStack() as stack:
        for worker in some(fleet, dice):
            stack.enter_context(mounted(worker.home / "data", "ro"))
        yield


@contextmanager
def data_on_a_full_disk(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Fill the disks of the data directories of some workers: ENOSPC."""
    with ExitStack() as stack:
        for worker in some(fleet, dice):
            stack.enter_context(mounted(worker.home / "data", "size=16k,nr_inodes=2"))
            fill(worker.home / "data" / "filler")
        yield


@contextmanager
def no_descriptors(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Let the processes of some workers open no further file: EMFILE."""
    with ExitStack() as stack:
        for process in processes(fleet, dice):
            stack.enter_context(limited(process, psutil.RLIMIT_NOFILE, psutil.Process.num_fds))
        yield


@contextmanager
def little_memory(fleet: Fleet, dice: random.Random) -> Iterator[None]:
    """Let the processes of some workers allocate hardly more memory than they have."""
    with ExitStack() as stack:
        for process in processes(fleet, dice):
            has = lambda process: process.memory_info().vms + SPARE_BYTES  # noqa: E731
            stack.enter_context(limited(process, psutil.RLIMIT_AS, has))
        yield


def blobs_of(fleet: Fleet) -> Path:
    return Path(fleet.environ["JARVIS_BLOBS_URL"])


def some(fleet: Fleet, dice: random.Random) -> list[Worker]:
    """Return one worker or all."""
    return dice.choice([fleet.workers, [dice.choice(fleet.workers)]])


def processes(fleet: Fleet, dice: random.Random) -> list[psutil.Process]:
    return [process for worker in some(fleet, dice) for process in worker.family()]


@contextmanager
def limited(process: psutil.Process, kind: int, used: Callable[[psutil.Process], int]) -> Iterator[None]:
    """Set the soft limit of a process to what it uses."""
    before: tuple[int, int] | None = None
    with suppress(psutil.NoSuchProcess):
        before = process.rlimit(kind)
        process.rlimit(kind, (used(process), before[1]))
    yield
    with suppress(psutil.NoSuchProcess):
        if before:
            process.rlimit(kind, before)


@contextmanager
def away(directory: Path) -> Iterator[None]:
    """Rename a directory; what was created in its place meanwhile is removed."""
    aside = directory.with_name(f"{directory.name}.aside")
    directory.rename(aside)
    yield
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)
    aside.rename(directory)


@contextmanager
def mounted(directory: Path, options: str = "size=1m") -> Iterator[None]:
    """Mount a file system in memory over a directory."""
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(directory)], check=True, stdin=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True, stdin=subprocess.DEVNULL)


def fill(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as stream:
        for size in (1 << 20, 1 << 12, 1):
            with suppress(OSError):
                while stream.write(bytes(size)):
                    pass


OUTAGES: tuple[Outage, ...] = (
    redis_read_only,
    redis_without_master,
    redis_without_permissions,
    redis_busy,
    redis_full,
    replying("redis_loading", "LOADING Redis is loading the dataset in memory"),
    replying("redis_misconfigured", "MISCONF Redis is configured to save snapshots, but is unable to persist on disk"),
    replying("redis_unblocked", "UNBLOCKED force unblock from blocking operation, instance state changed"),
    blobs_missing,
    blobs_not_mounted,
    blobs_on_a_full_disk,
    data_missing,
    data_read_only,
    data_on_a_full_disk,
    no_descriptors,
    little_memory,
)
