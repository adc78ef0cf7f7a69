"""Start a cluster worker."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue

from jarvis_workers import telemetry
from jarvis_workers.errors import UsageError
from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.heartbeats import heartbeat_file
from jarvis_workers.executors.dispatch.pool_config import PoolConfig
from jarvis_workers.executors.dispatch.supervisor import FAREWELL_SECONDS, PoolSupervisor, SupervisorContext
from jarvis_workers.executors.dispatch.watchdog import Watchdog
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.webhook import notify_forever, webhook_of
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import WorkerFacts

PARENT_CONNECTIONS = 1
STOP_SECONDS = 24.0
# A round that exceeds both of these is considered hung.
HANG_LEASES, HANG_STATEMENTS = 4, 6


def work(settings: Settings, store: Store, notifier: Notifier, plans: Sequence[tuple[PoolConfig, WorkerFacts]]) -> None:
    """Run a worker until SIGTERM or SIGINT, logging to standard error."""
    telemetry.set_up(settings.log_level, sys.stderr.fileno())
    store.lock_wait.end_startup()
    if settings.blobs_url is None:
        _tell(f"JARVIS_BLOBS_URL is not set: only runs submitted on this machine find {settings.effective_blobs_url}")
    signals = SimpleQueue[int]()
    watchdog = Watchdog(_hang_seconds(settings), _tell, alive_at=lambda: store.deadline.alive_at)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: _stop(number, store, watchdog, signals))
    heartbeat = heartbeat_file(settings.data_dir, plans[0][1].id)
    _make_data_directory(heartbeat.parent)
    parent = PoolSupervisor(store, notifier, plans, SupervisorContext(heartbeat, os.environ, sys.stderr.buffer, _tell))
    parent.register()
    # The watchdog is not stopped: it also supervises closing connections and exiting the interpreter.
    watchdog.start()
    stop = _notify_of_ends(settings, store)
    try:
        parent.tick()
        while _goes_on(signals, settings.tick_seconds):
            watchdog.feed()
            parent.tick()
    finally:
        stop.set()
        watchdog.end_within(STOP_SECONDS)
        parent.stop()


def _make_data_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{directory}: cannot be created: {error.strerror}; set JARVIS_DATA_DIR") from error


def _notify_of_ends(settings: Settings, store: Store) -> threading.Event:
    """Start a thread that notifies the webhook of ended runs, if there is one; return the event that stops it."""
    stop = threading.Event()
    if (hook := webhook_of(settings)) is not None:
        parts = (store, blobs_of(settings), hook, stop, settings.tick_seconds)
        threading.Thread(target=notify_forever, args=parts, name="webhook", daemon=True).start()
    return stop


def _hang_seconds(settings: Settings) -> float:
    """Return how long a round may take without an answer of the database; it may wait for several servers in turn."""
    return max(HANG_LEASES * settings.lease_seconds, HANG_STATEMENTS * settings.store.statement_seconds)


def _stop(number: int, store: Store, watchdog: Watchdog, signals: "SimpleQueue[int]") -> None:
    """Handle a stop signal: shorten all waits of the main thread. Takes no lock that the main thread may hold."""
    watchdog.end_within(STOP_SECONDS)
    store.deadline.shorten(FAREWELL_SECONDS)
    signals.put(number)


def _goes_on(signals: "SimpleQueue[int]", seconds: float) -> bool:
    """Wait until the next round; return False if the process was told to stop."""
    try:
        signals.get(timeout=seconds)
    except Empty:
        return True
    return False


def _tell(says: str) -> None:
    telemetry.warning("worker", says=says)
