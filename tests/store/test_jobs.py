"""Jobs: planned once, claimed by one, and saved once."""

from collections.abc import Callable

import pytest
from sqlalchemy import update

from jarvis_workers.sec.stages.results import CandidateResult
from jarvis_workers.store import artifacts, jobs, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import Claimed, Commit, Finished, NewJob, Spot
from tests.store.arrange import (
    SPOT,
    add_planned_run,
    add_run,
    batches,
    candidate_count,
    claim,
    commit,
    job_rows,
    run_to_its_end,
    states,
)
from tests.store.clocks import FakeClock

FOUND = CandidateResult((SPOT,))


def commit_all(store: Store, *finished: Finished) -> set[int]:
    with store.write() as session:
        return jobs.commit_many(session, finished)


def release(store: Store, job: Claimed) -> None:
    with store.write() as session:
        jobs.release(session, [job])


def test_planning_twice_is_planning_once(store: Store) -> None:
    run = add_run(store)
    (planner,) = claim(store, run, queue="control")
    for start in (0, 0, 1):
        with store.write() as session:
            assert jobs.plan_more(session, planner, batches(2, start))

    assert [row.label for row in job_rows(store, run)] == ["batch 0", "batch 1", "batch 2"]


def test_a_planner_that_lost_its_job_plans_nothing(store: Store) -> None:
    run = add_run(store)
    (planner,) = claim(store, run, queue="control")
    release(store, planner)
    with store.write() as session:
        assert not jobs.plan_more(session, planner, batches(2))

    assert job_rows(store, run) == []


def test_the_heaviest_jobs_are_claimed_first(store: Store) -> None:
    run = add_planned_run(store, 4)

    assert [job.label for job in claim(store, run, limit=3)] == ["batch 3", "batch 2", "batch 1"]


def test_a_long_label_is_cut(store: Store) -> None:
    run = add_run(store)
    with store.write() as session:
        jobs.insert_jobs(session, run, "scan", [NewJob("scan", "scan", label="x" * 300, input_hash="x")])

    assert job_rows(store, run)[0].label == "x" * 200


@pytest.mark.parametrize("change", [lambda session, run: runs.pause(session, run, "a rest"), runs.cancel])
def test_nothing_is_claimed_in_a_run_that_is_not_on(store: Store, change: Callable[..., bool]) -> None:
    run = add_planned_run(store, 2)
    with store.write() as session:
        assert change(session, run)

    assert claim(store, run) == []


def test_a_run_is_carried_out_by_its_own_executor_alone(store: Store) -> None:
    add_planned_run(store, 2, executor="local:a")
    other = add_planned_run(store, 0, executor="local:b")

    assert claim(store, other) == []


@pytest.mark.slow
def test_a_job_that_was_sent_can_be_claimed(store: Store) -> None:
    run = add_planned_run(store, 1)
    with store.write() as session:
        session.execute(update(JOB).where(JOB.c.run_id == run, JOB.c.state == "pending").values(state="sent"))

    assert len(claim(store, run)) == 1


def test_each_claim_raises_the_fence(store: Store) -> None:
    run = add_planned_run(store, 1)
    (first,) = claim(store, run)
    release(store, first)
    (second,) = claim(store, run)

    assert (first.fence, second.fence) == (1, 2)


def test_an_old_fence_changes_nothing(store: Store) -> None:
    run = add_planned_run(store, 1)
    (old,) = claim(store, run)
    release(store, old)
    claim(store, run)
    before = job_rows(store, run)
    with store.write() as session:
        jobs.release(session, [old])
        jobs.fail_attempt(session, old, "too late")
        assert jobs.renew(session, [old], 60.0) == set()

    assert not commit(store, old, SPOT)
    assert job_rows(store, run) == before
    assert candidate_count(store, run) == 0


