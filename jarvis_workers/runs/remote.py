"""Runs on a cluster, as seen by a command: notify workers, wait for a run, check the cluster."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex

from jarvis_workers.errors import StoreError, UsageError
from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.outages import Outages
from jarvis_workers.executors.dispatch.sender import Sender
from jarvis_workers.executors.dispatch.traces import traced_submit
from jarvis_workers.pipeline.controller import Controller
from jarvis_workers.redact import redact
from jarvis_workers.runs.health.cluster import examine_cluster, own_blobs
from jarvis_workers.runs.health.delays import DelayNotice
from jarvis_workers.runs.health.doctor import Check
from jarvis_workers.runs.health.unserved_queues import NOBODY_SECONDS, Absence, unserved
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.submit import submit
from jarvis_workers.runs.wiring import Show
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import runs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageProgress

# Poll interval as a fraction of the time elapsed, and its bounds.
LOOK_SHARE, LEAST_LOOK_SECONDS, MOST_LOOK_SECONDS = 0.05, 0.02, 0.2


def broker_url(settings: Settings) -> str:
    """Return the broker's address. Raises UsageError if it is not set."""
    if not settings.broker_url:
        raise UsageError("a cluster needs a broker: set JARVIS_BROKER_URL, such as redis://localhost:6379/0")
    return settings.broker_url


@contextmanager
def notifier_of(settings: Settings) -> Iterator[Notifier]:
    """Open the broker, check that it responds, and close it at exit. Raises BrokerUnavailable."""
    notifier = Notifier(broker_url(settings))
    try:
        notifier.check()
        yield notifier
    finally:
        notifier.close()


def submit_to_workers(
    store: Store, blobs: Blobs, request: RunRequest[RunInput], on_progress: Callable[[int, int], None] | None = None
) -> str:
    """Submit a run, as the root of its trace if traces are on; return its id. Raises as `submit` does."""
    with traced_submit(request.run_id, request.kind):
        return submit(store, blobs, request, on_progress)


def check_broker(settings: Settings) -> None:
    """Raise BrokerUnavailable if a broker is configured but does not respond, as runs would not progress."""
    if settings.broker_url:
        with notifier_of(settings):
            pass


def notify_workers(settings: Settings, store: Store, notifier: Notifier) -> None:
    """Notify the workers of waiting jobs, so that these need not wait for the next tick."""
    _sender(settings, store, notifier).send()


def _sender(settings: Settings, store: Store, notifier: Notifier) -> Sender:
    return Sender(
        store,
        notifier,
        lease_seconds=settings.lease_seconds,
        tick_seconds=settings.tick_seconds,
        resend_seconds=settings.resend_seconds,
    )


def _controller(settings: Settings, store: Store) -> Controller:
    return Controller(
        store,
        f"wait-{token_hex(6)}",
        lease_seconds=settings.lease_seconds,
        tick_seconds=settings.tick_seconds,
        monotonic=time.monotonic,
    )


def carry_out(
    settings: Settings,
    store: Store,
    notifier: Notifier,
    run_id: str,
    *,
    show: Show,
    tell: Callable[[str], None],
    nobody_seconds: float = NOBODY_SECONDS,
) -> Run:
    """Wait for the workers to finish a run, and act as a controller in the meantime.

    Interrupting this command leaves the run to the workers. Unserved queues are reported once.
    """
    sender, controller = _sender(settings, store, notifier), _controller(settings, store)
    outages, pause = Outages(tell, "waiting for it"), threading.Event()
    absence, notice = Absence(tell, nobody_seconds, time.monotonic), DelayNotice(tell, store)
    begun, due = time.monotonic(), 0.0
    try:
        while True:
            with outages.tolerated():
                run, progress = _look(store, run_id)
                show(run, progress)
                if run.ended or run.state == "paused":
                    return run
                if time.monotonic() >= due:
                    if controller.tick():
                        sender.send_again()
                    sender.send()
                    absence.look(unserved(store, run_id, settings.lease_seconds))
                    notice.look(run_id, progress)
                    due = time.monotonic() + settings.tick_seconds
            pause.wait(settings.tick_seconds if outages.away else _next_look(time.monotonic() - begun))
    finally:
        with suppress(StoreError):
            controller.resign()


def _next_look(elapsed: float) -> float:
    """Return the seconds until the next poll: short runs are polled often, long ones rarely."""
    return min(MOST_LOOK_SECONDS, max(LEAST_LOOK_SECONDS, LOOK_SHARE * elapsed))


def _look(store: Store, run_id: str) -> tuple[Run, list[StageProgress]]:
    with store.read() as session:
        run, progress = runs.get(session, run_id), stages.progress(session, run_id)
    if run is None:
        raise UsageError(f"run {run_id} was removed while it was running")
    return run, progress


def examine(settings: Settings, store: Store) -> list[Check]:
    """Check blobs, broker and workers."""
    notifier = Notifier(broker_url(settings))
    pace = {"lease_seconds": settings.lease_seconds, "tick_seconds": settings.tick_seconds}

    def describe() -> dict[str, str]:
        facts = notifier.describe()
        notifier.check()
        return facts

    try:
        blobs = [] if settings.blobs_url else [own_blobs(redact(settings.effective_blobs_url))]
        return [*blobs, *examine_cluster(store, describe, **pace)]
    finally:
        notifier.close()
