"""The clock of the database is set: what is due is claimed, who is dead is recovered, nobody is blamed."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import ColumnElement

from jarvis_workers.pipeline.controller import Controller
from jarvis_workers.runs.health.process_identity import has_ended, this_worker
from jarvis_workers.runs.runs import is_abandoned
from jarvis_workers.runs.webhook import RECENT_SECONDS
from jarvis_workers.store import (
    budgets,
    crash_attribution,
    dispatching,
    jobs,
    leases,
    metric_queries,
    notifications,
    runs,
    workers,
)
from jarvis_workers.store.engine import Store
from jarvis_workers.store.sql import stop_clock
from jarvis_workers.store.values import Claimed, WorkerFacts
from tests.store.arrange import add_planned_run, add_run, claim, commit, enrol, event_names, job_rows, run_now, states
from tests.store.clocks import FakeClock, SteppedClock
from tests.store.conftest import DATABASES

LEASE_SECONDS, TICK_SECONDS, HARD_LIMIT_SECONDS = 30.0, 2.0, 300.0
STEPS = (-86400.0, -3600.0, -31.0, -5.0, 5.0, 31.0, 3600.0, 86400.0)
EACH_STEP = [pytest.param(one, marks=() if one in (-3600.0, 86400.0) else pytest.mark.slow) for one in STEPS]
RECOVERY_SECONDS = LEASE_SECONDS + 2 * TICK_SECONDS


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture(params=DATABASES)
def store(request: pytest.FixtureRequest, open_stores: Callable[..., Store], clock: FakeClock) -> Store:
    url = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return open_stores(url, clock=clock)


def controller(store: Store, holder: str, clock: SteppedClock) -> Controller:
    return Controller(store, holder, lease_seconds=LEASE_SECONDS, tick_seconds=TICK_SECONDS, monotonic=clock.monotonic)


def test_waiting_jobs_can_be_claimed_after_the_clock_was_set_back(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=3)
    clock.step(-600)

    assert len(claim(store, run, limit=3)) == 3


def test_a_retry_waits_no_longer_than_its_back_off(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=1)
    (job,) = claim(store, run)
    with store.write() as session:
        jobs.fail_attempt(session, job, "no luck")
    clock.step(-3.0)
    assert claim(store, run) == []
    clock.advance(4.0)

    assert claim(store, run)


def test_a_dead_controller_is_replaced_after_the_clock_was_set_back(store: Store, clock: SteppedClock) -> None:
    with store.write() as session:
        assert leases.take(session, "controller", "a", 10)
    clock.step(-600)
    with store.read() as session:
        assert leases.is_free(session, "controller", "b")
    with store.write() as session:
        assert leases.take(session, "controller", "b", 10)
        assert not leases.take(session, "controller", "a", 10)


def test_a_lease_of_an_earlier_version_has_no_length(store: Store, clock: SteppedClock) -> None:
    with store.write() as session:
        assert leases.take(session, "controller", "a", 10)
        session.connection().exec_driver_sql("UPDATE lease SET seconds = NULL")
    with store.read() as session:
        assert not leases.is_free(session, "controller", "b")
    clock.advance(10.0)
    with store.read() as session:
        assert leases.is_free(session, "controller", "b")


def test_jobs_of_a_dead_worker_are_recovered_after_the_clock_was_set_back(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=1)
    assert claim(store, run, limit=1, lease=30)
    clock.step(-600)
    with store.write() as session:
        assert crash_attribution.recover(session)


def test_a_worker_seen_in_the_future_is_not_known_to_live(store: Store, clock: SteppedClock) -> None:
    enrol(store, "w")
    clock.step(-5.0)
    with store.read() as session:
        found = workers.find(session, "w", LEASE_SECONDS)
        assert found
        assert not found[1]
        assert workers.living(session, LEASE_SECONDS) == []


def test_a_notification_of_before_the_step_is_repeated_once(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=2)
    with store.write() as session:
        dispatching.mark_sent(session, "scan", {run: 2})
    before = clock.now
    clock.step(-3600.0)
    with store.write() as session:
        assert len(dispatching.resend(session, "scan", 60.0, before=before)) == 2
    clock.advance(1.0)
    with store.write() as session:
        assert dispatching.resend(session, "scan", 60.0, before=before) == []


@pytest.mark.slow
@pytest.mark.parametrize("seconds", EACH_STEP)
def test_nobody_is_blamed_for_a_step(store: Store, clock: SteppedClock, seconds: float) -> None:
    run = add_planned_run(store, scans=2)
    elected = controller(store, "a", clock)
    elected.tick()
    heartbeat(store, run)
    claim(store, run, lease=HARD_LIMIT_SECONDS)
    (renewed,) = claim(store, run, lease=LEASE_SECONDS)
    clock.step(seconds)
    for _ in range(int(2 * LEASE_SECONDS / TICK_SECONDS)):
        elected.tick()
        heartbeat(store, run)
        with store.write() as session:
            assert jobs.renew(session, [renewed], LEASE_SECONDS)
        clock.advance(TICK_SECONDS)

    assert states(store, run) == ["running", "running"]
    assert [row.crashes for row in job_rows(store, run)] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [-86400.0, 86400.0])
def test_a_step_in_the_middle_of_a_tick_blames_nobody(
    store_url: str, open_stores: Callable[..., Store], seconds: float
) -> None:
    clock = StepsWhenRead(seconds)
    store = open_stores(store_url, clock=clock)
    for reads in range(12):
        run = add_planned_run(store, scans=1)
        elected = controller(store, "a", clock)
        elected.tick()
        heartbeat(store, run)
        claim(store, run, lease=LEASE_SECONDS)
        clock.reads_left = reads
        elected.tick()
        heartbeat(store, run)
        clock.advance(TICK_SECONDS)
        elected.tick()

        assert states(store, run) == ["running"], f"after {reads} readings"
        elected.resign()


@pytest.mark.parametrize("seconds", EACH_STEP)
def test_the_jobs_of_a_worker_that_dies_are_recovered_after_a_lease(
    store: Store, clock: SteppedClock, seconds: float
) -> None:
    run = add_planned_run(store, scans=1)
    elected, other = controller(store, "a", clock), controller(store, "b", clock)
    elected.tick()
    heartbeat(store, run)
    claim(store, run, lease=HARD_LIMIT_SECONDS)
    clock.step(seconds)
    other.tick()
    assert seconds_until(store, clock, [elected, other], lambda: states(store, run) == ["pending"]) <= RECOVERY_SECONDS


@pytest.mark.parametrize("seconds", EACH_STEP)
def test_a_new_controller_recovers_after_an_election_and_a_lease(
    store: Store, clock: SteppedClock, seconds: float
) -> None:
    run = add_planned_run(store, scans=1)
    dead = controller(store, "a", clock)
    dead.tick()
    heartbeat(store, run)
    claim(store, run, lease=HARD_LIMIT_SECONDS)
    clock.step(seconds)
    new = controller(store, "b", clock)

    limit = RECOVERY_SECONDS + new.election_seconds
    assert seconds_until(store, clock, [new], lambda: states(store, run) == ["pending"]) <= limit


def test_the_last_run_is_the_one_that_was_submitted_last(store: Store, clock: SteppedClock) -> None:
    earlier = add_planned_run(store, scans=0)
    clock.step(-3600.0)
    later = add_planned_run(store, scans=0)
    with store.read() as session:
        assert [run.id for run in runs.newest(session, 2)] == [later, earlier]


def test_a_run_that_stands_still_is_stalled_after_a_step_too(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=1)
    claim(store, run)
    elected = controller(store, "a", clock)
    elected.tick()
    clock.step(-3600.0)
    clock.advance(TICK_SECONDS)
    elected.tick()
    with store.read() as session:
        assert runs.stalled(session, 60.0) == []
    clock.advance(61.0)
    with store.read() as session:
        assert runs.stalled(session, 60.0) == [(run, 61.0)]


def test_a_step_does_not_count_in_a_time_budget(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=1)
    elected = controller(store, "a", clock)
    elected.tick()
    for seconds in (86400.0, -3600.0):
        clock.step(seconds)
        clock.advance(TICK_SECONDS)
        elected.tick()
    with store.read() as session:
        assert budgets.spent(session, run, "s") == 2 * TICK_SECONDS * budgets.PARTS["s"]


def test_the_second_end_of_a_run_is_notified_though_the_clock_was_set_back(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=0)
    with store.write() as session:
        runs.finish(session, run, "failed")
        notifications.record(session, run, "delivered")
    clock.step(-3600.0)
    with store.write() as session:
        assert notifications.pending(session, 86400.0) is None
        runs.finish(session, run, "done")
        pending = notifications.pending(session, 86400.0)
        assert pending
        assert pending.id == run


@pytest.mark.parametrize("seconds", EACH_STEP)
def test_the_end_of_a_run_is_notified_whatever_step_follows_it(
    store: Store, clock: SteppedClock, seconds: float
) -> None:
    run = add_planned_run(store, scans=0)
    with store.write() as session:
        runs.finish(session, run, "done")
    clock.step(seconds)
    clock.advance(TICK_SECONDS)
    with store.write() as session:
        pending = notifications.pending(session, RECENT_SECONDS)
        assert pending
        notifications.record(session, pending.id, "delivered")
        assert (pending.id, notifications.pending(session, RECENT_SECONDS)) == (run, None)


@pytest.mark.parametrize("seconds", EACH_STEP)
def test_the_lease_of_a_sender_that_died_is_free_after_its_length(
    store: Store, clock: SteppedClock, seconds: float
) -> None:
    with store.write() as session:
        assert leases.take(session, "webhook", "dead", LEASE_SECONDS)
    clock.step(seconds)

    def take() -> bool:
        with store.write() as session:
            return leases.take(session, "webhook", "next", LEASE_SECONDS)

    assert seconds_until(store, clock, [], take) <= LEASE_SECONDS + TICK_SECONDS


@pytest.mark.parametrize("seconds", EACH_STEP)
def test_metrics_are_true_again_after_two_ticks(store: Store, clock: SteppedClock, seconds: float) -> None:
    run = add_planned_run(store, scans=2, executor="cluster")
    elected = controller(store, "a", clock)
    elected.tick()
    heartbeat(store, "w")
    assert take_one(store, run, "w")
    clock.step(seconds)
    for _ in range(2):
        elected.tick()
        heartbeat(store, "w")
        clock.advance(TICK_SECONDS)

    with store.read() as session:
        scan = next(one for one in metric_queries.queue_depths(session) if one.queue == "scan")
        living = next(one for one in metric_queries.worker_counts(session, LEASE_SECONDS) if one.queue == "scan")
        assert (scan.waiting, scan.running, living.workers) == (1, 1, 1)
        assert 0.0 <= scan.oldest_seconds <= max(0.0, seconds) + 2 * TICK_SECONDS
        assert (metric_queries.expired_leases(session), metric_queries.controller_seconds(session)) == (0, 0.0)


@pytest.mark.parametrize("seconds", EACH_STEP)
def test_a_process_is_known_to_live_or_to_have_ended_whatever_the_clock_says(
    store: Store, clock: SteppedClock, seconds: float
) -> None:
    """Processes are identified by their start since the boot, which no clock of a database changes."""
    with store.write() as session:
        workers.touch(session, mine := this_worker("mine", 1))
        workers.touch(session, replace(mine, id="dead", pid=2**22 + 1))
    clock.step(seconds)
    with store.read() as session:
        found = [workers.find(session, one, LEASE_SECONDS) for one in (mine.id, "dead")]
    assert [one is not None and has_ended(one[0]) for one in found] == [False, True]


@pytest.mark.parametrize("seconds", EACH_STEP)
def test_the_run_of_a_living_command_is_not_abandoned_after_its_next_heartbeat(
    store: Store, clock: SteppedClock, seconds: float
) -> None:
    mine = this_worker("mine", 1)
    run = add_run(store, executor=f"local:{mine.id}")
    for _ in range(2):
        with store.write() as session:
            workers.touch(session, mine)
        assert not is_abandoned(store, run_now(store, run), LEASE_SECONDS)
        clock.step(seconds)


def test_what_others_renew_while_a_controller_recovers_is_not_in_the_future(
    postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    store, other = open_stores(postgres_url), open_stores(postgres_url)
    run = add_planned_run(store, scans=1)
    heartbeat(store, run)
    held = claim(store, run, lease=LEASE_SECONDS)
    with store.write() as session:
        stop_clock(session)
        runs.bound(session)
        heartbeat(other, run)
        with other.write() as beside:
            assert jobs.renew(beside, held, LEASE_SECONDS)
        assert crash_attribution.recover(session) == []
        assert crash_attribution.recover_dead_workers(session, LEASE_SECONDS) == []


def test_a_step_is_an_event_of_active_runs(store: Store, clock: SteppedClock) -> None:
    run = add_planned_run(store, scans=1)
    elected = controller(store, "a", clock)
    for seconds in (0.0, -600.0, 0.0):
        clock.advance(TICK_SECONDS)
        elected.tick()
        clock.step(seconds)
    clock.advance(TICK_SECONDS)
    elected.tick()

    assert event_names(store, run).count(runs.STEPPED) == 1


def test_times_in_the_future_are_measured_until_the_controller_has_bound_them(
    store: Store, clock: SteppedClock
) -> None:
    run = add_planned_run(store, scans=1)
    controller(store, "a", clock).tick()
    enrol(store, run)
    claim(store, run)
    with store.read() as session:
        assert runs.seconds_ahead(session) == 0.0
    clock.step(-600.0)
    with store.read() as session:
        assert runs.seconds_ahead(session) == 600.0
    controller(store, "b", clock).tick()
    with store.read() as session:
        assert runs.seconds_ahead(session) == 0.0


@pytest.mark.slow
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.tuples(st.floats(0.0, 60.0), st.sampled_from((*STEPS, 1e9, -9e8))), min_size=1, max_size=5))
def test_whatever_the_clock_does_due_jobs_are_claimed_within_a_lease(
    tmp_path_factory: pytest.TempPathFactory, open_stores: Callable[..., Store], steps: list[tuple[float, float]]
) -> None:
    """A worker dies with a job in hand before each step; a living one does all jobs, none of which is blamed twice."""
    clock = SteppedClock()
    store = open_stores(f"sqlite:///{tmp_path_factory.mktemp('steps')}/jarvis.db", clock=clock)
    run = add_planned_run(store, scans=len(steps), executor="cluster")
    living = controller(store, "living", clock)
    for number, (pause, step) in enumerate(steps):
        dying = f"dying{number}"
        heartbeat(store, dying)
        assert take_one(store, run, dying)
        clock.step(step)
        clock.advance(pause)
        waited = seconds_until(store, clock, [living], lambda: bool(finish_one(store, run)))
        assert waited <= RECOVERY_SECONDS + living.election_seconds

    assert [(row.state, row.crashes) for row in job_rows(store, run)] == [("done", 1)] * len(steps)
    living.tick()
    assert run_now(store, run).state == "running"


def heartbeat(store: Store, worker: str) -> None:
    with store.write() as session:
        workers.touch(session, WorkerFacts(worker, "elsewhere", pid=1, birth="", queues="scan", slots=1, version="0"))


def seconds_until(
    store: Store, clock: SteppedClock, controllers: list[Controller], happens: Callable[[], bool]
) -> float:
    """Let time pass in ticks until something happens; return the seconds."""
    began = clock.monotonic()
    while not happens():
        assert clock.monotonic() - began < 20 * LEASE_SECONDS, "nothing happens"
        clock.advance(TICK_SECONDS)
        for one in controllers:
            one.tick()
    return clock.monotonic() - began


def take_one(store: Store, run: str, worker: str) -> list[Claimed]:
    with store.write() as session:
        return jobs.claim_many(
            session,
            executor="cluster",
            queue="scan",
            worker_id=worker,
            process=worker,
            limit=1,
            lease_seconds=HARD_LIMIT_SECONDS,
        )


def finish_one(store: Store, run: str) -> bool:
    heartbeat(store, "living")
    recovered = [row.crashes for row in job_rows(store, run) if row.state == "pending" and row.crashes]
    return bool(recovered) and all(commit(store, job) for job in take_one(store, run, "living"))


class StepsWhenRead(SteppedClock):
    """A clock that is set when it has been read `reads_left` times more."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds, self.reads_left = seconds, -1

    def __call__(self) -> ColumnElement[float]:
        if self.reads_left == 0:
            self.step(self.seconds)
        self.reads_left -= 1
        return super().__call__()
