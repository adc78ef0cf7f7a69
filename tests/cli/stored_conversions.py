"""Conversions in the results store, as runs that have ended or are paused."""

import os
from collections.abc import Mapping
from pathlib import Path

from jarvis_workers.c2rust.bench.crate_archive import CRATE, tar_of
from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, encode_conversion
from jarvis_workers.c2rust.runs.fast_run import FastInput
from jarvis_workers.c2rust.stages.options import FastOptions, MoveOptions, PrepareOptions, TranslateOptions
from jarvis_workers.c2rust.stages.pipelines import PREPARE, RUN, TRANSPILE
from jarvis_workers.c2rust.stages.write_conversion import CONVERSION, PAGE
from jarvis_workers.runs import wiring
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import blobs_of, selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.store import artifacts, runs
from tests.cli.commands import Jarvis

NO_FILES: Mapping[str, str] = {}
OPTIONS: Mapping[str, type[FastOptions]] = {TRANSPILE: TranslateOptions, PREPARE: PrepareOptions, RUN: MoveOptions}


def function(name: str, line: int = 1, **fields: object) -> FunctionResult:
    """Return a function of lib.c, in the module lib."""
    return FunctionResult(name, "lib.c", line, line + 1, "lib", name, slot=name, **fields)  # type: ignore[arg-type]


def store_conversion(
    jarvis: Jarvis,
    tree: Path,
    conversion: Conversion,
    crate: Mapping[str, str] = NO_FILES,
    *,
    kind: str = TRANSPILE,
    page: bytes = b"",
    state: str = "done",
    reason: str | None = None,
    executor: str = "local:gone-1-0",
    **options: object,
) -> str:
    """Store a run of a kind over a tree with its results; return its id."""
    settings = jarvis.settings
    with wiring.store_of(settings) as store:
        blobs = blobs_of(settings)
        request = RunRequest(
            run_id=os.urandom(4).hex(),
            kind=kind,
            path=tree,
            selection=selection_of(settings),
            executor=executor,
            run_input=FastInput(OPTIONS.get(kind, FastOptions)(**options), b"[]"),  # type: ignore[arg-type]
        )
        run_id = submit(store, blobs, request)
        found = {CONVERSION: encode_conversion(conversion), CRATE: tar_of({a: b.encode() for a, b in crate.items()})}
        contents = {**found, PAGE: page}
        with store.write() as session:
            artifacts.save(session, run_id, [(name, blobs.put(one), len(one)) for name, one in contents.items()])
            runs.finish(session, run_id, state, reason)
    return run_id
