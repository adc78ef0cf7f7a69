"""Two transactions at once, in every order: whatever comes first, the store stays true.

On SQLite a writer waits for the other from its first statement on; on PostgreSQL the two meet at rows.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.controller import Controller, plan_job
from jarvis_workers.runs import runs as requests
from jarvis_workers.store import crash_attribution, jobs, leases, runs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit, Finished
from tests.store.arrange import (
    SPOT,
    add_planned_run,
    add_run,
    batches,
    candidate_count,
    claim,
    commit,
    enrol,
    event_names,
    job_rows,
    run_now,
    stage_states,
    states,
    tick,
)
from tests.store.interleaving import Pair, Scene, every_interleaving

pytestmark = pytest.mark.timing

LEASE = 30.0


@pytest.mark.slow
def test_a_job_is_claimed_once(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[list[Claimed], list[Claimed]]:
        run = add_planned_run(pair.onlooker, scans=4)
        return Scene(
            run,
            lambda store: claim(store, run, limit=3, process="a"),
            lambda store: claim(store, run, limit=3, process="b"),
        )

    for seen in walk(arrange):
        rows = job_rows(pair.onlooker, seen.run_id)
        taken = [(job.id, job.fence, "a") for job in seen.left] + [(job.id, job.fence, "b") for job in seen.right]
        assert sorted(taken) == [(row.id, 1, row.process) for row in rows], seen.where
        assert {row.state for row in rows} == {"running"}, seen.where


@pytest.mark.slow
def test_a_late_commit_is_taken_whole_or_refused_whole(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[bool, int]:
        run = add_planned_run(pair.onlooker, scans=1)
        (job,) = claim(pair.onlooker, run, lease=-1)
        return Scene(run, lambda store: commit(store, job, SPOT, SPOT), lambda store: recover(store, run))

    for seen in walk(arrange):
        (row,) = job_rows(pair.onlooker, seen.run_id)
        found = candidate_count(pair.onlooker, seen.run_id)
        assert seen.left + seen.right == 1, seen.where
        assert (row.state, row.crashes, found) == (("done", 0, 2) if seen.left else ("pending", 1, 0)), seen.where
        assert (row.lease_until, row.process) == (None, None), seen.where


@pytest.mark.slow
def test_of_two_commits_of_a_job_by_two_holders_the_newer_counts(
    pair: Pair, walk: Callable[..., Iterator[Any]]
) -> None:
    def arrange() -> Scene[bool, bool]:
        run = add_planned_run(pair.onlooker, scans=1)
        (old,) = claim(pair.onlooker, run, lease=-1)

        def do_it_again(store: Store) -> bool:
            recover(store, run)
            again = claim(store, run)
            return bool(again) and commit(store, again[0], SPOT)

        return Scene(run, lambda store: commit(store, old, SPOT), do_it_again)

    for seen in walk(arrange):
        accepted = seen.left + seen.right
        assert accepted <= 1, seen.where
        assert states(pair.onlooker, seen.run_id) == [("pending", "done")[accepted]], seen.where
        assert candidate_count(pair.onlooker, seen.run_id) == accepted, seen.where


def test_a_renewed_lease_is_not_recovered_and_a_recovered_one_not_renewed(
    pair: Pair, walk: Callable[..., Iterator[Any]]
) -> None:
    def arrange() -> Scene[set[int], int]:
        run = add_planned_run(pair.onlooker, scans=1)
        (job,) = claim(pair.onlooker, run, lease=-1)
        return Scene(run, lambda store: renew(store, job), lambda store: recover(store, run))

    for seen in walk(arrange):
        assert states(pair.onlooker, seen.run_id) == (["running"] if seen.left else ["pending"]), seen.where
        assert len(seen.left) + seen.right == 1, seen.where


@pytest.mark.slow
def test_the_last_two_commits_do_not_pass_the_next_stage_by(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def finish(job: Claimed) -> Callable[[Store], None]:
        def act(store: Store) -> None:
            commit(store, job, SPOT)
            tick(store, job.run_id)

        return act

    for seen in walk(lambda: last_two(pair, finish)):
        tick(pair.onlooker, seen.run_id)
        assert stage_states(pair.onlooker, seen.run_id) == ["closed", "open"], seen.where
        assert len(job_rows(pair.onlooker, seen.run_id, "report", plan=True)) == 1, seen.where
        assert event_names(pair.onlooker, seen.run_id).count("closed") == 1, seen.where
        assert candidate_count(pair.onlooker, seen.run_id) == 2, seen.where


def test_a_committer_that_counts_would_pass_the_next_stage_by(pair: Pair) -> None:
    """Why the controller closes stages: on PostgreSQL neither of two last commits sees the other."""

    def finish(job: Claimed) -> Callable[[Store], None]:
        def act(store: Store) -> None:
            with store.write() as session:
                jobs.commit_many(session, [Finished(job, Commit())])
                if not stages.open_jobs(session, job.run_id, "scan"):
                    jobs.insert_jobs(session, job.run_id, "report", [plan_job("report")])

        return act

    planned = [
        len(job_rows(pair.onlooker, seen.run_id, "report", plan=True))
        for seen in every_interleaving(pair, lambda: last_two(pair, finish))
    ]
    assert max(planned) == 1
    assert min(planned) == {"postgresql": 0, "sqlite": 1}[pair.onlooker.dialect]


@pytest.mark.slow
def test_two_controllers_close_a_stage_once(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[None, None]:
        run = add_planned_run(pair.onlooker, scans=1)
        (job,) = claim(pair.onlooker, run)
        commit(pair.onlooker, job, SPOT)
        return Scene(run, lambda store: tick(store, run), lambda store: tick(store, run))

    for seen in walk(arrange):
        assert stage_states(pair.onlooker, seen.run_id) == ["closed", "open"], seen.where
        assert len(job_rows(pair.onlooker, seen.run_id, "report", plan=True)) == 1, seen.where
        assert event_names(pair.onlooker, seen.run_id).count("closed") == 1, seen.where


@pytest.mark.slow
def test_a_run_ends_once_cancelled_or_done(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[None, bool]:
        run = add_planned_run(pair.onlooker, scans=0)
        tick(pair.onlooker, run)
        (planner,) = claim(pair.onlooker, run, queue="control")
        commit(pair.onlooker, planner)
        return Scene(run, lambda store: tick(store, run), lambda store: cancel(store, run))

    for seen in walk(arrange):
        run = run_now(pair.onlooker, seen.run_id)
        assert run.state == ("cancelled" if seen.right else "done"), seen.where
        endings = {"cancelled", "done"} & set(event_names(pair.onlooker, seen.run_id))
        assert endings == {run.state}, seen.where


def test_a_lease_has_one_holder(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[bool, bool]:
        name = add_run(pair.onlooker)
        return Scene(name, lambda store: elect(store, name, "a"), lambda store: elect(store, name, "b"))

    for seen in walk(arrange):
        assert seen.left + seen.right == 1, seen.where


def test_a_lease_that_ran_out_has_one_heir(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[bool, bool]:
        name = add_run(pair.onlooker)
        elect(pair.onlooker, name, "gone", -1)
        return Scene(name, lambda store: elect(store, name, "a"), lambda store: elect(store, name, "b"))

    for seen in walk(arrange):
        assert seen.left + seen.right == 1, seen.where


@pytest.mark.slow
def test_two_controllers_tick_beside_each_other(own_pair: Pair) -> None:
    def arrange() -> Scene[bool, bool]:
        run = add_planned_run(own_pair.onlooker, scans=2)
        (done,) = claim(own_pair.onlooker, run)
        claim(own_pair.onlooker, run, lease=-1)
        commit(own_pair.onlooker, done, SPOT)
        return Scene(run, controller("a"), controller("b"))

    def controller(holder: str) -> Callable[[Store], bool]:
        def act(store: Store) -> bool:
            own = Controller(store, holder, lease_seconds=LEASE, tick_seconds=2, monotonic=lambda: 0.0)
            try:
                return own.tick()
            finally:
                own.resign()

        return act

    for seen in every_interleaving(own_pair, arrange):
        assert seen.left or seen.right, seen.where
        assert sorted(states(own_pair.onlooker, seen.run_id)) == ["done", "pending"], seen.where
        assert event_names(own_pair.onlooker, seen.run_id).count("recovered") == 1, seen.where
        with own_pair.onlooker.write() as session:
            runs.finish(session, seen.run_id, "done")


@pytest.mark.slow
def test_a_stage_planned_by_two_holders_has_every_batch_once(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[bool, bool]:
        run = add_run(pair.onlooker)
        (old,) = claim(pair.onlooker, run, queue="control", lease=-1)

        def plan_again(store: Store) -> bool:
            recover(store, run)
            again = claim(store, run, queue="control")
            return bool(again) and plan(store, again[0])

        return Scene(run, lambda store: plan(store, old), plan_again)

    for seen in walk(arrange):
        if not (seen.left or seen.right):
            (planner,) = claim(pair.onlooker, seen.run_id, queue="control")
            assert plan(pair.onlooker, planner), seen.where
        rows = job_rows(pair.onlooker, seen.run_id)
        assert seen.left + seen.right <= 1, seen.where
        assert [row.label for row in sorted(rows, key=lambda row: row.label)] == [f"batch {n}" for n in range(6)]
        assert {row.state for row in rows} == {"pending"}, seen.where
        assert run_now(pair.onlooker, seen.run_id).state == "running", seen.where


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("there", [True, False], ids=["worker there", "worker gone"])
def test_a_job_of_a_cancelled_run_is_done_or_cancelled(
    pair: Pair, walk: Callable[..., Iterator[Any]], there: bool
) -> None:
    def arrange() -> Scene[bool, bool]:
        run = add_planned_run(pair.onlooker, scans=2)
        (job,) = claim(pair.onlooker, run)
        if there:
            enrol(pair.onlooker, run)

        def finish(store: Store) -> bool:
            accepted = commit(store, job, SPOT)
            tick(store, run)
            return accepted

        return Scene(run, finish, lambda store: cancel(store, run))

    for seen in walk(arrange):
        tick(pair.onlooker, seen.run_id)
        assert seen.right, seen.where
        assert states(pair.onlooker, seen.run_id) == ["cancelled", "done" if seen.left else "cancelled"], seen.where
        assert seen.left or not there, seen.where
        assert candidate_count(pair.onlooker, seen.run_id) == seen.left, seen.where
        assert run_now(pair.onlooker, seen.run_id).state == "cancelled", seen.where


@pytest.mark.slow
def test_what_is_claimed_while_its_run_is_cancelled_is_told(pair: Pair, walk: Callable[..., Iterator[Any]]) -> None:
    def arrange() -> Scene[list[Claimed], bool]:
        run = add_planned_run(pair.onlooker, scans=3)
        enrol(pair.onlooker, run)
        return Scene(run, lambda store: claim(store, run, limit=2), lambda store: cancel(store, run))

    for seen in walk(arrange):
        running = [row.id for row in job_rows(pair.onlooker, seen.run_id) if row.state == "running"]
        assert sorted(job.id for job in seen.left) == running, seen.where
        assert set(states(pair.onlooker, seen.run_id)) <= {"running", "cancelled"}, seen.where
        with pair.onlooker.write() as session:
            assert jobs.renew(session, seen.left, LEASE) == set(), seen.where
            jobs.release(session, seen.left)
        tick(pair.onlooker, seen.run_id)
        assert states(pair.onlooker, seen.run_id) == ["cancelled"] * 3, seen.where
        assert run_now(pair.onlooker, seen.run_id).state == "cancelled", seen.where


@pytest.mark.slow
def test_what_is_planned_while_its_run_is_cancelled_is_cancelled_too(
    pair: Pair, walk: Callable[..., Iterator[Any]]
) -> None:
    def arrange() -> Scene[bool, bool]:
        run = add_run(pair.onlooker)
        enrol(pair.onlooker, run)
        (planner,) = claim(pair.onlooker, run, queue="control")
        return Scene(run, lambda store: plan(store, planner), lambda store: cancel(store, run))

    for seen in walk(arrange):
        tick(pair.onlooker, seen.run_id)
        assert seen.left, seen.where
        assert states(pair.onlooker, seen.run_id) == ["cancelled"] * 6, seen.where
        assert run_now(pair.onlooker, seen.run_id).state == "cancelled", seen.where


def last_two(pair: Pair, finish: Callable[[Claimed], Callable[[Store], None]]) -> Scene[None, None]:
    run = add_planned_run(pair.onlooker, scans=2)
    one, other = claim(pair.onlooker, run, limit=2)
    return Scene(run, finish(one), finish(other))


def plan(store: Store, planner: Claimed) -> bool:
    """Plan six batches in three chunks, as `run_job` does; False when the planner was told to stop."""
    for start in (0, 2, 4):
        with store.write() as session:
            if not jobs.plan_more(session, planner, batches(2, start)):
                return False
    with store.write() as session:
        accepted = jobs.commit_many(session, [Finished(planner, Commit())])
        if accepted:
            runs.start(session, planner.run_id)
    return bool(accepted)


def recover(store: Store, run_id: str) -> int:
    with store.write() as session:
        return sum(job.run_id == run_id for job in crash_attribution.recover(session))


def renew(store: Store, job: Claimed) -> set[int]:
    with store.write() as session:
        return jobs.renew(session, [job], LEASE)


def elect(store: Store, name: str, holder: str, seconds: float = LEASE) -> bool:
    with store.write() as session:
        return leases.take(session, name, holder, seconds)


def cancel(store: Store, run_id: str) -> bool:
    with suppress(UsageError):
        requests.cancel(store, requests.find_run(store, run_id), LEASE)
        return True
    return False
