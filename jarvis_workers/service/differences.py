"""Compare two runs: their reports, and what the later one has not looked at.

A finding that is gone is fixed only where the later run has looked for it: with its rule on, in a file that it has
scanned or that is no more.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jarvis_workers.errors import SnapshotError, UsageError
from jarvis_workers.paths import shown
from jarvis_workers.sec.report.difference import compare
from jarvis_workers.sec.report.difference_forms import Sides
from jarvis_workers.sec.report.unlooked import WHOLE, Looked, unlooked
from jarvis_workers.service.reports import read_body, run_part
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.steps.flow import FLOWS
from jarvis_workers.steps.write_report import REPORT
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

__all__ = ["difference"]

Body = Mapping[str, Any]


def difference(store: Store, blobs: Blobs, before: Run, after: Run) -> Sides:
    """Return what two runs differ in. Raises UsageError for one that has no findings to compare."""
    olds, news = _body(store, blobs, before), _body(store, blobs, after)
    found = compare(olds, news, unlooked(olds, news, _looked(blobs, after)))
    notes = [*_notes("earlier", before, olds), *_notes("later", after, news)]
    return Sides(run_part(store, before), run_part(store, after), found, notes)


def _body(store: Store, blobs: Blobs, run: Run) -> Body:
    if all(stage.name != REPORT for stage in FLOWS[run.kind]):
        raise UsageError(f"run {run.id} is of kind {run.kind}: it has no findings to compare")
    body = read_body(store, blobs, run)
    if "baseline" in body["summary"]:
        raise UsageError(f"run {run.id} lists only what was new to its own baseline; compare runs without --baseline")
    return body


def _notes(which: str, run: Run, body: Body) -> Iterator[str]:
    summary = body["summary"]
    if run.state not in WHOLE:
        yield f"the {which} run is {run.state}: it has not looked at everything"
    if gaps := len(summary["not_checked"]):
        yield f"the {which} run has not checked {gaps:,} of its files, or not in full"
    if summary.get("not_listed"):
        listed = f"{len(body['issues']):,} findings of highest score"
        yield f"the {which} run lists only its {listed}: only they are compared"
    if more := summary.get("dismissed_not_listed"):
        yield f"the {which} run does not list {more:,} of its dismissed findings: they are not compared"


def _looked(blobs: Blobs, run: Run) -> Looked:
    def scanned(files: Collection[str]) -> Collection[str]:
        try:
            with open_snapshot(blobs, run.snapshot_id) as reader:
                return {name for entry in reader.files() if (name := shown(entry.path)) in files}
        except SnapshotError:
            return ()

    off = run.options.get("rules", {}).get("off", ())
    return Looked(run.state, run.options["min_confidence"], off, scanned, frozenset(run.options.get("paths", ())))
