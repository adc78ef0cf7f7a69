"""Put together what a command works with, from its settings."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from secrets import token_hex

from jarvis_workers.agent.limits import Limits as AgentLimits
from jarvis_workers.errors import StoreError
from jarvis_workers.private import make_private_directory
from jarvis_workers.service.local import Limits, LocalExecutor, World
from jarvis_workers.service.models import model_facts
from jarvis_workers.service.presence import this_worker
from jarvis_workers.service.sources import Origin, Source, ignore_files_of
from jarvis_workers.service.submit import Request
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs, open_blobs
from jarvis_workers.snapshots.results import FOLDER, KEY_FILE, Results
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.steps.each_file import Limits as FileLimits
from jarvis_workers.steps.means import means_of
from jarvis_workers.steps.patience import PATIENCE_SECONDS
from jarvis_workers.steps.talks import Means, Talks
from jarvis_workers.store import workers
from jarvis_workers.store.engine import CONNECTIONS, Store, open_store
from jarvis_workers.store.lockwait import LockWait
from jarvis_workers.store.runs import Run
from jarvis_workers.store.stages import StageProgress
from jarvis_workers.store.workers import WorkerFacts
from jarvis_workers.toolchain.gittree import TreeBounds

Show = Callable[[Run, list[StageProgress]], None]
RUST_SUFFIXES = frozenset({"rs"})


def blobs_of(settings: Settings) -> Blobs:
    """Open the blob store; a data directory that is made for it is the user's alone."""
    with suppress(OSError):
        make_private_directory(settings.data_dir)
    cache = settings.data_dir / "cache"
    return open_blobs(settings.effective_blobs_url, cache, results_bytes=settings.cache.max_bytes)


def results_of(settings: Settings) -> Results:
    """Return what this machine keeps of earlier scans, also where it is not to be used."""
    return Results(settings.data_dir / "cache" / FOLDER, settings.cache.max_bytes, settings.data_dir / KEY_FILE)


def file_limits_of(settings: Settings) -> FileLimits:
    """Return what a file may take; a batch is cut short in time before it would be killed."""
    scan = settings.scan
    return FileLimits(scan.file_seconds, scan.file_memory_mb, scan.hard_limit_seconds / 2)


def tree_bounds_of(settings: Settings) -> TreeBounds:
    """Return what a git revision may check out to."""
    return TreeBounds(settings.scan.git_max_files, int(settings.scan.git_max_mb * 1_000_000))


def agent_limits_of(settings: Settings) -> AgentLimits:
    """Return how far a conversation may go."""
    agent = settings.agent
    return AgentLimits(
        rounds=agent.rounds,
        tokens=agent.tokens,
        cost=agent.cost,
        seconds=agent.seconds,
        filter_above=agent.filter_above,
        output_tokens=agent.output_tokens,
    )


def request_for(settings: Settings, source: Source, kind: str, executor: str) -> Request:
    """Return what settings alone say of a new run over a source."""
    return Request(
        run_id=token_hex(4),
        kind=kind,
        path=source.path,
        root=source.root,
        selection=selection_of(settings, origin=source.origin),
        executor=executor,
        min_confidence=settings.report.min_confidence,
        batch_files=settings.scan.batch_files,
        batch_bytes=int(settings.scan.batch_mb * 1_000_000),
        processes=settings.process_count,
        source_url=settings.report.source_url,
    )


@contextmanager
def store_of(
    settings: Settings, connections: int = CONNECTIONS, *, tell: Callable[[str], None] | None = None
) -> Iterator[Store]:
    """Open the results store, and close it. With `tell`, others that write to a SQLite store are waited for."""
    store = open_store(
        settings.effective_store_url,
        connections=connections,
        statement_seconds=settings.store.statement_seconds,
        lock_wait=LockWait(patience_seconds=PATIENCE_SECONDS, tell=tell) if tell else None,
    )
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
    talks: Callable[[], Talks] | None = None,
) -> Iterator[LocalExecutor]:
    """Make the executor of this command; `talks` opens what its conversations share, if not as settings say."""
    limits = Limits(
        processes=settings.process_count,
        lease_seconds=settings.lease_seconds,
        tick_seconds=settings.tick_seconds,
        hard_limit_seconds=settings.scan.hard_limit_seconds,
    )
    where = {
        "blobs": settings.effective_blobs_url,
        "cache": str(settings.data_dir / "cache"),
        "results_bytes": str(settings.cache.max_bytes),
    }
    with tempfile.TemporaryFile() as errors:
        world = World(
            talks=talks or partial(talks_of, settings),
            store=store,
            blobs=blobs_of(settings),
            where=where,
            environ=environ,
            clock=time.monotonic,
            errors=errors,
            tell=tell,
            show=show,
        )
        with _enrolled(store, this_worker(token_hex(4), limits.processes)) as worker:
            yield LocalExecutor(world, limits, worker)


@contextmanager
def _enrolled(store: Store, worker: WorkerFacts) -> Iterator[WorkerFacts]:
    """Be there before a run is ours, which else would look abandoned."""
    with store.write() as session:
        workers.touch(session, worker)
    try:
        yield worker
    finally:
        with suppress(StoreError), store.write() as session:
            workers.leave(session, worker.id)


def talks_of(settings: Settings, change: Callable[[Means], Means] = lambda means: means) -> Talks:
    """Open what the conversations of this process share."""
    means = means_of(model_facts(settings), settings.data_dir / "cache", settings.agent.after_tool_call_cb_dirs)
    seconds = settings.store.statement_seconds
    store = open_store(settings.effective_store_url, connections=CONNECTIONS, durable=True, statement_seconds=seconds)
    return Talks(store, change(means))


def selection_of(
    settings: Settings,
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    *,
    origin: Origin = "directory",
) -> Selection:
    """Say which files are wanted."""
    rust = "rust" in settings.scan.languages
    c = "c/cpp" in settings.scan.languages
    wanted = [suffix for suffix in settings.scan.extensions if (rust if suffix in RUST_SUFFIXES else c)]
    return Selection(
        suffixes=frozenset(b"." + os.fsencode(suffix) for suffix in wanted),
        exclude_dirs=frozenset(map(os.fsencode, settings.scan.exclude_dirs)),
        include=include,
        exclude=exclude,
        ignore_files=ignore_files_of(
            origin, use=settings.scan.use_ignore_files, of_addresses=settings.scan.jarvisignore_of_addresses
        ),
        max_file_bytes=int(settings.scan.max_file_mb * 1_000_000),
    )


def migrate_store(settings: Settings) -> str:
    """Bring the store's schema up to date; return what to tell."""
    store = open_store(settings.effective_store_url, migrate=True)
    try:
        return f"{store.where}: the schema is up to date"
    finally:
        store.close()
