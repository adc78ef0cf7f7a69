"""A test pipeline with one job that never ends: the kind "test.stuck", an entry point in tests/support/plugins."""

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_workers.pipeline.stages import Stage
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from sqlmodel import Session

KIND = "test.stuck"
MODULE = "tests.executors.dispatch.stuck"
STAGES = (Stage("hang", module=MODULE, queue="control"),)


def plan(_: Run, __: Blobs) -> Iterator[NewJob]:
    """Yield the one job."""
    yield NewJob(step="hang", queue="control", label="hang", input_hash="hang")


def load(_: "Session", __: Run, ___: Claimed) -> None:
    """Return no input."""


def decide(_: None, __: Resources) -> Commit:
    """Wait forever."""
    threading.Event().wait()
    return Commit()
