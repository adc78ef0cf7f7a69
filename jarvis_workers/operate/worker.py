"""Start a cluster worker."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_hex

from jarvis_workers import telemetry
from jarvis_workers.errors import UsageError
from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.heartbeats import heartbeat_file
from jarvis_workers.executors.dispatch.pool_config import PoolConfig
from jarvis_workers.executors.dispatch.routing import POOLS
from jarvis_workers.executors.dispatch.supervisor import FAREWELL_SECONDS, PoolSupervisor, SupervisorContext
from jarvis_workers.executors.dispatch.traces import ENDPOINT, trace_environment
from jarvis_workers.executors.dispatch.watchdog import Watchdog
from jarvis_workers.executors.local.context import BUILD_QUEUE
from jarvis_workers.executors.local.pools import LEASE_MARGIN_SECONDS
from jarvis_workers.extras import require
from jarvis_workers.runs.central_repository import tool_directories
from jarvis_workers.runs.configured_tools import configured_facts
from jarvis_workers.runs.health.process_identity import this_worker
from jarvis_workers.runs.models import model_facts
from jarvis_workers.runs.remote import broker_url
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.webhook import notify_forever, webhook_of
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.queues import QUEUES, has_conversations
from jarvis_workers.store.values import AGENT_QUEUE, WorkerFacts

PARENT_CONNECTIONS = 1
STOP_SECONDS = 24.0
# A round that exceeds both of these is considered hung.
HANG_LEASES, HANG_STATEMENTS = 4, 6


def plan_pools(
    settings: Settings, queues: Sequence[str], concurrency: int | None, metrics_directory: str | None = None
) -> list[tuple[PoolConfig, WorkerFacts]]:
    """Return the configuration of each pool of a worker, and its row."""
    names = [queue.strip() for queue in queues]
    unknown = [queue for queue in names if queue not in POOLS]
    if unknown:
        raise UsageError(f'--queues: "{unknown[0]}" is not one of {", ".join(POOLS)}')
    selection = dict.fromkeys(names or POOLS)
    for queue in filter(has_conversations, selection):
        require("agents", f'queue "{queue}" (leave it out: --queues {",".join(_without_conversations())})')
    token = token_hex(4)
    traces = trace_environment(os.environ)
    if traces:
        require("traces", ENDPOINT)
    plans = [_plan(settings, queue, concurrency, token) for queue in selection]
    return [(replace(config, metrics_directory=metrics_directory, traces=traces), facts) for config, facts in plans]


def _without_conversations() -> list[str]:
    return [queue for queue in POOLS if not has_conversations(queue)]


def _plan(settings: Settings, queue: str, concurrency: int | None, token: str) -> tuple[PoolConfig, WorkerFacts]:
    slots = QUEUES[queue].slot_count(concurrency or settings.process_count or 1)
    facts = replace(this_worker(f"{token}-{queue}", slots), queues=queue)
    config = PoolConfig(
        broker_url=broker_url(settings),
        store_url=settings.effective_store_url,
        blobs_url=settings.effective_blobs_url,
        cache=str(settings.data_dir / "cache"),
        results_bytes=settings.cache.max_bytes,
        worker_id=facts.id,
        queue=queue,
        slots=slots,
        lease_seconds=settings.lease_seconds,
        job_lease_seconds=_hard_limit(settings, queue) + LEASE_MARGIN_SECONDS,
        tick_seconds=settings.tick_seconds,
        resend_seconds=settings.resend_seconds,
        statement_seconds=settings.store.statement_seconds,
        log_level=settings.log_level,
        models=model_facts(settings) if has_conversations(queue) else {},
        callbacks=settings.agent.after_tool_call_cb_dirs,
        **(configured_facts(settings) if queue == AGENT_QUEUE else {}),
        tools=tool_directories(settings, _tell) if queue == AGENT_QUEUE else (),
    )
    return config, facts


def _hard_limit(settings: Settings, queue: str) -> float:
    return settings.c2rust.hard_limit_seconds if queue == BUILD_QUEUE else settings.scan.hard_limit_seconds


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
