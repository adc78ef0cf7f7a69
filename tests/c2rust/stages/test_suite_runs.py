"""Runs of generated calls: what a limit stops is neither proof nor refutation."""

from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_workers.c2rust.bench.project_bench import CommandResult
from jarvis_workers.c2rust.bench.tree_state import LIMIT
from jarvis_workers.c2rust.stages import suite_runs
from jarvis_workers.c2rust.stages.input_runs import UsableInputs

LOG = b"called\tprogram\t7\tf\t0\nreturned\tprogram\t7\tf\t0\ncalled\tprogram\t7\tf\t1\n"


ENDED = b"ended\tprogram\t7\tf\t1\tsignal 14\n"
STOPPED = f"{LIMIT} of wall time"


@pytest.mark.parametrize(
    ("failure", "log", "made"), [(STOPPED, LOG, 1), ("signal 11", LOG, 2), (STOPPED, LOG + ENDED, 2)]
)
def test_a_call_that_a_limit_stops_is_no_difference(monkeypatch: Any, failure: str, log: bytes, made: int) -> None:
    done = CommandResult(1, failure, 1.0, b"", log)
    monkeypatch.setattr(suite_runs, "call_program", lambda *_: done)
    bench: Any = SimpleNamespace(library="library", shapes="shapes", restore=lambda: None)

    run = suite_runs.BenchSuites(bench, []).call("f", UsableInputs("program", "plan", 20))

    assert (run.made, run.returned) == (made, 1)
    assert [gate.passed for gate in run.outcomes()] == [False] * (made - 1)
