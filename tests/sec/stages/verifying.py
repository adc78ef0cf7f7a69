"""A pipeline that clusters and confirms all candidates.

The kind "test.cluster", an entry point in tests/support/plugins.
"""

import json
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.pipeline.stages import kind_of
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.stages.results import VerdictResult
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Claimed, Commit, Run

if TYPE_CHECKING:
    from sqlmodel import Session

KIND = "test.cluster"
MODULE = "tests.sec.stages.verifying"
SCAN = kind_of("sec.agent")
STAGES = tuple(stage._replace(module=MODULE) if stage.name == "verify" else stage for stage in SCAN.stages)
CLUSTERED = SCAN._replace(name=KIND, stages=STAGES)


def load(_: "Session", __: Run, job: Claimed) -> dict[str, Any]:
    """Return the planned input."""
    work: dict[str, Any] = json.loads(job.payload)
    return work


async def converse(work: dict[str, Any], _: Blobs, __: AgentRuntime) -> Commit:
    """Confirm each candidate."""
    verdicts = [
        Verdict(gid, "confirmed", True, work["verification"], "main", "harm", "a check") for gid in work["gids"]
    ]
    return Commit(files=1, results=(VerdictResult(tuple(verdicts)),))
