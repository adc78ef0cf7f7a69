"""A pipeline that plans a job of a step that is no stage.

The kind "test.unknown", an entry point in tests/support/plugins.
"""

from collections.abc import Iterator

from jarvis_workers.pipeline.stages import Stage
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import NewJob, Run

KIND = "test.unknown"
STAGES = (Stage("scan", module=__name__, queue="scan"),)


def plan(_: Run, __: Blobs) -> Iterator[NewJob]:
    yield NewJob("read", "scan", label="read", input_hash="read")
