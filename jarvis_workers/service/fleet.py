"""The fleet, as a user asks for it: start a worker of it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from secrets import token_hex

from jarvis_workers.dispatch.broker import Doorbell
from jarvis_workers.dispatch.monitor import serve as serve_flower
from jarvis_workers.dispatch.parent import Parent, Surroundings
from jarvis_workers.dispatch.pool import Orders
from jarvis_workers.dispatch.routes import POOLS
from jarvis_workers.dispatch.sender import EXECUTOR, Sender
from jarvis_workers.errors import BrokerUnavailable, StoreError, StoreUnavailable, UsageError
from jarvis_workers.service.checkup import examine_cluster
from jarvis_workers.service.desk import Show
from jarvis_workers.service.doctor import Check
from jarvis_workers.service.local import LEASE_MARGIN_SECONDS
from jarvis_workers.service.presence import this_worker
from jarvis_workers.settings import Settings
from jarvis_workers.steps.controller import Controller
from jarvis_workers.store import runs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run
from jarvis_workers.store.stages import StageProgress
from jarvis_workers.store.workers import WorkerFacts

LOOK_SECONDS = 0.2
__all__ = ["EXECUTOR", "bell_of", "broker_url", "carry_out", "plan_pools", "ring", "work"]


def broker_url(settings: Settings) -> str:
    """Return the broker's address, or say what to set."""
    if not settings.broker_url:
        raise UsageError("a cluster needs a broker: set JARVIS_BROKER_URL, such as redis://localhost:6379/0")
    return settings.broker_url


def plan_pools(settings: Settings, queues: Sequence[str], concurrency: int | None) -> list[tuple[Orders, WorkerFacts]]:
    """Return what each pool of a worker is told, and its row."""
    unknown = [queue for queue in queues if queue not in POOLS]
    if unknown:
        raise UsageError(f'--queues: "{unknown[0]}" is not one of {", ".join(POOLS)}')
    token = token_hex(4)
    return [_plan(settings, queue, concurrency, token) for queue in queues or POOLS]


def _plan(settings: Settings, queue: str, concurrency: int | None, token: str) -> tuple[Orders, WorkerFacts]:
    slots = POOLS[queue].slots or concurrency or settings.process_count
    facts = replace(this_worker(f"{token}-{queue}", slots), queues=queue)
    orders = Orders(
        broker_url=broker_url(settings),
        store_url=settings.effective_store_url,
        blobs_url=settings.effective_blobs_url,
        cache=str(settings.data_dir / "cache"),
        worker_id=facts.id,
        queue=queue,
        slots=slots,
        lease_seconds=settings.lease_seconds,
        job_lease_seconds=settings.scan.hard_limit_seconds + LEASE_MARGIN_SECONDS,
        tick_seconds=settings.tick_seconds,
        resend_seconds=settings.resend_seconds,
    )
    return orders, facts


def work(
    settings: Settings,
    store: Store,
    bell: Doorbell,
    plans: Sequence[tuple[Orders, WorkerFacts]],
    tell: Callable[[str], None],
) -> None:
    """Be a worker until SIGTERM or SIGINT."""
    heartbeat = settings.data_dir / f"worker-{plans[0][1].id}.alive"
    heartbeat.parent.mkdir(parents=True, exist_ok=True)
    parent = Parent(store, bell, plans, Surroundings(heartbeat, os.environ, sys.stderr.buffer, tell))
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    try:
        while not told.is_set():
            parent.tick()
            told.wait(settings.tick_seconds)
    finally:
        parent.stop()


@contextmanager
def bell_of(settings: Settings) -> Iterator[Doorbell]:
    """Open the broker, which must answer, and close it. Raises BrokerUnavailable."""
    bell = Doorbell(broker_url(settings))
    try:
        bell.check()
        yield bell
    finally:
        bell.close()


def ring(settings: Settings, store: Store, bell: Doorbell) -> None:
    """Ring for what waits, so that nobody has to find it at the next tick."""
    _sender(settings, store, bell).send()


def _sender(settings: Settings, store: Store, bell: Doorbell) -> Sender:
    return Sender(
        store,
        bell,
        lease_seconds=settings.lease_seconds,
        tick_seconds=settings.tick_seconds,
        resend_seconds=settings.resend_seconds,
    )


def carry_out(
    settings: Settings, store: Store, bell: Doorbell, run_id: str, *, show: Show, tell: Callable[[str], None]
) -> Run:
    """Wait until the workers have ended a run, and be a controller meanwhile.

    Stopping this command leaves the run to the workers.
    """
    sender = _sender(settings, store, bell)
    controller = Controller(
        store,
        f"wait-{token_hex(6)}",
        lease_seconds=settings.lease_seconds,
        tick_seconds=settings.tick_seconds,
        monotonic=time.monotonic,
    )
    told, pause = "", threading.Event()
    try:
        while True:
            try:
                if controller.tick():
                    sender.send_again()
                sender.send()
                run, progress = _look(store, run_id)
            except (StoreUnavailable, BrokerUnavailable) as problem:
                if str(problem) != told:
                    tell(f"{problem}; waiting for it")
                told = str(problem)
                pause.wait(settings.tick_seconds)
                continue
            show(run, progress)
            if run.ended or run.state == "paused":
                return run
            pause.wait(min(settings.tick_seconds, LOOK_SECONDS))
    finally:
        with suppress(StoreError):
            controller.resign()


def _look(store: Store, run_id: str) -> tuple[Run, list[StageProgress]]:
    with store.read() as session:
        run, progress = runs.get(session, run_id), stages.progress(session, run_id)
    if run is None:
        raise UsageError(f"run {run_id} was removed while it was on")
    return run, progress


def flower(settings: Settings, address: str, port: int) -> None:
    """Serve Flower until interrupted."""
    with bell_of(settings):
        serve_flower(broker_url(settings), address, port)


def examine(settings: Settings, store: Store) -> list[Check]:
    """Look at broker and workers."""
    bell = Doorbell(broker_url(settings))
    try:
        return examine_cluster(
            store, bell.describe, lease_seconds=settings.lease_seconds, tick_seconds=settings.tick_seconds
        )
    finally:
        bell.close()
