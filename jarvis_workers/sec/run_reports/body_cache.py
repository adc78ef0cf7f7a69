"""A bounded cache of parsed reports, for processes that show the same reports many times.

A report that has been written is identified by its blob, whose name is the hash of its content.  The results so far of
a run that is still active are reused for a few seconds, as computing them takes time.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.runs.scan_runs import REPORTED, ScanRun
from jarvis_workers.sec.stages.write_report import REPORT
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts
from jarvis_workers.store.engine import Store

FINDINGS_MAX = 100_000
LIVE_SECONDS = 5.0


class _CachedBody(NamedTuple):
    body: ReportBody
    blob: str | None
    read_at: float

    @property
    def weight(self) -> int:
        return 100 + len(self.body.issues) + len(self.body.dismissed) + len(self.body.suppressed)


class BodyCache:
    """Parsed reports by run, at most FINDINGS_MAX findings in all; thread-safe. `clock` is monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, findings_max: int = FINDINGS_MAX) -> None:
        self._clock = clock
        self._findings_max = findings_max
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _CachedBody] = OrderedDict()

    def read(self, store: Store, blobs: Blobs, run: ScanRun) -> ReportBody:
        """Return the body of a run's report, as `read_body` does."""
        with store.read() as session:
            blob = artifacts.find(session, run.id, REPORT) if run.state in REPORTED else None
        with self._lock:
            entry = self._entries.get(run.id)
            if entry and self._is_current(entry, blob):
                self._entries.move_to_end(run.id)
                return entry.body
        body = read_body(store, blobs, run)
        self._put(run.id, _CachedBody(body, blob, self._clock()))
        return body

    def _is_current(self, entry: _CachedBody, blob: str | None) -> bool:
        if blob is None:
            return entry.blob is None and self._clock() - entry.read_at < LIVE_SECONDS
        return entry.blob == blob

    def _put(self, run_id: str, entry: _CachedBody) -> None:
        with self._lock:
            self._entries[run_id] = entry
            self._entries.move_to_end(run_id)
            while len(self._entries) > 1 and sum(one.weight for one in self._entries.values()) > self._findings_max:
                self._entries.popitem(last=False)
