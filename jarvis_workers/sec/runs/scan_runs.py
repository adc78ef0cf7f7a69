"""Runs that are scans: only they have a report of findings, and so a gate, a comparison and a trend.

Functions that read findings take a `ScanRun`, which only `scan_of` and its callers make: the absent report of another
kind of run can never pass for an empty one.
"""

from collections.abc import Collection
from typing import NewType

from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.stages import find_kind
from jarvis_workers.runs.runs import find_run, newest_runs
from jarvis_workers.sec.report_document import Summary
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

# A run whose kind has findings.
ScanRun = NewType("ScanRun", Run)
# The states of a scan whose report is written: it has checked everything, or lists what it has not checked.
REPORTED = ("done", "incomplete")


class NotAScan(UsageError):
    """The run is of a kind that has no findings."""

    def __init__(self, run: Run) -> None:
        self.run = run
        super().__init__(f"run {run.id} is no scan (kind {run.kind})")


class NoScanYet(UsageError):
    """The store has no scan."""

    def __init__(self) -> None:
        super().__init__("there is no scan yet", "start one with: jarvis sec fast")


def has_findings(kind: str) -> bool:
    """Return whether runs of a kind have findings; those of a kind that is not installed here have none to show."""
    row = find_kind(kind)
    return row is not None and row.has_findings


def scan_of(run: Run) -> ScanRun:
    """Return the run as a scan. Raises NotAScan."""
    if not has_findings(run.kind):
        raise NotAScan(run)
    return ScanRun(run)


def is_complete(run: Run, summary: Summary) -> bool:
    """Return whether a scan has checked everything, so that what it has not found is not there."""
    return run.state == "done" and not summary.not_checked


def kinds_of_scans(store: Store) -> list[str]:
    """Return the kinds of the scans in the store."""
    with store.read() as session:
        return [kind for kind in runs.kinds(session) if has_findings(kind)]


def newest_scans(store: Store, limit: int, *, root: bytes | None = None, states: Collection[str] = ()) -> list[ScanRun]:
    """Return the newest scans, newest first: over this source tree, in these states; by default all."""
    kinds = kinds_of_scans(store)
    found = newest_runs(store, limit, kinds=kinds, root=root, states=states) if kinds else []
    return [ScanRun(run) for run in found]


def find_scan(store: Store, prefix: str) -> ScanRun:
    """Return the scan whose id starts with `prefix`, or for "last" the newest scan. Raises UsageError."""
    if prefix != "last":
        return scan_of(find_run(store, prefix))
    scans = newest_scans(store, 1)
    if not scans:
        raise NoScanYet
    return scans[0]
