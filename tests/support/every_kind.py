"""A store with a run of every registered kind in every state, none of which is a complete scan."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sqlmodel import Session, update

from jarvis_workers.pipeline.stages import kinds
from jarvis_workers.sec.runs.scan_runs import has_findings
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import Snapshot, pack
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store import artifacts, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import RUN
from jarvis_workers.store.values import ENDED_RUNS, RUN_STATES, Run, SnapshotFacts

# A report without findings: of a scan that left a file out, and of a run that is no scan.
EMPTY = {"summary": {"total": 0, "by_severity": {}, "scanned_files": 1}, "issues": [], "suppressed": []}
GAPS = {"not_checked": [{"file": "b.c", "reason": "too large"}]}


class StoredRun(NamedTuple):
    """A run of the store, by what it is."""

    id: str
    kind: str
    state: str

    @property
    def is_scan(self) -> bool:
        return has_findings(self.kind)


def every_run() -> list[StoredRun]:
    """Every kind in every state but complete scans; a report of an incomplete scan may have no gap of its own."""
    return [StoredRun(f"r{number}", kind, state) for number, (kind, state) in enumerate(_kinds_and_states())]


def _kinds_and_states() -> Iterator[tuple[str, str]]:
    for kind in kinds():
        for state in RUN_STATES:
            if not (state == "done" and has_findings(kind)):
                yield kind, state


def fill(store: Store, blobs: DirectoryBlobs, tree: Path, chosen: list[StoredRun]) -> None:
    """Insert runs over a tree with one file."""
    tree.mkdir(exist_ok=True)
    (tree / "a.c").write_text("int a;\n")
    snapshot = pack(tree, Selection(frozenset({b".c"})), blobs)
    with store.write() as session:
        for run in chosen:
            insert_run(session, blobs, snapshot, tree, run, EMPTY | {"summary": EMPTY["summary"] | GAPS})


def insert_run(
    session: Session,
    blobs: DirectoryBlobs,
    snapshot: Snapshot,
    tree: Path,
    run: StoredRun,
    report: object,
    **more: object,
) -> None:
    """Insert a run in its state; an ended scan has the report, as has a run of most other kinds."""
    facts = SnapshotFacts(snapshot.id, snapshot.files, snapshot.bytes, 0)
    options = SecOptions().encode() | more
    row = Run(run.id, run.kind, str(tree), bytes(tree), snapshot.id, "local:gone-1-0", "1", options)
    runs.add(session, row, facts, [stage.name for stage in kinds()[run.kind].stages])
    ended = 1.0 if run.state in ENDED_RUNS else None
    session.execute(update(RUN).where(RUN.c.id == run.id).values(state=run.state, ended_at=ended))
    if run.state in ("done", "incomplete") and not run.kind.startswith(("c2rust.", "toy.")):
        content = json.dumps(report).encode()
        artifacts.save(session, run.id, [("report", blobs.put(content), len(content))])
