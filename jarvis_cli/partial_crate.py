"""Execute the short run that makes the crate of a paused run."""

from collections.abc import Iterator
from contextlib import contextmanager

from jarvis_cli.run_local import run_locally
from jarvis_cli.scan import wait_for_workers
from jarvis_cli.status_output import Display
from jarvis_workers.service import runs, wiring
from jarvis_workers.service.c2rust.partial_crate import submit_partial_crate
from jarvis_workers.service.handles import Store
from jarvis_workers.settings import Settings
from jarvis_workers.store.values import Run


@contextmanager
def partial_crate(settings: Settings, store: Store, paused: Run, screen: Display) -> Iterator[Run]:
    """Yield the run that has made the crate of a paused run, where that one is executed.

    It is removed afterwards, so that "last" still names the paused run.
    """
    if not runs.is_local(paused):
        run_id = submit_partial_crate(store, paused, paused.executor)
        with _removed(settings, store, run_id):
            yield wait_for_workers(settings, store, run_id, screen)
        return
    with wiring.executor_of(settings, store, tell=screen.tell, show=screen.show) as local:
        run_id = submit_partial_crate(store, paused, local.executor)
        with _removed(settings, store, run_id):
            yield run_locally(local, run_id, screen, resumable=False)


@contextmanager
def _removed(settings: Settings, store: Store, run_id: str) -> Iterator[None]:
    """Remove a run at the end; one that was interrupted is cancelled first."""
    try:
        yield
    finally:
        run = runs.find_run(store, run_id)
        if not run.ended:
            runs.cancel(store, run, settings.lease_seconds)
        runs.remove_runs(store, [run_id])
