"""Why jobs of a run wait although they could be executed: a back-off after a failed attempt, or a clock step."""

from collections.abc import Callable, Sequence

from jarvis_workers.store import dispatching, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageProgress

LEAST_AHEAD_SECONDS = 2.0
STEP_REMEDY = "a running worker or waiting command corrects this within one lease"


def delays(store: Store, run_id: str) -> list[str]:
    """Return a line for each reason for which jobs of a run wait; none in a run that goes on."""
    with store.read() as session:
        later = dispatching.not_due(session, run_id)
        ahead = runs.seconds_ahead(session)
    result = []
    if later:
        why = f"after a failed attempt: {later.reason}" if later.reason else "while another crashed job is tried alone"
        result.append(f"jobs that are not due: {later.jobs:,}, the first is due in {later.seconds:.1f} s, {why}")
    if ahead > LEAST_AHEAD_SECONDS:
        result.append(f"{describe_step(ahead)}; {STEP_REMEDY}")
    return result


def describe_step(seconds: float) -> str:
    """Return the finding that times in the store lie in the future."""
    return f"the clock of the database was set back by at least {seconds:,.0f} s: leases lie in the future"


class DelayNotice:
    """Tells why a run stands still, once each time that it does."""

    def __init__(self, tell: Callable[[str], None], store: Store) -> None:
        self._tell, self._store = tell, store
        self._is_reported = False

    def look(self, run_id: str, progress: Sequence[StageProgress]) -> None:
        """Report the delays of a run in which no job is executed. Raises StoreError."""
        lines = [] if any(stage.running for stage in progress) else delays(self._store, run_id)
        for line in [] if self._is_reported else lines:
            self._tell(line)
        self._is_reported = bool(lines)


def showing_delays(
    show: Callable[[Run, list[StageProgress]], None], tell: Callable[[str], None], store: Store
) -> Callable[[Run, list[StageProgress]], None]:
    """Return a progress callback that also tells why a run stands still."""
    notice = DelayNotice(tell, store)

    def show_both(run: Run, progress: list[StageProgress]) -> None:
        show(run, progress)
        notice.look(run.id, progress)

    return show_both
