"""A domain of which the core knows nothing runs on this machine and on workers: see tests/toy."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from jarvis_cli.kit.progress import describe
from jarvis_workers.executors.dispatch.sender import EXECUTOR
from jarvis_workers.runs import wiring
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.run_kinds import units_of
from jarvis_workers.runs.scan_request import blobs_of, selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, StageProgress
from tests.chaos.commands import until
from tests.store.arrange import run_now
from tests.support.plugins import PYTHONPATH
from tests.support.servers import Redis
from tests.toy import KIND, LINES, ToyOptions

REPORT = {"files": {"a.c": 3, "d/b.c": 2}, "total": 5}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    tree = tmp_path / "tree"
    (tree / "d").mkdir(parents=True)
    for name, content in {"a.c": "1\n2\n3\n", "d/b.c": "1\n2\n", "small.c": "1\n", "odd.c": "1\n\0\n"}.items():
        (tree / name).write_text(content)
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    return Settings(data_dir=tmp_path / "data", processes=1)


def start(store: Store, blobs: Blobs, tree: Path, executor: str, skipped: tuple[str, ...] = ()) -> str:
    """Submit a run of the toy domain; its table is made as a domain's own migration would."""
    LINES.create(store.engine)
    request = RunRequest(
        run_id="toy",
        kind=KIND,
        path=tree,
        selection=selection_of(Settings()),
        executor=executor,
        run_input=RunInput(ToyOptions(batch_files=2, batch_bytes=1 << 20, least=2)),
        skipped_stages=skipped,
    )
    return submit(store, blobs, request)


def result(store: Store, blobs: Blobs, run: str) -> tuple[Any, StageProgress]:
    """Return the report of a run, and how far its first stage is."""
    with store.read() as session:
        report = artifacts.find(session, run, "report")
        first = stages.progress(session, run)[0]
    assert report
    return json.loads(blobs.read(report)), first


def check(run: Run, report: Any, count: StageProgress) -> None:
    assert (report, run.state, run.reason) == (REPORT, "incomplete", "1 file was not counted")
    assert describe(count, 0.0, units_of(run, count.name)) == "2/2 batches, 0.0/0.0 kB"


def test_a_toy_domain_runs_on_this_machine(settings: Settings, tmp_path: Path) -> None:
    with (
        wiring.store_of(settings) as store,
        wiring.executor_of(settings, store, tell=lambda _: None, show=lambda *_: None) as local,
    ):
        blobs = local.world.blobs
        run = local.carry_out(start(store, blobs, tmp_path / "tree", local.executor))
        check(run, *result(store, blobs, run.id))


@pytest.mark.slow
def test_a_stage_that_is_left_out_is_not_in_the_run(settings: Settings, tmp_path: Path) -> None:
    with (
        wiring.store_of(settings) as store,
        wiring.executor_of(settings, store, tell=lambda _: None, show=lambda *_: None) as local,
    ):
        blobs = local.world.blobs
        run = local.carry_out(start(store, blobs, tmp_path / "tree", local.executor, skipped=("total",)))
        with store.read() as session:
            ran = [(stage.name, stage.done) for stage in stages.progress(session, run.id)]
            assert artifacts.find(session, run.id, "report") is None
        assert (ran, run.state) == ([("count", 2)], "incomplete")


@pytest.mark.slow
@pytest.mark.timing
def test_a_toy_domain_runs_on_workers(
    settings: Settings, tmp_path: Path, redis_here: Redis, sqlite_url: str, open_stores: Callable[..., Store]
) -> None:
    store, blobs = open_stores(sqlite_url), blobs_of(settings)
    run = start(store, blobs, tmp_path / "tree", EXECUTOR)
    with worker(settings, redis_here, sqlite_url, tmp_path):
        until(lambda: run_now(store, run).ended)
    check(run_now(store, run), *result(store, blobs, run))


@contextmanager
def worker(settings: Settings, broker: Redis, store_url: str, home: Path) -> Iterator[None]:
    """Run `jarvis worker start` as it is."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")} | {
        "JARVIS_DATA_DIR": str(settings.data_dir),
        "JARVIS_STORE_URL": store_url,
        "JARVIS_BLOBS_URL": settings.effective_blobs_url,
        "JARVIS_BROKER_URL": broker.url,
        "JARVIS_LEASE_SECONDS": "5",
        "JARVIS_TICK_SECONDS": "0.2",
    }
    command = [sys.executable, "-m", "jarvis_cli", "worker", "start", "--queues", "scan,control"]
    process = subprocess.Popen(command, env=environ, cwd=home)
    family = psutil.Process(process.pid)
    try:
        yield
    finally:
        for child in family.children(recursive=True) if family.is_running() else []:
            child.kill()
        process.kill()
        process.wait()
