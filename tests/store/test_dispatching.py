"""Sending: fair shares of a window, and a claim for what was rung for alone."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.store import crash_attribution, dispatching, jobs, runs, workers
from jarvis_workers.store.dispatching import Demand, Sent, newcomers, share
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, WorkerFacts
from tests.store.arrange import add_planned_run, commit, enrol, job_rows, states
from tests.store.clocks import FakeClock

CLUSTER = "cluster"
ALL = 1000


@pytest.fixture
def store(store_url: str, open_stores: Callable[..., Store], clock: FakeClock) -> Store:
    """An empty store whose time a test moves."""
    return open_stores(store_url, clock=clock)


demands = st.lists(
    st.builds(Demand, st.just(""), waiting=st.integers(0, 30), outstanding=st.integers(0, 30)), max_size=6
).map(lambda found: [one._replace(run_id=f"r{n}") for n, one in enumerate(found)])


@given(demands, st.integers(0, 100))
def test_shares_fill_the_window_and_exceed_it_only_by_even_parts(wanted: list[Demand], window: int) -> None:
    shares = share(wanted, window)

    room = max(0, window - sum(one.outstanding for one in wanted))
    there = sum(1 for one in wanted if one.waiting or one.outstanding)
    assert sum(shares.values()) >= min(room, sum(one.waiting for one in wanted))
    assert all(0 < shares[one.run_id] <= one.waiting for one in wanted if one.run_id in shares)
    if sum(shares.values()) > room:
        even = max(1, window // max(1, there))
        assert all(one.outstanding + shares[one.run_id] <= even for one in wanted if one.run_id in shares)


def test_a_run_that_comes_late_gets_its_even_part_though_the_window_is_full() -> None:
    wanted = [Demand("large", 1000, 40), Demand("small", 3, 0), Demand("idle", 0, 0)]

    assert share(wanted, 40) == {"small": 3}
    assert newcomers(wanted) == {"small"}


@given(demands, st.integers(0, 100))
def test_the_run_with_the_fewest_outstanding_comes_first(wanted: list[Demand], window: int) -> None:
    shares = Counter(share(wanted, window))

    hungry = [one for one in wanted if shares[one.run_id] < one.waiting]
    served = [one for one in wanted if shares[one.run_id]]
    for poor in hungry:
        for rich in served:
            assert rich.outstanding + shares[rich.run_id] <= poor.outstanding + shares[poor.run_id] + 1


def send(store: Store, run: str, many: int, **options: bool) -> list[Sent]:
    with store.write() as session:
        return dispatching.mark_sent(session, "scan", {run: many}, **options)


def resend(store: Store, seconds: float, before: float = 0.0) -> list[int]:
    with store.write() as session:
        return [sent.id for sent in dispatching.resend(session, "scan", seconds, before)]


def claim(store: Store, job: int, process: str = "w/1") -> Claimed | None:
    enrol(store, "w")
    with store.write() as session:
        return dispatching.claim_sent(
            session, job, worker_id="w", process=process, lease_seconds=60.0, worker_lease_seconds=30.0
        )


def demand(store: Store, most: int = ALL) -> dict[str, tuple[int, int]]:
    with store.read() as session:
        found = dispatching.demand(session, CLUSTER, "scan", most)
    return {one.run_id: (one.waiting, one.outstanding) for one in found}


@pytest.mark.slow
def test_demand_counts_what_is_due_and_what_is_out(store: Store) -> None:
    run = add_planned_run(store, 4, executor=CLUSTER)
    add_planned_run(store, 2)
    first, *_ = send(store, run, 2)
    claim(store, first.id)

    assert demand(store) == {run: (2, 2)}
    assert demand(store, most=1) == {run: (1, 2)}


def test_a_job_that_backs_off_is_not_due(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 1, executor=CLUSTER)
    (sent,) = send(store, run, 1)
    job = claim(store, sent.id)
    assert job
    with store.write() as session:
        jobs.fail_attempt(session, job, "cannot parse")

    assert (demand(store)[run], send(store, run, 1), claim(store, sent.id)) == ((0, 0), [], None)
    clock.advance(jobs.BACK_OFF_SECONDS)
    assert (demand(store)[run], len(send(store, run, 1))) == ((1, 0), 1)


def test_the_heaviest_are_sent_first_with_what_people_see_of_them(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 3, executor=CLUSTER)
    sent = send(store, run, 2)

    assert [(one.run_id, one.kind, one.step, one.label, one.sent_at) for one in sent] == [
        (run, "sec.fast", "scan", label, clock.now) for label in ("batch 2", "batch 1")
    ]
    assert states(store, run) == ["pending", "sent", "sent"]


def test_jobs_of_two_runs_are_sent_in_turns(store: Store) -> None:
    one, other = (add_planned_run(store, 3, executor=CLUSTER) for _ in range(2))
    with store.write() as session:
        sent = dispatching.mark_sent(session, "scan", {one: 3, other: 2})

    assert [job.run_id for job in sent] == [one, other, one, other, one]


@pytest.mark.timing
@pytest.mark.parametrize(("suspects_last", "first"), [(False, "batch 1"), (True, "batch 0")])
def test_what_crashed_goes_before_lighter_jobs_unless_suspects_come_last(
    store: Store, suspects_last: bool, first: str
) -> None:
    run = add_planned_run(store, 2, executor=CLUSTER)
    (heavy,) = send(store, run, 1)
    claim(store, heavy.id)
    with store.write() as session:
        crash_attribution.crash_process(session, "w/1", "killed by SIGKILL")

    assert [sent.label for sent in send(store, run, 1, suspects_last=suspects_last)] == [first]


def test_what_was_sent_is_sent_once_until_it_is_old(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 2, executor=CLUSTER)
    sent = [one.id for one in send(store, run, 5)]

    assert (send(store, run, 5), resend(store, 60.0)) == ([], [])
    clock.advance(60.0)
    assert (sorted(resend(store, 60.0)), resend(store, 60.0)) == (sorted(sent), [])


def test_what_was_sent_before_the_oldest_message_is_sent_again(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 2, executor=CLUSTER)
    (lost,) = send(store, run, 1)
    clock.advance(5.0)
    (waits,) = send(store, run, 1)

    assert resend(store, 60.0, before=waits.sent_at) == [lost.id]


def test_what_is_claimed_is_not_sent_again(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 1, executor=CLUSTER)
    (sent,) = send(store, run, 1)
    claim(store, sent.id)
    clock.advance(1000.0)

    assert resend(store, 60.0) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [lambda session, run: runs.pause(session, run, "a rest"), runs.cancel], ids=["paused", "cancelled"]
)
def test_a_job_of_a_run_that_is_not_on_is_not_claimed(store: Store, change: Callable[..., bool]) -> None:
    run = add_planned_run(store, 2, executor=CLUSTER)
    sent = send(store, run, 2)
    with store.write() as session:
        assert change(session, run)

    assert [claim(store, one.id) for one in sent] == [None, None]


def test_a_duplicate_is_refused(store: Store) -> None:
    run = add_planned_run(store, 1, executor=CLUSTER)
    (sent,) = send(store, run, 1)
    job = claim(store, sent.id)
    assert job
    assert claim(store, sent.id, process="w/2") is None
    commit(store, job)

    assert claim(store, sent.id, process="w/2") is None
    assert job_rows(store, run)[0].fence == 1


def test_slots_are_those_of_living_workers_of_the_queue(store: Store, clock: FakeClock) -> None:
    facts = WorkerFacts("gone", "host", pid=1, birth="", queues="scan", slots=8, version="0")
    for other in (
        facts,
        WorkerFacts("here", "host", 2, "", "scan", 3, "0"),
        WorkerFacts("c", "h", 3, "", "control", 1, "0"),
    ):
        with store.write() as session:
            workers.touch(session, other)
        clock.advance(31.0 if other is facts else 0.0)

    with store.read() as session:
        assert dispatching.slots(session, "scan", 30.0) == 3


def test_the_mean_is_that_of_the_last_jobs(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 4, executor=CLUSTER)
    with store.read() as session:
        assert dispatching.mean_seconds(session, "scan") is None
    for seconds, sent in zip((1.0, 3.0), send(store, run, 2), strict=True):
        job = claim(store, sent.id)
        assert job
        clock.advance(seconds)
        commit(store, job)

    with store.read() as session:
        assert dispatching.mean_seconds(session, "scan") == 2.0


def test_a_job_is_not_claimed_for_a_worker_that_is_unknown_or_silent_for_a_lease(
    store: Store, clock: FakeClock
) -> None:
    run = add_planned_run(store, 1, executor=CLUSTER)
    (sent,) = send(store, run, 1)

    def claim_for(worker: str) -> Claimed | None:
        with store.write() as session:
            return dispatching.claim_sent(
                session, sent.id, worker_id=worker, process="p", lease_seconds=60.0, worker_lease_seconds=30.0
            )

    assert (claim_for("unknown"), states(store, run)) == (None, ["pending"])
    enrol(store, "silent")
    clock.advance(30.0)
    assert (claim_for("silent"), states(store, run)) == (None, ["pending"])
    clock.advance(dispatching.REFUSED_SECONDS)
    enrol(store, "silent")
    assert claim_for("silent")
    assert states(store, run) == ["running"]