def test_a_job_is_committed_once(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = claim(store, run)

    assert commit(store, job, SPOT)
    assert not commit(store, job, SPOT)
    assert candidate_count(store, run) == 1


def test_a_job_given_twice_in_one_commit_is_saved_once(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = claim(store, run)
    done = Finished(job, Commit(results=(FOUND,)))

    assert commit_all(store, done, done) == {job.id}
    assert candidate_count(store, run) == 1


def test_of_two_claims_of_a_job_in_one_commit_the_newer_counts(store: Store) -> None:
    run = add_planned_run(store, 1)
    (old,) = claim(store, run)
    release(store, old)
    (new,) = claim(store, run)
    late = Finished(old, Commit(files=7, results=(CandidateResult((SPOT, SPOT)),)))

    assert commit_all(store, late, Finished(new, Commit(files=3, results=(FOUND,))), late) == {new.id}
    assert candidate_count(store, run) == 1
    assert job_rows(store, run)[0].files == 3


def test_a_claim_says_nothing_about_a_later_run(store: Store) -> None:
    gone = add_planned_run(store, 1)
    (old,) = claim(store, gone)
    release(store, old)
    run_to_its_end(store, gone)
    with store.write() as session:
        runs.remove(session, gone)
    later = add_planned_run(store, 1)
    (job,) = claim(store, later)

    assert job.id != old.id
    assert not commit(store, old, SPOT)


def test_a_commit_brings_numbers_children_and_artifacts(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = claim(store, run)
    result = Commit(
        files=2, size=30, cpu_seconds=0.5, not_checked=((b"a.c", "damaged"),), children=tuple(batches(1, 5))
    )
    commit_all(store, Finished(job, result, '{"said": 1}', (("report", "b" * 64, 9),)))

    done, child = job_rows(store, run)
    assert (done.files, done.bytes, done.cpu_seconds, done.not_checked, done.result) == (2, 30, 0.5, 1, '{"said": 1}')
    assert (child.label, child.state) == ("batch 5", "pending")
    with store.read() as session:
        assert artifacts.find(session, run, "report") == "b" * 64


def test_a_commit_that_cannot_be_saved_changes_nothing(store: Store) -> None:
    run = add_planned_run(store, 2)
    first, second = claim(store, run, limit=2)
    odd = CandidateResult((Spot(b"a.c", "no such rule", 1, 0.5, ""),))
    with pytest.raises(KeyError):
        commit_all(
            store,
            Finished(first, Commit(results=(FOUND,))),
            Finished(second, Commit(results=(odd,))),
        )

    assert states(store, run) == ["running", "running"]
    assert candidate_count(store, run) == 0


def test_retry_of_a_job_is_bounded_and_backs_off(store_url: str, open_stores: Callable[..., Store]) -> None:
    clock = FakeClock()
    store = open_stores(store_url, clock=clock)
    run = add_planned_run(store, 1)
    for wait in (1.0, 4.0, 16.0):
        (job,) = claim(store, run)
        with store.write() as session:
            jobs.fail_attempt(session, job, "cannot parse")
        clock.advance(wait - 0.5)
        assert claim(store, run) == []
        clock.advance(0.5)

    (row,) = job_rows(store, run)
    assert (row.state, row.attempts, row.reason) == ("failed", 3, "cannot parse")
    assert claim(store, run) == []


def test_lease_renewal_tells_what_was_lost(store: Store) -> None:
    run = add_planned_run(store, 3)
    kept, lost, done = claim(store, run, limit=3)
    release(store, lost)
    commit(store, done)
    with store.write() as session:
        assert jobs.renew(session, [kept, lost, done], 60.0) == {kept.id}


def test_lease_of_a_paused_run_is_not_renewed(store: Store) -> None:
    run = add_planned_run(store, 1)
    held = claim(store, run)
    with store.write() as session:
        runs.pause(session, run, "a rest")
        assert jobs.renew(session, held, 60.0) == set()


def test_a_lease_is_extended_at_most_to_its_length(store_url: str, open_stores: Callable[..., Store]) -> None:
    clock = FakeClock()
    store = open_stores(store_url, clock=clock)
    run = add_planned_run(store, 2)
    claim(store, run, lease=5.0)
    claim(store, run, lease=1000.0)
    clock.advance(3600.0)
    with store.write() as session:
        assert jobs.extend_all(session, 3600.0, 60.0) == 2

    assert [row.lease_until - clock.now for row in job_rows(store, run)] == [1000.0, 5.0]


def test_what_a_gone_worker_held_is_put_back_without_blame(store: Store) -> None:
    run = add_planned_run(store, 2, executor="local:w")
    claim(store, run, limit=2)
    with store.write() as session:
        assert len(jobs.release_worker(session, "w")) == 2

    assert {(row.state, row.crashes, row.attempts) for row in job_rows(store, run)} == {("pending", 0, 0)}


def test_a_claim_whose_answer_was_lost_is_put_back(store: Store) -> None:
    run = add_planned_run(store, 2, executor="local:w")
    (known,) = claim(store, run)
    claim(store, run)
    with store.write() as session:
        assert jobs.release_strays(session, "w", {known.id}) == 1

    assert states(store, run) == ["pending", "running"]


def test_outcomes_come_in_the_order_of_the_plan(store: Store) -> None:
    run = add_planned_run(store, 2)
    commit(store, claim(store, run)[0])
    with store.read() as session:
        found = jobs.outcomes(session, run, "scan")

    assert [(job.state, job.files) for job in found] == [("pending", 0), ("done", 1)]
