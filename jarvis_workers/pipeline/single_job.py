"""The plan of a stage that has one job."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.values import Run


def single_job(step: str, queue: str, label: str) -> "Callable[[Run, Blobs], Iterator[NewJob]]":
    """Return the function that plans the job of a step."""
    return lambda _, __: iter((NewJob(step=step, queue=queue, label=label, input_hash=step),))
