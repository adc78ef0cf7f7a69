"""The symbols of a run in the results store, in the same form as those in the files of a project."""

import os
from pathlib import Path

from jarvis_workers.c2rust.report.body import decode_body
from jarvis_workers.c2rust.runs.project_files import ProjectSymbols, delayed_entries
from jarvis_workers.c2rust.stages.link_symbols import ORDER, SYMBOLS
from jarvis_workers.c2rust.stages.pipelines import SCAN
from jarvis_workers.c2rust.stages.write_report import REPORT
from jarvis_workers.c2rust.symbol_reader import read_order, read_symbols
from jarvis_workers.errors import UsageError
from jarvis_workers.runs import wiring
from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def read_run(settings: Settings, prefix: str) -> ProjectSymbols:
    """Return the symbols of the run whose id starts with `prefix`; raises UsageError if it has none yet."""
    with wiring.store_of(settings, create=False) as store:
        run = find_run(store, prefix)
        if run.kind != SCAN:
            raise UsageError(f"run {run.id} is a {run.kind} run; only runs of jarvis c2rust scan have symbols")
        blobs = blobs_of(settings)
        symbols = _artifact(store, blobs, run, SYMBOLS)
        order, report = _artifact(store, blobs, run, ORDER), _artifact(store, blobs, run, REPORT)
    if symbols is None:
        raise UsageError(f"run {run.id} is {run.state}, and has no symbols")
    read = read_symbols(symbols.decode().split("\n"), f"run {run.id}")
    steps = read_order(order.decode().split("\n") if order is not None else None, read, delayed_entries())
    root = Path(os.fsdecode(run.root_raw))
    return ProjectSymbols(root, read, steps, read.warnings, decode_body(report) if report is not None else None)


def _artifact(store: Store, blobs: Blobs, run: Run, name: str) -> bytes | None:
    with store.read() as session:
        blob = artifacts.find(session, run.id, name)
    return blobs.read(blob) if blob else None
