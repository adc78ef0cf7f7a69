"""List runs quickly: directly on SQLite without the database libraries, otherwise through the store."""

from collections.abc import Mapping, Sequence
from typing import Any

from jarvis_workers.runs.health.process_identity import has_ended
from jarvis_workers.settings import Settings
from jarvis_workers.store.run_list import Filters, ListedRun, newest_listed
from jarvis_workers.store.sqlite_reader import open_direct

LOCAL = "local:"
WORKED_ON = ("planning", "running", "cancelling")


def list_runs(settings: Settings, limit: int, labels: Filters = ()) -> list[ListedRun]:
    """Return the newest runs that have all the labels (key and value, or None for any value), newest first.

    Raises StoreError.
    """
    with open_direct(settings.effective_store_url) as connection:
        if connection is not None:

            def fetch(statement: str, values: dict[str, object]) -> Sequence[Mapping[str, Any]]:
                return connection.execute(statement, values).fetchall()

            return newest_listed(fetch, "sqlite", limit, settings.lease_seconds, labels=labels)
    return _through_the_store(settings, limit, labels)


def shown_state(run: ListedRun) -> str:
    """Return the state to show: "abandoned" if a run is active but the command that executes it is gone."""
    if run.state not in WORKED_ON or not run.executor.startswith(LOCAL):
        return run.state
    abandoned = run.worker is None or not run.fresh or has_ended(run.worker)
    return "abandoned" if abandoned else run.state


def is_current_store(settings: Settings) -> bool:
    """Return whether the store is a SQLite file with the newest schema, as determined by `open_direct`."""
    with open_direct(settings.effective_store_url) as connection:
        return connection is not None


def _through_the_store(settings: Settings, limit: int, labels: Filters) -> list[ListedRun]:
    from jarvis_workers.runs.wiring import store_of  # noqa: PLC0415  (the database libraries are slow to import)
    from jarvis_workers.store.runs import fetch_mappings  # noqa: PLC0415

    with store_of(settings, create=False) as store, store.read() as session:
        return newest_listed(
            lambda statement, values: fetch_mappings(session, statement, values),
            store.dialect,
            limit,
            settings.lease_seconds,
            labels=labels,
        )
