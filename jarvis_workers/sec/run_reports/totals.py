"""The totals of reports, for lists of many runs.

A report starts with its summary, so that only its first bytes are read.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_workers.errors import SnapshotError
from jarvis_workers.sec.runs.scan_runs import REPORTED, has_findings
from jarvis_workers.sec.stages.write_report import REPORT
from jarvis_workers.snapshots.blobs import Blobs, read_range
from jarvis_workers.store import artifacts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

HEAD_BYTES = 256 * 1024
REPORTS_MAX = 5_000


class ReportTotals(NamedTuple):
    """The number of findings of a report, by severity, and of those with a verdict; and of files not checked."""

    total: int
    by_severity: Mapping[str, int]
    confirmed: int
    not_checked: int


class TotalsCache:
    """The totals of ended scans, by the hash of their reports; at most REPORTS_MAX; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, ReportTotals] = OrderedDict()

    def read(self, store: Store, blobs: Blobs, runs: Sequence[Run]) -> dict[str, ReportTotals]:
        """Return the totals by run, of scans with a readable report."""
        with store.read() as session:
            names = artifacts.blobs_named(
                session, [run.id for run in runs if run.state in REPORTED and has_findings(run.kind)], REPORT
            )
        totals = {run_id: self._of_blob(blobs, blob) for run_id, blob in names.items()}
        return {run_id: one for run_id, one in totals.items() if one is not None}

    def _of_blob(self, blobs: Blobs, blob: str) -> ReportTotals | None:
        with self._lock:
            if blob in self._entries:
                self._entries.move_to_end(blob)
                return self._entries[blob]
        totals = _read(blobs, blob)
        if totals is not None:
            with self._lock:
                self._entries[blob] = totals
                while len(self._entries) > REPORTS_MAX:
                    self._entries.popitem(last=False)
        return totals


def notified_totals(store: Store, blobs: Blobs, run: Run) -> dict[str, Any]:
    """Return the numbers of a scan in the notification of its end, empty without a readable report."""
    totals = TotalsCache().read(store, blobs, [run]).get(run.id)
    if totals is None:
        return {}
    return {"findings": {"total": totals.total, **totals.by_severity}, "not_checked": totals.not_checked}


def _read(blobs: Blobs, blob: str) -> ReportTotals | None:
    try:
        counts = _summary_in(read_range(blobs, blob, 0, HEAD_BYTES)) or _summary_in(blobs.read(blob))
    except SnapshotError:
        return None
    if counts is None:
        return None
    return ReportTotals(
        int(counts.get("total", 0)),
        {name: int(number) for name, number in (counts.get("by_severity") or {}).items()},
        sum(int((counts.get("by_status") or {}).get(status, 0)) for status in ("proved", "confirmed")),
        len(counts.get("not_checked") or ()),
    )


def _summary_in(content: bytes) -> dict[str, Any] | None:
    """Return the summary at the beginning of a report, or None if it is incomplete."""
    text = content.decode("utf-8", "replace")
    start = text.find('"summary":')
    if start not in (1, 2):
        return None
    try:
        summary, _ = json.JSONDecoder().raw_decode(text[start + len('"summary":') :].lstrip())
    except ValueError:
        return None
    return summary if isinstance(summary, dict) else None
