"""With 0 processes a debugger reaches every step: jobs are executed in the process and thread of the command."""

import os
import sys
import threading
from pathlib import Path

import psutil
import pytest

from jarvis_workers.runs import wiring
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from tests.executors.local import unknown_step
from tests.executors.local.stopping import KIND
from tests.store.arrange import job_rows

Places = list[tuple[int, int]]


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> Places:
    """Where `breakpoint()` was called: process and thread."""
    found: Places = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: found.append((os.getpid(), threading.get_ident())))
    return found


def run_inline(store: Store, place: Path, kind: str, state: str = "done") -> str:
    settings = Settings(data_dir=place / "data", processes=0)
    (place / "tree").mkdir()
    (place / "tree" / "a.c").write_text("void f(char *a, char *b) { strcpy(a, b); }\n")
    with wiring.executor_of(settings, store, tell=lambda _: None, show=lambda *_: None) as local:
        request = RunRequest(
            run_id="inline",
            kind=kind,
            path=place / "tree",
            selection=selection_of(settings),
            executor=local.executor,
            run_input=ScanInput(SecOptions()),
        )
        run = local.carry_out(submit(store, local.world.blobs, request))
    assert run.state == state
    return run.id


def test_every_step_is_executed_in_the_thread_of_the_command(store: Store, tmp_path: Path, places: Places) -> None:
    run_inline(store, tmp_path, KIND)

    assert set(places) == {(os.getpid(), threading.get_ident())}
    assert len(places) == 4


def test_a_scan_without_processes_starts_none(store: Store, tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))

    run = run_inline(store, tmp_path, "sec.fast")

    assert set(psutil.Process().children(recursive=True)) <= before
    (scan,) = job_rows(store, run)
    assert (scan.state, scan.files) == ("done", 1)
    assert scan.cpu_seconds > 0


@pytest.mark.slow
def test_a_job_of_an_unknown_step_fails_the_plan(store: Store, tmp_path: Path) -> None:
    run = run_inline(store, tmp_path, unknown_step.KIND, "failed")

    (job,) = job_rows(store, run, plan=True)
    assert job.reason == "StepFailed: the pipeline test.unknown has no stage 'read', the step of a planned job"
