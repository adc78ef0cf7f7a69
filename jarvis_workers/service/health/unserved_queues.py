"""Say which queues nobody works on, though a run has jobs there.

Celery is not needed for that: `jarvis runs show` says it, too.
"""

from collections.abc import Callable, Collection

from jarvis_workers.pipeline.stages import CONTROL_QUEUE, stages_of
from jarvis_workers.store import dispatching, workers
from jarvis_workers.store.engine import Store

NOBODY_SECONDS = 10.0


def unserved(store: Store, run_id: str, lease_seconds: float) -> list[str]:
    """Return the queues on which jobs of a run are due, and that no living worker works on."""
    with store.read() as session:
        served = {worker.queues for worker in workers.living(session, lease_seconds)}
        return [queue for queue in dispatching.queues_due(session, run_id) if queue not in served]


def missing(store: Store, kind: str, lease_seconds: float) -> list[str]:
    """Return the queues that a run of a kind needs sooner or later, and that no living worker works on."""
    with store.read() as session:
        served = {worker.queues for worker in workers.living(session, lease_seconds)}
    return sorted({CONTROL_QUEUE, *(stage.queue for stage in stages_of(kind))} - served)


def says(queues: Collection[str]) -> str:
    """Say that nobody is there, and what to do."""
    named = ", ".join(queues)
    start = f"jarvis worker start --queues {','.join(queues)}"
    return f"no worker serves queue{'' if len(queues) == 1 else 's'} {named}; start one with: {start}"


class Absence:
    """Tells once of queues that nobody has worked on for `seconds`."""

    def __init__(self, tell: Callable[[str], None], seconds: float, clock: Callable[[], float]) -> None:
        self._tell, self._seconds, self._clock = tell, seconds, clock
        self._since: float | None = None
        self._told = False

    def look(self, queues: Collection[str]) -> None:
        """Take note of the queues that nobody works on now."""
        if not queues:
            self._since = None
            return
        self._since = self._clock() if self._since is None else self._since
        if not self._told and self._clock() - self._since >= self._seconds:
            self._tell(says(queues))
            self._told = True
