"""Series of scans: those of one source or project whose numbers of findings are comparable.

The scans of a baseline (`--baseline REVISION`) are part of the scan that started them, and belong to no series.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jarvis_workers.runs.run_facts import RunCosts, run_facts
from jarvis_workers.sec.report.scan_scope import ScanScope
from jarvis_workers.sec.report.scan_scope import scope_of as scope_of_part
from jarvis_workers.sec.runs.scan_runs import ScanRun, kinds_of_scans
from jarvis_workers.store import run_pages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.run_pages import RunFilter

ROOTS_MAX = 200
# Scans that are looked through for one of equal scope.
SEARCHED = 200


class ScanSeries(NamedTuple):
    """Scans of equal scope, oldest first."""

    scope: ScanScope
    scans: Sequence[ScanRun]


def scope_of(run: ScanRun) -> ScanScope:
    """Return the scope of a scan."""
    return scope_of_part(run_facts(run, (), RunCosts()))


def newest_comparable(store: Store, run: ScanRun) -> ScanRun | None:
    """Return the newest complete scan of the same source and scope that was submitted before a scan, or None."""
    scope, chosen = scope_of(run), RunFilter(root=run.root, state="done")
    with store.read() as session:
        earlier = run_pages.page(session, _of_scans(store, chosen), limit=SEARCHED, before=run.created_at)
    return next((one for one in map(ScanRun, earlier) if one.id != run.id and scope_of(one) == scope), None)


def newest_scans_of(store: Store, chosen: RunFilter, limit: int) -> list[ScanRun]:
    """Return the newest scans that a filter selects, newest first."""
    with store.read() as session:
        return [ScanRun(run) for run in run_pages.page(session, _of_scans(store, chosen), limit=limit)]


def series_of(scans: Sequence[ScanRun]) -> list[ScanSeries]:
    """Divide ended scans, newest first, by their scopes; the series with the newest scan comes first."""
    series: dict[ScanScope, list[ScanRun]] = {}
    for run in scans:
        if run.ended:
            series.setdefault(scope_of(run), []).insert(0, run)
    return [ScanSeries(scope, members) for scope, members in series.items()]


def roots_of_scans(store: Store) -> list[tuple[str, int]]:
    """Return the sources of ended scans with their number of scans, those with the latest scans first."""
    with store.read() as session:
        return run_pages.roots(session, ROOTS_MAX, _of_scans(store, RunFilter(ended=True)))


def _of_scans(store: Store, chosen: RunFilter) -> RunFilter:
    return chosen._replace(kinds=tuple(kinds_of_scans(store)), with_inner=False)
