"""A command bears an outage of its blobs: it reports it, waits, and charges nothing to the jobs."""

from pathlib import Path

import pytest

from jarvis_workers.runs import wiring
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from tests.store.arrange import job_rows


@pytest.mark.parametrize("processes", [0, pytest.param(1, marks=[pytest.mark.slow, pytest.mark.timing])])
def test_a_run_waits_for_blobs_that_are_away(store: Store, tmp_path: Path, processes: int) -> None:
    settings = Settings(data_dir=tmp_path / "data", processes=processes, tick_seconds=0.1)
    blobs, aside = settings.data_dir / "blobs", settings.data_dir / "aside"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("void f(char *a, char *b) { strcpy(a, b); }\n")
    said: list[str] = []

    def tell(says: str) -> None:
        said.append(says)
        aside.rename(blobs)

    with wiring.executor_of(settings, store, tell=tell, show=lambda *_: None) as local:
        request = RunRequest(
            run_id="outage",
            kind="sec.fast",
            path=tmp_path / "tree",
            selection=selection_of(settings),
            executor=local.executor,
            run_input=ScanInput(SecOptions()),
        )
        run_id = submit(store, local.world.blobs, request)
        blobs.rename(aside)
        run = local.carry_out(run_id)

    assert run.state == "done"
    assert {row.attempts for row in job_rows(store, run.id)} == {0}
    (told,) = said
    assert "missing" in told and told.endswith("jobs that meet this are released for up to 600 s")
