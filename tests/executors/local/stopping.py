"""A pipeline whose steps stop in the debugger: the kind "test.stop", an entry point in tests/support/plugins."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jarvis_workers.pipeline.stages import CONTROL_QUEUE, PLAN, Stage
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from sqlmodel import Session

KIND = "test.stop"
STAGES = (Stage("scan", module=__name__, queue="scan"), Stage("report", module=__name__, queue=CONTROL_QUEUE))


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    breakpoint()
    yield NewJob("scan", "scan", label="stop", input_hash=f"{run.id} scan")


def load(_: "Session", __: Run, job: Claimed) -> dict[str, Any]:
    assert job.step != PLAN
    return {}


def decide(_: dict[str, Any], __: Resources) -> Commit:
    breakpoint()
    return Commit(files=1)
