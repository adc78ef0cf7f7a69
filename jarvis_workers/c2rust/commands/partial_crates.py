"""Execute the short run that makes the crate of a paused run, where that one is executed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from jarvis_cli.kit.status_output import Display, interruptible
from jarvis_workers.c2rust.runs.partial_crate import remove_partial_crate, submit_partial_crate
from jarvis_workers.runs import runs, wiring
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


@contextmanager
def partial_crate(settings: Settings, store: Store, paused: Run, screen: Display) -> Iterator[Run]:
    """Yield the run that has made the crate of a paused run, where that one is executed; it is removed afterwards."""
    if not runs.is_local(paused):
        with interruptible(), _submitted(settings, store, paused, paused.executor, screen) as run_id:
            yield _wait_for_workers(settings, store, run_id, screen)
        return
    with (
        wiring.executor_of(settings, store, tell=screen.tell, show=screen.show) as local,
        interruptible(),
        _submitted(settings, store, paused, local.executor, screen) as run_id,
    ):
        yield local.carry_out(run_id)


def _wait_for_workers(settings: Settings, store: Store, run_id: str, screen: Display) -> Run:
    from jarvis_workers.runs import remote  # noqa: PLC0415

    with remote.notifier_of(settings) as notifier:
        return remote.carry_out(settings, store, notifier, run_id, show=screen.show, tell=screen.tell)


@contextmanager
def _submitted(settings: Settings, store: Store, paused: Run, executor: str, screen: Display) -> Iterator[str]:
    """Submit the run, and yield its id; it is removed at the end."""
    run_id = submit_partial_crate(store, paused, executor)
    try:
        yield run_id
    finally:
        waiting = runs.Waiting(
            clock=time.monotonic,
            sleep=time.sleep,
            show=screen.show,
            tell=screen.tell,
            tick_seconds=settings.tick_seconds,
            lease_seconds=settings.lease_seconds,
        )
        if not remove_partial_crate(store, run_id, waiting):
            screen.tell("workers are still ending the merge; it is removed by: jarvis runs prune")
