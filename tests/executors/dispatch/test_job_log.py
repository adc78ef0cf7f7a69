"""The story of a job: what was done is told, and what came too late is told as lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.executors.dispatch import job_log
from jarvis_workers.executors.dispatch.job_task import pause
from jarvis_workers.executors.dispatch.prefork_task import PreforkRunner
from jarvis_workers.snapshots.resources import open_resources
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit
from tests.store.arrange import add_planned_run, add_run, claim, enrol, job_rows

JOB = Claimed(12, "r1", "scan", "scan", "scan", 2, "a.c", "{}", 0, 1)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level("DEBUG", "jarvis")
    return lambda: [record.msg for record in caplog.records if record.name == "jarvis"]


@pytest.mark.parametrize(
    ("tell", "event"),
    [
        (lambda accepted: job_log.saved(JOB, Commit(), 0.5, accepted=accepted), "committed"),
        (lambda accepted: job_log.failed(JOB, "no luck", 0.5, accepted=accepted), "failed"),
        (lambda accepted: job_log.released(JOB, accepted=accepted), "released"),
    ],
)
def test_what_came_too_late_is_lost(
    tell: Callable[[bool], None], event: str, told: Callable[[], list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    tell(True)
    tell(False)

    assert told() == [event, "lost"]
    for record in caplog.records:
        facts = vars(record)["facts"]
        assert (facts["job"], facts["run"], facts["label"], facts["fence"]) == (12, "r1", "a.c", 2)


def test_a_run_is_told_to_be_paused_once(
    store: Store, told: Callable[[], list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    job = claim(store, add_planned_run(store, 1))[0]
    pause(store, job, "no room", "w/1")
    pause(store, job, "no room", "w/1")

    assert told() == ["paused"]
    facts = vars(caplog.records[-1])["facts"]
    assert (facts["run"], facts["reason"]) == (job.run_id, "no room (process w/1)")


def test_a_job_that_fails_and_is_rung_for_again_too_soon_is_told_so(
    store: Store, tmp_path: Path, told: Callable[[], list[str]]
) -> None:
    run = add_run(store, executor="cluster")
    (plan,) = job_rows(store, run, plan=True)
    resources = open_resources(str(tmp_path / "other"), tmp_path / "cache")
    resources.blobs.put(b"another run's")
    hands = PreforkRunner("w", 60.0, lambda: (store, resources, lambda: None), 30.0)
    enrol(store, "w")
    hands.do(plan.id)
    hands.do(plan.id)

    assert told() == ["claimed", "failed", "refused"]
