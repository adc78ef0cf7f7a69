"""The pools of a cluster worker: one for each of its queues, configured from the settings."""

import os
from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex

from jarvis_workers.errors import UsageError
from jarvis_workers.executors.dispatch.pool_config import PoolConfig
from jarvis_workers.executors.dispatch.routing import POOLS
from jarvis_workers.executors.dispatch.traces import ENDPOINT, trace_environment
from jarvis_workers.executors.local.context import BUILD_QUEUE
from jarvis_workers.executors.local.pools import LEASE_MARGIN_SECONDS
from jarvis_workers.extras import require
from jarvis_workers.runs.central_repository import tool_directories
from jarvis_workers.runs.configured_tools import configured_facts
from jarvis_workers.runs.health.process_identity import this_worker
from jarvis_workers.runs.models import model_facts
from jarvis_workers.runs.remote import broker_url
from jarvis_workers.settings import Settings
from jarvis_workers.store.queues import QUEUES, has_conversations
from jarvis_workers.store.values import AGENT_QUEUE, WorkerFacts
from jarvis_workers.telemetry import warning


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


def _tell(says: str) -> None:
    warning("worker", says=says)
