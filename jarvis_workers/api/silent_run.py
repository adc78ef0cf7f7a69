"""Execute a run in this process and its children, without output: a library does not write to the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.runs import wiring
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.sources import SourceTree, open_source
from jarvis_workers.runs.submit import submit
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


@contextmanager
def run_silently(
    settings: Settings, root: str | Path, request: Callable[[SourceTree, str], RunRequest[Any]]
) -> Iterator[StoredRun]:
    """Execute the run that `request` returns for a tree and an executor, and yield it with its store.

    Raises UsageError if it has no result.
    """
    with wiring.store_of(settings) as store:
        yield StoredRun(settings, store, blobs_of(settings), _carry_out(settings, store, root, request))


def _carry_out(
    settings: Settings, store: Store, root: str | Path, request: Callable[[SourceTree, str], RunRequest[Any]]
) -> Run:
    with wiring.executor_of(settings, store, tell=say_nothing, show=say_nothing) as local:
        with open_source(str(root), bounds=wiring.tree_bounds_of(settings)) as source:
            run_id = submit(store, local.world.blobs, request(source, local.executor))
        run = local.carry_out(run_id)
    if run.state not in ("done", "incomplete"):
        raise UsageError(f"run {run.id} is {run.state}: {run.reason or 'see jarvis runs show'}")
    return run


def say_nothing(*_: object) -> None:
    """Ignore a message."""
