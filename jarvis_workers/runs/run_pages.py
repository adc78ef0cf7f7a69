"""Pages of runs for lists that are longer than a screen."""

from collections.abc import Sequence
from typing import NamedTuple

from jarvis_workers.store import model_usage, run_pages, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.model_usage import RunUsage
from jarvis_workers.store.run_pages import RunFilter
from jarvis_workers.store.values import Run

ROOTS_MAX = 200


class RunPage(NamedTuple):
    """The runs of a page, and the number of runs on all pages."""

    runs: list[Run]
    total: int


def page_of_runs(store: Store, run_filter: RunFilter, page: int, size: int) -> RunPage:
    """Return the runs of a page, numbered from 1, newest first."""
    with store.read() as session:
        return RunPage(
            run_pages.page(session, run_filter, limit=size, offset=(page - 1) * size),
            run_pages.count(session, run_filter),
        )


def kinds_of_runs(store: Store) -> list[str]:
    """Return the kinds of the runs in the store."""
    with store.read() as session:
        return runs.kinds(session)


def roots_of_runs(store: Store) -> list[tuple[str, int]]:
    """Return the scanned roots with their number of runs, those with the latest runs first."""
    with store.read() as session:
        return run_pages.roots(session, ROOTS_MAX)


def usage_of_runs(store: Store, runs: Sequence[Run]) -> dict[str, RunUsage]:
    """Return the model usage by run, for the runs that called a model."""
    with store.read() as session:
        return model_usage.by_run(session, [run.id for run in runs])
