"""A run whose units were given up is retried: its symbols are linked anew, with those of the units read now."""

from pathlib import Path

import pytest
from sqlalchemy import update

from jarvis_workers.c2rust.runs.scan_results import read_body
from jarvis_workers.c2rust.store import symbols
from jarvis_workers.runs import runs
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from tests.c2rust.stages.symbol_scans import start_symbol_scan
from tests.sec.stages.pipeline import Pipeline
from tests.store.arrange import run_now

FILES = {"a.c": "int b(void);\nint a(void) { return b(); }\n", "b.c": "int b(void) { return 1; }\n"}


@pytest.mark.slow
def test_units_that_were_given_up_are_read_by_a_retry(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> None:
    pipeline = Pipeline(store, blobs)
    run = start_symbol_scan(pipeline, tmp_path / "c", FILES)
    pipeline.go_on(run, until="symbols")
    with store.write() as session:
        lost = (JOB.c.run_id == run) & (JOB.c.label == "b.c")
        session.execute(update(JOB).where(lost).values(state="failed", reason="crashed"))
    pipeline.go_on(run)

    ended = run_now(store, run)
    assert ended.state == "incomplete"
    assert [(gap.file, gap.reason) for gap in read_body(store, blobs, ended).not_checked] == [("b.c", "crashed")]
    assert names(store, run) == ["a"]

    runs.retry(store, ended, ended.executor)
    pipeline.go_on(run)

    ended = run_now(store, run)
    assert (ended.state, names(store, run)) == ("done", ["a", "b"])
    with store.read() as session:
        (edge,) = symbols.read(session, run).edges
    assert edge.kind == "call"


def names(store: Store, run: str) -> list[str]:
    with store.read() as session:
        return [symbol.name for symbol in symbols.read(session, run).symbols]
