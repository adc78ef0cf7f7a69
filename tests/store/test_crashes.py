"""Crashes: who is to blame when a process dies."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.store import crash_attribution
from jarvis_workers.store.engine import Store
from tests.store.arrange import add_planned_run, claim, enrol, job_rows, states
from tests.store.clocks import FakeClock


def crash(store: Store, process: str) -> list[tuple[str, str, int]]:
    with store.write() as session:
        return crash_attribution.by_stage(crash_attribution.crash_process(session, process, "killed by signal 9"))


def recover(store: Store) -> list[tuple[str, str, int]]:
    with store.write() as session:
        return crash_attribution.by_stage(crash_attribution.recover(session))


def test_a_job_whose_lease_ran_out_is_taken_back(store: Store) -> None:
    run = add_planned_run(store, 2)
    claim(store, run, lease=-1.0)
    claim(store, run, lease=60.0)

    assert recover(store) == [(run, "scan", 1)]
    late = job_rows(store, run)[1]
    assert (late.state, late.crashes, late.process, late.reason) == ("pending", 1, None, "crashed: its lease expired")
    assert recover(store) == []


def test_only_the_jobs_of_the_dead_process_are_taken_back(store: Store) -> None:
    run = add_planned_run(store, 2)
    claim(store, run, process="a")
    claim(store, run, process="b")

    assert crash(store, "a") == [(run, "scan", 1)]
    assert states(store, run) == ["running", "pending"]


def test_a_job_is_given_up_when_it_crashes_for_the_third_time_alone(store: Store) -> None:
    run = add_planned_run(store, 1)
    seen = []
    for _ in range(3):
        claim(store, run, process="a")
        crash(store, "a")
        seen += states(store, run)

    assert seen == ["pending", "pending", "failed"]
    assert job_rows(store, run)[0].reason == "crashed: killed by signal 9"


def test_a_job_is_given_up_when_it_crashes_for_the_fourth_time_in_company(store: Store) -> None:
    run = add_planned_run(store, 3)
    for _ in range(3):
        claim(store, run, process="a", limit=2)
        crash(store, "a")
    assert states(store, run) == ["pending", "pending", "pending"]
    suspect, _ = claim(store, run, process="a", limit=3)
    crash(store, "a")

    assert [(row.id == suspect.id, row.crashes) for row in job_rows(store, run) if row.state == "failed"] == [(True, 4)]


def test_a_job_is_in_company_also_of_one_whose_lease_has_not_run_out(store: Store) -> None:
    run = add_planned_run(store, 2)
    for _ in range(2):
        claim(store, run, process="a")
        crash(store, "a")
    claim(store, run, process="b", lease=-1.0)
    claim(store, run, process="b", lease=60.0)

    recover(store)
    assert states(store, run) == ["running", "pending"]


@pytest.mark.slow
@pytest.mark.parametrize(("silent", "crashed"), [(0.0, 1), (10.0, 1), (11.0, 0)])
def test_a_job_that_an_orphan_of_a_dead_worker_has_claimed_is_not_blamed(
    silent: float, crashed: int, store_url: str, open_stores: Callable[..., Store]
) -> None:
    clock = FakeClock()
    store = open_stores(store_url, clock=clock)
    enrol(store, "w")
    clock.advance(silent)
    run = add_planned_run(store, 1, executor="local:w")
    claim(store, run, lease=3600.0)
    clock.advance(31.0)
    with store.write() as session:
        (taken,) = crash_attribution.recover_dead_workers(session, 30.0)

    (job,) = job_rows(store, run)
    assert (job.id, taken.given_up) == (taken.id, False)
    assert (job.state, job.process, job.crashes) == ("pending", None, crashed)


def test_a_job_that_crashed_three_times_runs_apart_from_other_suspects(store: Store) -> None:
    run = add_planned_run(store, 3)
    for _ in range(3):
        claim(store, run, process="a", limit=2)
        crash(store, "a")

    alone, fresh = claim(store, run, process="b", limit=3)
    assert (alone.crashes, fresh.crashes) == (3, 0)
    assert [job.crashes for job in claim(store, run, process="c", limit=3)] == [3]


@pytest.mark.parametrize(
    ("crashed", "beside", "given_up"),
    [(1, 0, False), (2, 0, False), (3, 0, True), (3, 1, False), (4, 0, True), (4, 99, True)],
)
def test_when_a_job_is_given_up(crashed: int, beside: int, given_up: bool) -> None:
    assert crash_attribution.condemned(crashed, beside) == given_up


@given(
    st.lists(st.integers(0, 3), max_size=30),
    st.lists(st.integers(0, 3), max_size=30),
)
def test_no_suspect_ever_has_more_company_than_it_may(first: list[int], second: list[int]) -> None:
    chosen = crash_attribution.choose([], list(enumerate(first)))
    inside = [first[job] for job in chosen if first[job]]
    inside += [second[job] for job in crash_attribution.choose(inside, list(enumerate(second))) if second[job]]

    for crashed in inside:
        assert len(inside) - 1 <= {1: 99, 2: 9, 3: 0}[crashed]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_an_empty_process_always_gets_the_first_job_and_every_innocent(waiting: list[int]) -> None:
    chosen = crash_attribution.choose([], list(enumerate(waiting)))

    assert chosen[0] == 0
    assert {job for job, crashed in enumerate(waiting) if not crashed} <= set(chosen)
