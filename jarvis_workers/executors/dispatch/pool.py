"""A Celery worker process for one queue, started by `jarvis worker start`.

The entry point is `pool_main.py`, which calls `serve`. The process reads its configuration from a pipe, so that no
password is on its command line, and dies with its parent.
"""

import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import billiard.pool
from celery import Celery
from celery.exceptions import CPendingDeprecationWarning, SecurityWarning
from celery.signals import (
    setup_logging,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutting_down,
)
from celery.utils.log import get_multiprocessing_logger

from jarvis_workers import telemetry
from jarvis_workers.agents.conversations.observer import NOBODY, Observer, Observers, observe_throttling
from jarvis_workers.agents.conversations.resources import ConfiguredTools, setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.executors.dispatch.agent_pool import Agents, make_room, vital
from jarvis_workers.executors.dispatch.broker import Notifier, make_app
from jarvis_workers.executors.dispatch.messages import distrust_broker
from jarvis_workers.executors.dispatch.pool_config import PoolConfig
from jarvis_workers.executors.dispatch.pool_metrics import PoolMetrics
from jarvis_workers.executors.dispatch.prefork_task import PreforkRunner, release_lost_jobs
from jarvis_workers.executors.dispatch.ratelimit.client import SharedLimits
from jarvis_workers.executors.dispatch.routing import CONVERSATION_CONNECTIONS, POOLS, queue_key, task_names
from jarvis_workers.executors.dispatch.sender import Sender
from jarvis_workers.executors.dispatch.traces import TraceObserver
from jarvis_workers.pipeline.stages import warm_up
from jarvis_workers.settings.mcp_servers import McpServer
from jarvis_workers.snapshots.resources import Resources, open_resources
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.telemetry import LogLevel
from jarvis_workers.toolchain.die_with_parent import die_with_parent

KILLED_BEFORE_SECONDS = 5.0
# How long an exiting child waits for Celery to read its last result, which is in the store anyway; in tenths of a
# second.
ANSWER_LOOKS = 10


class JobRunner(Protocol):
    """Runs the job that a message names."""

    def do(self, job_id: int) -> None: ...


def register(app: Celery, runner: JobRunner) -> None:
    """Register all tasks with Celery; each calls `runner.do`."""
    for name in task_names():
        app.task(name=name, ignore_result=True)(_body(runner))


def _body(runner: JobRunner) -> Callable[..., None]:
    def do(job: int, *, run: str, label: str) -> None:
        """Run a job; `run` and `label` are only for display in Flower."""
        runner.do(job)

    return do


def open_world(config: PoolConfig) -> tuple[Store, Resources, Callable[[], None]]:
    """Open the store and the resources of one process; return them with a function that sends notifications."""
    reserved = CONVERSATION_CONNECTIONS if POOLS[config.queue].kind == "threads" else 0
    connections = POOLS[config.queue].connections - reserved
    store = open_store(config.store_url, connections=connections, statement_seconds=config.statement_seconds)
    sender = Sender(
        store,
        Notifier(config.broker_url),
        lease_seconds=config.lease_seconds,
        tick_seconds=config.tick_seconds,
        resend_seconds=config.resend_seconds,
    )

    def notify() -> None:
        sender.send()

    resources = open_resources(config.blobs_url, Path(config.cache), results_bytes=config.results_bytes)
    return store, resources, notify


def serve(config: PoolConfig) -> None:
    """Run the Celery worker until a signal stops it."""
    _log_as_we_do(config.log_level)
    distrust_broker()
    app = make_app(config.broker_url)
    if POOLS[config.queue].kind == "threads":
        _converse(app, config)
    else:
        _decide(app, config)


def _log_as_we_do(level: LogLevel) -> None:
    """Replace Celery's logging set-up, so that its warnings have the format of this project.

    Celery's warning about running as root is disabled: it concerns pickle, and messages here are JSON.
    """
    telemetry.set_up(level, sys.stderr.fileno())
    setup_logging.connect(lambda **_: _join_the_logs(), weak=False)
    warnings.filterwarnings("ignore", category=SecurityWarning)
    worker_ready.connect(lambda **_: _hide_plans(), weak=False)


