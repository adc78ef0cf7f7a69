"""Insert runs of sleeping conversations, and start the processes that run them."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import select

from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.pool_config import POOL_MODULE, PoolConfig
from jarvis_workers.executors.dispatch.sender import EXECUTOR, Sender
from jarvis_workers.pipeline.controller import plan_job
from jarvis_workers.store import jobs, runs, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import Commit, Finished, Run, WorkerFacts
from jarvis_workers.toolchain.children import Child
from tests.chaos.commands import until
from tests.executors.dispatch import sleeping
from tests.store.arrange import NO_SNAPSHOT, enrol
from tests.support.plugins import PYTHONPATH
from tests.support.servers import Redis

ROOT = Path(__file__).parents[3]
PACE = {"lease_seconds": 2.0, "tick_seconds": 0.2, "resend_seconds": 5.0}
_numbers = count(1)


@dataclass(frozen=True)
class Place:
    """The environment of a test: the store, its address, the broker, and a directory."""

    store: Store
    store_url: str
    broker: Redis
    home: Path

    def submit(self, **options: Any) -> str:
        """Insert a run that waits to be planned by a worker."""
        run_id = f"t{next(_numbers)}"
        stages = [stage.name for stage in sleeping.STAGES]
        with self.store.write() as session:
            run = Run(run_id, sleeping.KIND, "/", b"/", NO_SNAPSHOT.id, EXECUTOR, "0", options)
            runs.add(session, run, NO_SNAPSHOT, stages)
            jobs.insert_jobs(session, run_id, stages[0], [plan_job(stages[0])])
        return run_id

    def submit_planned(self, **options: Any) -> str:
        """Insert a planned run, whose conversations are waiting."""
        run_id = self.submit(**options)
        with self.store.write() as session:
            run = runs.get(session, run_id)
            (planner,) = jobs.claim_many(
                session, executor=EXECUTOR, queue="control", worker_id="t", process="t", limit=1, lease_seconds=60
            )
            assert run is not None
            assert jobs.plan_more(session, planner, list(sleeping.plan(run, None)))  # type: ignore[arg-type]
            jobs.commit_many(session, [Finished(planner, Commit())])
            runs.start(session, run_id)
        return run_id

    def talks(self, run_id: str, *states: str) -> list[Any]:
        """Return the rows of a run's conversations, of some states if any are given."""
        rows = select(JOB).where(JOB.c.run_id == run_id, JOB.c.step == "talk").order_by(JOB.c.id)
        with self.store.read() as session:
            return list(session.execute(rows.where(JOB.c.state.in_(states)) if states else rows))

    def state(self, run_id: str) -> str:
        """Return the state of a run."""
        with self.store.read() as session:
            run = runs.get(session, run_id)
        assert run is not None
        return run.state

    def ring(self) -> None:
        """Notify about waiting jobs, as if a worker had many free slots."""
        with self.store.write() as session:
            workers.touch(session, WorkerFacts("t", "t", 1, "t", "agent", 200, "0"))
        notifier = Notifier(self.broker.url)
        try:
            Sender(self.store, notifier, **PACE).send()
        finally:
            notifier.close()

    @contextmanager
    def pool(self, **orders: Any) -> Iterator[Child]:
        """Run an agent process without a parent that supervises it."""
        told: dict[str, Any] = {
            "broker_url": self.broker.url,
            "store_url": self.store_url,
            "blobs_url": str(self.home / "blobs"),
            "cache": str(self.home / "cache"),
            "worker_id": f"pool{next(_numbers)}",
            "queue": "agent",
            "slots": 200,
            "job_lease_seconds": 60.0,
            **PACE,
        }
        environ = os.environ | {"PYTHONPATH": PYTHONPATH}
        child = Child(POOL_MODULE, [], environ, sys.__stderr__.buffer)  # type: ignore[union-attr, arg-type]
        try:
            sent = PoolConfig(**told | orders)
            enrol(self.store, sent.worker_id, seconds=3600)
            child.send(sent.line())
            yield child
        finally:
            child.kill()

    @contextmanager
    def worker(self, pace: Mapping[str, float] = PACE) -> Iterator[subprocess.Popen[bytes]]:
        """Run a worker with an agent pool and a control pool; other settings are read from its directory."""
        names = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
        names |= {f"JARVIS_{name.upper()}": str(value) for name, value in pace.items()}
        names |= {
            "PYTHONPATH": PYTHONPATH,
            "JARVIS_DATA_DIR": str(self.home / "data"),
            "JARVIS_STORE_URL": self.store_url,
            "JARVIS_BLOBS_URL": str(self.home / "blobs"),
            "JARVIS_BROKER_URL": self.broker.url,
        }
        process = subprocess.Popen([sys.executable, "-m", sleeping.MODULE], env=names, cwd=self.home)
        family = psutil.Process(process.pid)
        try:
            yield process
        finally:
            for child in family.children(recursive=True) if family.is_running() else []:
                child.kill()
            process.kill()
            process.wait()

    def ended(self, run_id: str) -> str:
        """Wait for the end of a run; return its state."""
        return until(lambda: self.state(run_id) if self.state(run_id) not in ("planning", "running") else None)
