"""What runs of earlier versions say of the functions that they chose to search, and that no job has searched.

This module avoids slow imports, since reports use it.
"""

import json
from collections.abc import Iterator, Sequence

from jarvis_workers.sec.stages.payloads import DiscoverPayload
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import StageJob

NOT_SEARCHED = "function {name} was not searched for defects (--discover): {reason}"
NOT_REACHED = "it was not reached before the run ended"


def unsearched(blobs: Blobs, jobs: Sequence[StageJob]) -> Iterator[tuple[str, str]]:
    """Yield the file of each function whose job did not end, or was not begun, and the reason."""
    placed = [(DiscoverPayload.from_json(job.payload), job) for job in jobs]
    if not placed or sum(job.done for job in jobs) == placed[0][0].chosen:
        return
    by_place = {payload.place: job for payload, job in placed}
    for place, (file, name, *_) in enumerate(json.loads(blobs.read(placed[0][0].ranking))):
        job = by_place.get(place)
        if job is None or not job.done:
            reason = f"its job failed: {job.reason}" if job and job.state == "failed" else NOT_REACHED
            yield file, NOT_SEARCHED.format(name=name, reason=reason)