def _hide_plans() -> None:
    """Ignore warnings about future changes of Celery; called late, since Celery resets the filter at its start."""
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)


def _join_the_logs() -> None:
    """Send the log of billiard, which reports processes that died, to the root logger."""
    if logger := get_multiprocessing_logger():
        logger.propagate = True


def _decide(app: Celery, config: PoolConfig) -> None:
    warm_up(config.queue)
    # A child that exits waits until Celery has read its last result, which Celery may never do during a shutdown.
    billiard.pool.GUARANTEE_MESSAGE_CONSUMPTION_RETRY_LIMIT = ANSWER_LOOKS
    world, observer = partial(open_world, config), _observer(config)
    runner = PreforkRunner(config.worker_id, config.job_lease_seconds, world, config.lease_seconds, observer)
    register(app, runner)
    main = os.getpid()
    worker_process_init.connect(lambda **_: die_with_parent(main), weak=False)
    worker_process_init.connect(lambda **_: release_lost_jobs(runner), weak=False)
    worker_process_shutdown.connect(lambda **_: observer.close(), weak=False)
    _work(app, config)


def _converse(app: Celery, config: PoolConfig) -> None:
    limits = SharedLimits(config.broker_url, f"{config.worker_id}/{os.getpid()}")
    observer = _observer(config)
    limiter = limits.limiter if observer is NOBODY else observe_throttling(limits.limiter, observer)
    own = (_configured(config), config.tools)
    setup = setup_of(config.models, Path(config.cache), config.callbacks, limiter, observer, *own)
    # Register all models, so that Redis has granted allowances before the first request.
    for group in setup.groups.values():
        limits.limiter(group.limited, group.limits)
    seconds = config.statement_seconds
    store = open_store(config.store_url, connections=CONVERSATION_CONNECTIONS, durable=True, statement_seconds=seconds)
    runtime = AgentRuntime(store, setup)
    make_room()
    vital(limits.run)
    agents = Agents(
        config.worker_id,
        open_world(config),
        runtime,
        lease_seconds=config.lease_seconds,
        deadline_seconds=config.deadline_seconds,
    )
    register(app, agents)
    worker_shutting_down.connect(lambda **_: agents.call_off(), weak=False)
    try:
        _work(app, config)
    finally:
        agents.close()
        observer.close()
        runtime.close()
        limits.close()


def _configured(config: PoolConfig) -> ConfiguredTools:
    servers = tuple(map(McpServer.model_validate, config.mcp))
    return ConfiguredTools(servers, config.search_url, config.search_key)


def _observer(config: PoolConfig) -> Observer:
    observers: list[Observer] = []
    if config.metrics_directory is not None:
        observers.append(PoolMetrics.start(config.metrics_directory))
    if config.traces:
        os.environ.update(config.traces)
        observers.append(TraceObserver())
    return Observers(observers) if observers else NOBODY


def _work(app: Celery, config: PoolConfig) -> None:
    arguments = ["--quiet", "worker", "--pool", POOLS[config.queue].kind, "--concurrency", str(config.slots)]
    if POOLS[config.queue].kind == "prefork":
        arguments += ["--time-limit", str(time_limit(config.job_lease_seconds))]
    arguments += ["--queues", queue_key(config.queue), "--hostname", f"{config.queue}@{config.worker_id}"]
    app.worker_main([*arguments, "--without-gossip", "--without-mingle", "--loglevel", "WARNING"])


def time_limit(lease_seconds: float) -> float:
    """Return the hard time limit of a job in seconds: below the lease, so that two processes never run the same job."""
    return max(lease_seconds / 2, lease_seconds - KILLED_BEFORE_SECONDS)
