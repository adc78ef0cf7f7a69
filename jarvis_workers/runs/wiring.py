"""Composition root: create the parts of a command from its settings."""

import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StoreError
from jarvis_workers.executors.local.context import ExecutorContext, RunLimits
from jarvis_workers.executors.local.executor import LocalExecutor
from jarvis_workers.models.platforms.answer_cache import AnswerFolder
from jarvis_workers.pipeline.store_retry import PATIENCE_SECONDS, retry_store
from jarvis_workers.runs.central_repository import tool_directories
from jarvis_workers.runs.configured_tools import configured_tools
from jarvis_workers.runs.health.process_identity import this_worker
from jarvis_workers.runs.models import model_facts
from jarvis_workers.runs.scan_request import blobs_of, resources_of
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import default_data_dir
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.filecache import FOLDER, KEY_FILE, FileCache
from jarvis_workers.store import workers
from jarvis_workers.store.engine import CONNECTIONS, Store, open_store
from jarvis_workers.store.lockwait import LockWait
from jarvis_workers.store.schema_status import SchemaStatus, schema_status
from jarvis_workers.store.values import Run, StageProgress, WorkerFacts
from jarvis_workers.toolchain.gittree import TreeBounds

Show = Callable[[Run, list[StageProgress]], None]


def results_of(settings: Settings) -> FileCache:
    """Return the result cache of this machine, even if it is disabled."""
    return FileCache(settings.data_dir / "cache" / FOLDER, settings.cache.max_bytes, settings.data_dir / KEY_FILE)


def tree_bounds_of(settings: Settings) -> TreeBounds:
    """Return the bounds on the checkout of a git revision."""
    return TreeBounds(settings.scan.git_max_files, int(settings.scan.git_max_mb * 1_000_000))


def shared_blobs_of(settings: Settings) -> Blobs:
    """Open the blob store that is shared with the workers. Raises StoreError unless it can be written from here."""
    blobs = blobs_of(settings)
    blobs.check_access()
    return blobs


def has_default_store(settings: Settings) -> bool:
    """Return whether no setting says where the results store is."""
    return settings.store_url is None and settings.data_dir == default_data_dir()


@contextmanager
def store_of(
    settings: Settings,
    connections: int = CONNECTIONS,
    *,
    tell: Callable[[str], None] | None = None,
    create: bool = True,
) -> Iterator[Store]:
    """Open the results store, and close it at exit. With `tell`, wait for other writers of a SQLite store.

    Waits for a database that does not respond for `store.start_seconds`. Without `create`, for what needs a run that is
    there, a missing SQLite store is refused, since its place may be wrong, unless it is in the place of the default.
    """
    open_it = partial(
        open_store,
        settings.effective_store_url,
        connections=connections,
        statement_seconds=settings.store.statement_seconds,
        lock_wait=LockWait(patience_seconds=PATIENCE_SECONDS, tell=tell) if tell else None,
        create=create or has_default_store(settings),
    )
    store = retry_store(open_it, patience_seconds=settings.store.start_seconds)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def executor_of(
    settings: Settings,
    store: Store,
    *,
    tell: Callable[[str], None],
    show: Show,
    environ: Mapping[str, str] = os.environ,
    runtime: Callable[[], AgentRuntime] | None = None,
) -> Iterator[LocalExecutor]:
    """Yield the executor of this command; `runtime` opens its agent runtime, by default according to the settings."""
    limits = RunLimits(
        processes=settings.process_count,
        lease_seconds=settings.lease_seconds,
        tick_seconds=settings.tick_seconds,
        hard_limit_seconds=settings.scan.hard_limit_seconds,
        build_limit_seconds=settings.c2rust.hard_limit_seconds,
    )
    where = {
        "blobs": settings.effective_blobs_url,
        "cache": str(settings.data_dir / "cache"),
        "results_bytes": str(settings.cache.max_bytes),
    }
    with tempfile.TemporaryFile() as errors:
        world = ExecutorContext(
            runtime=runtime or partial(runtime_of, settings, tell=tell),
            store=store,
            resources=resources_of(settings),
            where=where,
            environ=environ,
            clock=time.monotonic,
            errors=errors,
            tell=tell,
            show=show,
        )
        with _enrolled(store, this_worker(token_hex(4), limits.processes)) as worker:
            yield (local := LocalExecutor(world, limits, worker))
    if settings.notify.webhook_url:
        _notify_of_ends(settings, store, local.executed, tell)


def _notify_of_ends(settings: Settings, store: Store, executed: Collection[str], tell: Callable[[str], None]) -> None:
    """Notify the webhook of the runs that this process has executed."""
    from jarvis_workers.runs.webhook import deliver_pending, webhook_of  # noqa: PLC0415  (most have none)

    hook = webhook_of(settings)
    try:
        if hook:
            deliver_pending(store, blobs_of(settings), hook, executed)
    except StoreError as error:
        tell(f"{error}; the webhook was not notified")


@contextmanager
def _enrolled(store: Store, worker: WorkerFacts) -> Iterator[WorkerFacts]:
    """Register as a worker before owning a run, which would otherwise look abandoned."""
    with store.write() as session:
        workers.touch(session, worker)
    try:
        yield worker
    finally:
        with suppress(StoreError), store.write() as session:
            workers.leave(session, worker.id)


def runtime_of(
    settings: Settings, answers: Path | None = None, *, tell: Callable[[str], None], offline: bool = False
) -> AgentRuntime:
    """Open the agent runtime of this process; answers of models are recorded in a directory or, `offline`, replayed."""
    setup = setup_of(
        model_facts(settings),
        settings.data_dir / "cache",
        settings.agent.after_tool_call_cb_dirs,
        configured=configured_tools(settings, tell),
        tools=tool_directories(settings, tell),
    )
    seconds = settings.store.statement_seconds
    store = open_store(settings.effective_store_url, connections=CONNECTIONS, durable=True, statement_seconds=seconds)
    return AgentRuntime(store, replace(setup, recorded=AnswerFolder(answers), offline=offline) if answers else setup)


def migrate_store(settings: Settings) -> str:
    """Migrate the store's schema to the newest revision; return a message."""
    store = open_store(settings.effective_store_url, migrate=True)
    try:
        return f"{store.where}: the schema is up to date"
    finally:
        store.close()


def schema_status_of(settings: Settings) -> SchemaStatus:
    """Compare the store's schema with this program's, without changing the store. Raises StoreError."""
    return schema_status(settings.effective_store_url, settings.store.statement_seconds)
