"""Ctrl-C may strike anywhere: the run is paused, and the store is free for others."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from jarvis_workers.runs import runs, wiring
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from tests.store.arrange import run_now

pytestmark = pytest.mark.timing

ENDED = frozenset({"paused", "done"})


@contextmanager
def struck(place: int) -> Iterator[None]:
    """Interrupt this thread as it is about to leave, for the nth time, a block such as a transaction."""
    left, before = place, sys.gettrace()

    def trace(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left
        if frame.f_code.co_name == "__exit__" and frame.f_code.co_filename.endswith("contextlib.py"):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("strcpy(a, b);\n")
    return Settings(data_dir=tmp_path / "data", processes=1)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("place", range(2, 20, 3))
def test_wherever_a_transaction_is_left_by_ctrl_c_the_run_is_paused_and_goes_on(
    settings: Settings, tmp_path: Path, place: int
) -> None:
    with wiring.store_of(settings) as store:
        run = carried_out(settings, store, tmp_path / "tree", place)
        assert run_now(store, run).state in ENDED
        with wiring.executor_of(settings, store, tell=lambda _: None, show=lambda *_: None) as local:
            if run_now(store, run).state == "paused":
                runs.resume(store, run_now(store, run), local.executor, settings.lease_seconds)
            assert local.carry_out(run).state == "done"


def carried_out(settings: Settings, store: Store, tree: Path, place: int) -> str:
    with wiring.executor_of(settings, store, tell=lambda _: None, show=lambda *_: None) as local:
        request = RunRequest(
            run_id=os.urandom(4).hex(),
            kind="sec.fast",
            path=tree,
            selection=selection_of(settings),
            executor=local.executor,
            run_input=ScanInput(SecOptions(min_confidence=0.4, batch_files=1, batch_bytes=1 << 20, processes=1)),
        )
        run = submit(store, local.world.blobs, request)
        with pytest.raises(KeyboardInterrupt), struck(place):
            local.carry_out(run)
    return run
