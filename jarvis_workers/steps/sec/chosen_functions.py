"""The functions that discovery has chosen to search, and those of them that no job has searched.

This module avoids slow imports, since reports use it.
"""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.sec.payloads import DiscoverPayload
from jarvis_workers.store.values import StageJob

LABEL_LENGTH = 160
NOT_SEARCHED = "function {name} was not searched for defects (--discover): {reason}"
NOT_REACHED = "it was not reached before the run ended"


class ChosenFunction(NamedTuple):
    """A function to search."""

    file: str
    name: str
    line: int
    score: float

    @property
    def label(self) -> str:
        return f"{self.file}#{self.name}"[-LABEL_LENGTH:]


def chosen_functions(blobs: Blobs, payload: DiscoverPayload) -> list[ChosenFunction]:
    """Return the functions to search, in the order of their ranks."""
    return [ChosenFunction(*row) for row in json.loads(blobs.read(payload.ranking))]


def unsearched(blobs: Blobs, jobs: Sequence[StageJob]) -> Iterator[tuple[str, str]]:
    """Yield the file of each function whose job did not end, or was not begun, and the reason."""
    placed = [(DiscoverPayload.from_json(job.payload), job) for job in jobs]
    if not placed or sum(job.done for job in jobs) == placed[0][0].chosen:
        return
    by_place = {payload.place: job for payload, job in placed}
    for place, function in enumerate(chosen_functions(blobs, placed[0][0])):
        job = by_place.get(place)
        if job is None or not job.done:
            reason = f"its job failed: {job.reason}" if job and job.state == "failed" else NOT_REACHED
            yield function.file, NOT_SEARCHED.format(name=function.name, reason=reason)
