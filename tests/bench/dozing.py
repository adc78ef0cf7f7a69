"""A pipeline of jobs that only sleep, to measure the overhead of the product.

The kind "test.doze" is an entry point in tests/support/plugins. Run as a module, it is a worker with two slots and the
settings of its environment.
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.pipeline.stages import Stage
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from sqlmodel import Session

KIND = "test.doze"
MODULE = "tests.bench.dozing"
STAGES = (
    Stage("doze", module=MODULE, queue="scan"),
    Stage("end", module="tests.executors.dispatch.ending", queue="control"),
)
SLOTS = 2


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield `jobs` jobs of `seconds` each."""
    for number in range(run.options["jobs"]):
        yield NewJob("doze", "scan", f"doze {number}", f"{number:064d}", payload=str(run.options["seconds"]))


def load(_: "Session", __: Run, job: Claimed) -> float:
    """Return the duration of the job."""
    return float(job.payload)


def decide(seconds: float, __: Resources) -> Commit:
    """Sleep for the duration."""
    threading.Event().wait(seconds)
    return Commit(files=1)


def work() -> None:
    """Run a worker for this pipeline."""
    from jarvis_workers.operate import worker
    from jarvis_workers.operate.pool_plans import plan_pools
    from jarvis_workers.runs import remote, wiring
    from jarvis_workers.settings import load_settings

    settings = load_settings(directory=Path.cwd())
    plans = plan_pools(settings, ("scan", "control"), SLOTS)
    with wiring.store_of(settings) as store, remote.notifier_of(settings) as bell:
        worker.work(settings, store, bell, plans)


if __name__ == "__main__":
    work()
