"""The last stage of the test pipeline: one job that does nothing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from sqlmodel import Session


def plan(_: Run, __: Blobs) -> Iterator[NewJob]:
    """Yield the one job."""
    yield NewJob(step="end", queue="control", label="end", input_hash="end")


def load(_: "Session", __: Run, ___: Claimed) -> None:
    """Return no input."""


def decide(_: None, __: Resources) -> Commit:
    """Do nothing."""
    return Commit()
