"""Find queues with jobs of a run that no worker serves.

Independent of Celery, as `jarvis runs show` reports them as well.
"""

from collections.abc import Callable, Collection

from jarvis_workers.pipeline.stages import CONTROL_QUEUE, stages_of
from jarvis_workers.store import dispatching, stages, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

NOBODY_SECONDS = 10.0


def unserved(store: Store, run_id: str, lease_seconds: float) -> list[str]:
    """Return the queues with due jobs of a run that no live worker serves."""
    with store.read() as session:
        served = {worker.queues for worker in workers.living(session, lease_seconds)}
        return [queue for queue in dispatching.queues_due(session, run_id) if queue not in served]


def missing(store: Store, run: Run, lease_seconds: float) -> list[str]:
    """Return the queues that a run needs at some point and that no live worker serves."""
    with store.read() as session:
        served = {worker.queues for worker in workers.living(session, lease_seconds)}
        names = {stage.name for stage in stages.progress(session, run.id)}
    return sorted({CONTROL_QUEUE, *(stage.queue for stage in stages_of(run.kind) if stage.name in names)} - served)


def describe_missing(queues: Collection[str]) -> str:
    """Return a message with the unserved queues and the remedy."""
    named = ", ".join(queues)
    start = f"jarvis worker start --queues {','.join(queues)}"
    return f"no worker serves queue{'' if len(queues) == 1 else 's'} {named}; start one with: {start}"


class Absence:
    """Reports once when queues have been unserved for `seconds`."""

    def __init__(self, tell: Callable[[str], None], seconds: float, clock: Callable[[], float]) -> None:
        self._tell, self._seconds, self._clock = tell, seconds, clock
        self._since: float | None = None
        self._is_reported = False

    def look(self, queues: Collection[str]) -> None:
        """Record the queues that are currently unserved."""
        if not queues:
            self._since = None
            return
        self._since = self._clock() if self._since is None else self._since
        if not self._is_reported and self._clock() - self._since >= self._seconds:
            self._tell(describe_missing(queues))
            self._is_reported = True
