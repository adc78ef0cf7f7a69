"""The worker supervisor (`jarvis worker start`): one child process and one row per pool, and the controller.

The supervisor detects a dead pool process at once and releases its jobs with a crash count. When the supervisor dies,
its pools die with it, and its leases expire.
"""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jarvis_workers import telemetry
from jarvis_workers.errors import JarvisError, StoreError
from jarvis_workers.executors.dispatch import job_log
from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.heartbeats import HEARTBEATS
from jarvis_workers.executors.dispatch.outages import Outages
from jarvis_workers.executors.dispatch.pool_config import POOL_MODULE, PoolConfig
from jarvis_workers.executors.dispatch.sender import Sender
from jarvis_workers.pipeline.controller import Controller
from jarvis_workers.snapshots.resources import storage_environment
from jarvis_workers.store import crash_attribution, events, jobs, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import WorkerFacts
from jarvis_workers.toolchain.children import Child, ChildDied
from jarvis_workers.toolchain.die_with_parent import is_running

GRACE_SECONDS = 12.0
# The time limit of store operations during a shutdown.
FAREWELL_SECONDS = 2.0
DEATHS_MAX = 100
# After this long a pool counts as started: its death resets the count of consecutive deaths.
SETTLED_SECONDS = 60.0
STALLED_SECONDS = 60.0
SILENT_LEASES = 2


@dataclass(frozen=True, slots=True)
class SupervisorContext:
    """The environment of a supervisor. `environ` are the variables from which those of its children are selected."""

    heartbeat: Path
    environ: Mapping[str, str]
    errors: IO[bytes]
    tell: Callable[[str], None]
    stalled_seconds: float = STALLED_SECONDS
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class PoolChild:
    """The process of a pool, its configuration and its row."""

    config: PoolConfig
    facts: WorkerFacts
    child: Child | None = None
    started: float = 0.0
    deaths: int = 0
    busy: bool = False
    stalled_since: float | None = None


