"""What a job raises is told of that job, wherever it is decided, and the next job is done all the same."""

import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.errors import StoreFull, StoreUnavailable
from jarvis_workers.executors.local.child import serve
from jarvis_workers.executors.local.outcomes import JobOutcome
from jarvis_workers.executors.local.pools import ConversationThread
from jarvis_workers.pipeline.attempt import AttemptOutcome, Done, Failed, Full, Released
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.wiring import executor_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources, open_blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Commit, Run
from tests.store.arrange import add_planned_run, add_run, claim, job_rows

AWAY = StoreUnavailable("gone")


class Silent:
    """What conversations share that say nothing."""

    def close(self) -> None:
        pass


def decide(work: Any, _: Resources) -> Commit:
    """Be a step that raises what it is told to."""
    if work == "full":
        raise StoreFull("no room")
    if work:
        raise LookupError(work)
    return Commit(files=1)


async def converse(work: Any, blobs: Blobs, _: Any) -> Commit:
    """Be a step of conversations that raises its work."""
    if work:
        raise work
    return Commit(files=1)


def test_a_child_answers_with_what_a_job_has_raised_and_goes_on(tmp_path: Path) -> None:
    where = {"blobs": str(tmp_path / "blobs"), "cache": str(tmp_path / "cache")}
    requests = [{"job": number, "module": __name__, "work": work} for number, work in enumerate(["lost", "full", ""])]
    answers = io.BytesIO()

    serve([json.dumps(line).encode() for line in [where, *requests]], answers)

    lost, full, done = map(json.loads, answers.getvalue().splitlines())
    assert (lost["job"], lost["error"]) == (0, "LookupError: lost")
    assert (full["job"], full["full"]) == (1, "no room")
    assert (done["job"], done["commit"]["files"]) == (2, 1)


def test_what_a_control_job_of_a_command_raises_is_recorded_on_its_row(store: Store, tmp_path: Path) -> None:
    def show(run: Run, _: Any) -> None:
        if job_rows(store, run.id, plan=True)[0].attempts:
            raise KeyboardInterrupt

    settings = Settings(data_dir=tmp_path / "data", processes=1, tick_seconds=0.1)
    blobs_of(settings).put(b"another run's")
    with executor_of(settings, store, tell=lambda _: None, show=show) as local:
        run = add_run(store, executor=local.executor)
        with pytest.raises(KeyboardInterrupt):
            local.carry_out(run)

    (plan,) = job_rows(store, run, plan=True)
    assert (plan.state, plan.attempts, plan.crashes) == ("pending", 1, 0)
    assert plan.reason.startswith("SnapshotDamaged: ")


@pytest.mark.timing
@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (LookupError("lost"), Failed("LookupError: lost")),
        (StoreFull("no room"), Full("no room")),
        (AWAY, Released(AWAY)),
        (None, Done(Commit(files=1))),
    ],
)
def test_what_a_conversation_of_a_command_raises_is_its_answer(
    store: Store, tmp_path: Path, raised: Exception | None, outcome: AttemptOutcome
) -> None:
    (job,) = claim(store, add_planned_run(store, 1))
    ended = threading.Event()
    talkers = ConversationThread(Silent(), open_blobs(str(tmp_path), tmp_path), ended.set)  # type: ignore[arg-type]
    talkers.start(job, __name__, raised)
    assert ended.wait(10)

    assert talkers.take() == [JobOutcome(job, outcome)]
    talkers.close()
