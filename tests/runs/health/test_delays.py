"""Why jobs wait is named: their back-off, or the clock of the database."""

import time
from collections.abc import Callable

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.runs.health.cluster import examine_cluster
from jarvis_workers.runs.health.delays import DelayNotice, delays
from jarvis_workers.runs.runs import check_clocks
from jarvis_workers.sec.run_reports.live import Follower
from jarvis_workers.sec.stages.results import VerdictResult
from jarvis_workers.store import jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Commit, StageProgress
from tests.runs.test_cluster_health import REDIS
from tests.sec.stages.test_streaming import add_run, child, finish, take, verdict
from tests.store.arrange import add_planned_run, claim, enrol, run_now
from tests.store.clocks import SteppedClock

NOT_DUE = "jobs that are not due: 1, the first is due in 1.0 s, after a failed attempt: no luck"
SET_BACK = "the clock of the database was set back by at least 600 s: leases lie in the future"


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def store(sqlite_url: str, open_stores: Callable[..., Store], clock: SteppedClock) -> Store:
    return open_stores(sqlite_url, clock=clock)


def failed_once(store: Store) -> str:
    """Return a run with a job that waits after a failed attempt."""
    run = add_planned_run(store, scans=1)
    (job,) = claim(store, run)
    with store.write() as session:
        jobs.fail_attempt(session, job, "no luck")
    return run


def test_a_job_that_is_not_due_is_named_with_its_reason(store: Store, clock: SteppedClock) -> None:
    assert delays(store, add_planned_run(store, scans=1)) == []
    run = failed_once(store)
    assert delays(store, run) == [NOT_DUE]
    clock.advance(1.0)

    assert delays(store, run) == []


def test_a_run_that_waits_is_told_of_once(store: Store) -> None:
    run, lines = failed_once(store), list[str]()
    notice = DelayNotice(lines.append, store)
    for running in (1, 0, 0):
        notice.look(run, [StageProgress("scan", "open", jobs=2, running=running)])

    assert lines == [NOT_DUE]


def test_a_step_is_named_while_leases_lie_in_the_future(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=1)
    enrol(store, run)
    clock.step(-600.0)

    assert [line.partition(";")[0] for line in delays(store, run)] == [SET_BACK]


def test_the_doctor_names_a_step_though_the_clocks_agree(store: Store, clock: SteppedClock) -> None:
    clock.now = time.time() + 600.0
    enrol(store, "w")
    clock.step(-600.0)
    found = examine_cluster(store, lambda: REDIS, lease_seconds=30, tick_seconds=2)

    assert [(check.state, check.says) for check in found if check.name == "clock"] == [("warn", SET_BACK)]


def test_nothing_is_deleted_by_age_while_the_clocks_disagree(store: Store, clock: SteppedClock) -> None:
    check_clocks(store, clock.now + 60.0)
    with pytest.raises(UsageError, match=r"the clock of the database is \+86,400 s off this machine's"):
        check_clocks(store, clock.now - 86400.0)


def test_results_after_a_step_are_followed_too(store: Store, clock: SteppedClock) -> None:
    run = add_run(store, 0)
    with store.write() as session:
        payload = '{"gids": [%d], "verification": "it fits"}'
        jobs.insert_jobs(
            session, run, "verify", [child(gid)._replace(payload=payload % gid, stage="verify") for gid in (1, 2)]
        )
    follower = Follower(store)
    seen: list[int] = []
    for gid in (1, 2):
        clock.step(-3600.0)
        finish(store, take(store, run, "verify"), Commit(results=(VerdictResult((verdict(gid),)),)))
        for _ in range(2):
            seen += [issue.gid for issue in follower.look(run_now(store, run)).issues]

    assert sorted(seen) == [1, 2]