class PoolSupervisor:
    """Runs the pools of a worker: the caller calls `tick` periodically, and `stop` at the end."""

    def __init__(
        self,
        store: Store,
        notifier: Notifier,
        plans: Sequence[tuple[PoolConfig, WorkerFacts]],
        context: SupervisorContext,
    ) -> None:
        self.store, self.context = store, context
        config, facts = plans[0]
        pace = {"lease_seconds": config.lease_seconds, "tick_seconds": config.tick_seconds}
        self.notifier, self._outages = notifier, Outages(context.tell, "continuing when it is available")
        self._disk_outages = Outages(context.tell, "continuing; the heartbeat is not written until this is over")
        self.sender = Sender(store, notifier, resend_seconds=config.resend_seconds, **pace)
        self.controller = Controller(store, facts.id, monotonic=context.clock, **pace)
        self.pools = [PoolChild(*plan) for plan in plans]

    def register(self) -> None:
        """Write the rows of the pools. Raises StoreError; a worker does not wait for the database at its start."""
        with self.store.write() as session:
            for pool in self.pools:
                workers.touch(session, pool.facts)

    def tick(self) -> None:
        """Run one iteration: look after the pools, run the controller, send notifications, touch the heartbeat."""
        with self._outages.tolerated():
            for pool in self.pools:
                self._look_after(pool)
            if self.controller.tick():
                self.sender.send_again()
                self.sender.send()
            for pool in self.pools:
                self._watch(pool)
        with self._disk_outages.tolerated():
            self.context.heartbeat.touch()
            self._sweep()

    def stop(self) -> None:
        """Let the pools finish their jobs for GRACE_SECONDS; release the remaining jobs without a crash count.

        There is no wait for an unavailable database, since leases expire anyway.
        """
        self.store.deadline.shorten(FAREWELL_SECONDS)
        running = [(pool, pool.child) for pool in self.pools if pool.child]
        for _, child in running:
            child.signal(signal.SIGTERM)
        give_up = self.context.clock() + GRACE_SECONDS
        for _, child in running:
            child.wait(max(0.0, give_up - self.context.clock()))
        with suppress(StoreError):
            for pool, _ in running:
                self._leave(pool)
            self.controller.resign()
        with suppress(OSError):  # on a read-only disk; the next worker removes it
            self.context.heartbeat.unlink(missing_ok=True)

    def _leave(self, pool: PoolChild) -> None:
        with self.store.write() as session:
            left = jobs.release_worker(session, pool.facts.id)
            workers.leave(session, pool.facts.id)
        for job in left:
            telemetry.info("released", **telemetry.about(job), fence=job.fence, process=job.process)
        telemetry.info("stopped", queue=pool.config.queue, worker=pool.facts.id)

    def _sweep(self) -> None:
        """Remove the heartbeat files of dead workers; a worker that was only suspended writes its file again."""
        own = self.context.heartbeat
        silent_since = own.stat().st_mtime - SILENT_LEASES * self.controller.lease_seconds
        for other in own.parent.glob(HEARTBEATS):
            with suppress(FileNotFoundError):
                if other.stat().st_mtime < silent_since:
                    other.unlink()

    def _look_after(self, pool: PoolChild) -> None:
        how = pool.child.ended() if pool.child else None
        if how and pool.child:
            self.context.tell(f"pool {pool.config.queue} {how}; restarting it")
            settled = self.context.clock() - pool.started >= SETTLED_SECONDS
            pool.child, pool.deaths = None, 1 if settled else pool.deaths + 1
            if pool.deaths > DEATHS_MAX:
                says = f"pool {pool.config.queue} has died {pool.deaths} times in a row, each time soon after its start"
                raise JarvisError(f"{says}; see its messages above")
        self._record_death(pool, how)
        if pool.child is None:
            storage = storage_environment(pool.config.blobs_url, self.context.environ)
            pool.child = Child(POOL_MODULE, [], self.context.environ, self.context.errors, storage=storage)
            pool.started = self.context.clock()
            with suppress(ChildDied):
                pool.child.send(pool.config.line())
            started = {"slots": pool.config.slots, "pid": pool.child.pid}
            telemetry.info("started", queue=pool.config.queue, worker=pool.facts.id, **started)
        with self.store.write() as session:
            workers.touch(session, pool.facts)

    def _watch(self, pool: PoolChild) -> None:
        """Kill a pool that is idle while messages are queued: after a lost connection Celery may stop consuming."""
        # An outage of the broker, which `depth` raises, counts for nothing.
        since, pool.stalled_since = pool.stalled_since, None
        if pool.child is None or pool.busy or not self.notifier.depth(pool.config.queue):
            return
        pool.stalled_since = since
        pool.stalled_since = self.context.clock() if pool.stalled_since is None else pool.stalled_since
        if self.context.clock() - pool.stalled_since > self.context.stalled_seconds:
            self.context.tell(f"pool {pool.config.queue} takes no jobs although some are waiting; terminating it")
            pool.child.kill()
            pool.stalled_since = None

    @staticmethod
    def _lives(pool: PoolChild, pid: int) -> bool:
        """Return whether a process is alive; the pool's own process counts as alive until a tick detects its exit."""
        return (pool.child is not None and pool.child.pid == pid) or is_running(pid)

    def _record_death(self, pool: PoolChild, how: str | None) -> None:
        """Release the jobs of dead processes of a pool with a crash count."""
        with self.store.read() as session:
            processes = jobs.processes(session, pool.facts.id)
        pool.busy = bool(processes)
        dead = [name for name in processes if how or not self._lives(pool, int(name.rpartition("/")[2]))]
        why = how or "its process died"
        for name in dead:
            with self.store.write() as session:
                recovered = crash_attribution.crash_process(session, name, why)
                for run_id, stage, lost in crash_attribution.by_stage(recovered):
                    events.record(session, run_id, "crashed", stage, jobs=lost, process=name)
            for job in recovered:
                job_log.crashed(job, why)
