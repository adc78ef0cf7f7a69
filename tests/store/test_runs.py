"""Runs: what a user can ask of them, in each of their states."""

import pytest

from jarvis_workers.store import artifacts, jobs, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import SnapshotFacts
from tests.store.arrange import (
    SPOT,
    add_planned_run,
    add_run,
    batches,
    candidate_count,
    claim,
    commit,
    event_names,
    failed_run,
    job_rows,
    run_now,
    run_to_its_end,
    stage_states,
    states,
    tick,
)

OTHER_SNAPSHOT = SnapshotFacts("1" * 64, files=5, bytes=9, not_checked=0)


def pause(store: Store, run: str) -> bool:
    with store.write() as session:
        return runs.pause(session, run, "the budget is spent")


def cancel(store: Store, run: str) -> bool:
    with store.write() as session:
        return runs.cancel(session, run)


def take_up(store: Store, run: str, executor: str = "local:new") -> bool:
    with store.write() as session:
        return runs.take_up(session, run, executor)


def retry(store: Store, run: str, executor: str = "local:new") -> int:
    with store.write() as session:
        return runs.retry(session, run, executor)


def fail(store: Store, run: str, queue: str = "scan") -> None:
    """Let the next job of a run fail for good."""
    for _ in range(jobs.ATTEMPTS):
        (job,) = claim(store, run, queue=queue)
        with store.write() as session:
            jobs.fail_attempt(session, job, "cannot parse")
            session.execute(JOB.update().values(not_before=0.0))


def test_a_run_is_kept_as_it_was_submitted(store: Store) -> None:
    run_id = add_run(store, snapshot=OTHER_SNAPSHOT)
    run = run_now(store, run_id)

    assert (run.state, run.root_raw, run.options, run.ended) == ("planning", b"/src", {"min_confidence": 0.0}, False)
    with store.read() as session:
        assert runs.snapshot(session, run.snapshot_id) == OTHER_SNAPSHOT
        assert runs.snapshot(session, "nowhere") is None
        assert runs.get(session, "nowhere") is None
        assert runs.lock(session, "nowhere") is None


def test_runs_are_found_by_the_start_of_their_id(store: Store) -> None:
    first, second = sorted((add_run(store), add_run(store)))
    with store.read() as session:
        assert [run.id for run in runs.starting_with(session, "r")] == [first, second]
        assert [run.id for run in runs.starting_with(session, second)] == [second]
        assert runs.starting_with(session, "_") == []


def test_the_newest_runs_come_first(store: Store) -> None:
    ids = [add_run(store) for _ in range(3)]
    with store.read() as session:
        assert [run.id for run in runs.newest(session, 2)] == [ids[2], ids[1]]


def test_the_newest_runs_of_a_kind_a_tree_and_a_state(store: Store) -> None:
    ids = [add_run(store) for _ in range(2)]
    kinds, root, states = [run_now(store, ids[0]).kind], b"/src", ["planning"]
    with store.read() as session:
        found = [
            [run.id for run in runs.newest(session, 9, **options)]
            for options in (
                {"kinds": kinds, "root": root, "states": states},
                {"kinds": ["code"]},
                {"root": b"/srcs"},
                {"states": ["done"]},
            )
        ]

    assert found == [ids[::-1], [], [], []]


def test_a_planned_run_is_running_and_started(store: Store) -> None:
    run = run_now(store, add_planned_run(store, 1))

    assert run.state == "running"
    assert run.started_at is not None


def test_a_paused_run_goes_on_with_another_executor(store: Store) -> None:
    run = add_planned_run(store, 1)
    assert pause(store, run)
    assert not pause(store, run)
    assert run_now(store, run).reason == "the budget is spent"
    assert take_up(store, run)

    assert (run_now(store, run).state, run_now(store, run).executor) == ("running", "local:new")
    assert run_now(store, run).reason is None
    assert event_names(store, run)[-2:] == ["paused", "resumed"]


def test_a_run_that_is_half_planned_is_taken_up_as_planning(store: Store) -> None:
    run = add_run(store)
    (planner,) = claim(store, run, queue="control")
    with store.write() as session:
        jobs.plan_more(session, planner, batches(2))
    pause(store, run)
    take_up(store, run)

    assert run_now(store, run).state == "planning"


def test_a_run_whose_plan_was_finished_while_it_was_paused_is_taken_up_as_running(store: Store) -> None:
    run = add_run(store)
    (planner,) = claim(store, run, queue="control")
    pause(store, run)
    commit(store, planner)
    take_up(store, run)

    assert run_now(store, run).state == "running"
    assert run_now(store, run).started_at is not None


def test_taking_up_keeps_the_time_of_the_start(store: Store) -> None:
    run = add_planned_run(store, 1)
    started = run_now(store, run).started_at
    pause(store, run)
    take_up(store, run)

    assert run_now(store, run).started_at == started


def test_cancelling_cancels_what_waits_and_lets_the_rest_end(store: Store) -> None:
    run = add_planned_run(store, 2)
    (job,) = claim(store, run)
    assert cancel(store, run)
    assert not cancel(store, run)
    assert states(store, run) == ["cancelled", "running"]
    tick(store, run)
    assert run_now(store, run).state == "cancelling"
    assert commit(store, job)
    tick(store, run)

    assert run_now(store, run).state == "cancelled"


def test_a_paused_run_can_be_cancelled(store: Store) -> None:
    run = add_planned_run(store, 1)
    pause(store, run)

    assert cancel(store, run)
    assert not take_up(store, run)
    assert not pause(store, run)


def test_what_a_planner_adds_to_a_cancelled_run_is_cancelled(store: Store) -> None:
    run = add_run(store)
    (planner,) = claim(store, run, queue="control")
    cancel(store, run)
    with store.write() as session:
        assert jobs.plan_more(session, planner, batches(2))
    commit(store, planner)
    tick(store, run)

    assert run_now(store, run).state == "cancelled"
    assert states(store, run) == ["cancelled", "cancelled"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("ask", [pause, cancel, take_up, retry])
def test_a_run_that_is_done_stays_done(store: Store, ask: object) -> None:
    run = add_run(store)
    run_to_its_end(store, run)

    assert callable(ask)
    assert not ask(store, run)
    assert run_now(store, run).state == "done"


def test_retry_takes_up_just_what_failed(store: Store) -> None:
    run = add_planned_run(store, 2)
    fail(store, run)
    commit(store, claim(store, run)[0], SPOT)
    assert run_to_its_end(store, run).state == "incomplete"

    assert retry(store, run) == 1
    assert (run_now(store, run).state, run_now(store, run).ended_at) == ("running", None)
    assert states(store, run) == ["done", "pending"]
    assert stage_states(store, run) == ["open", "open"]
    assert job_rows(store, run, "report") == job_rows(store, run, "report", plan=True) == []
    assert (run_to_its_end(store, run).state, candidate_count(store, run)) == ("done", 1)


def test_retry_plans_a_run_that_could_not_be_planned(store: Store) -> None:
    run = add_run(store)
    fail(store, run, queue="control")
    tick(store, run)
    assert run_now(store, run).state == "failed"
    assert retry(store, run, f"local:{run}") == 1

    assert run_now(store, run).state == "planning"
    assert run_to_its_end(store, run).state == "done"


def test_retry_of_a_failed_report_scans_nothing_again(store: Store) -> None:
    run = add_planned_run(store, 0)
    tick(store, run)
    fail(store, run, queue="control")
    tick(store, run)
    assert run_now(store, run).state == "failed"
    retry(store, run)

    assert (run_now(store, run).state, stage_states(store, run)) == ("running", ["closed", "open"])
    assert run_to_its_end(store, run).state == "done"


@pytest.mark.parametrize("ask", [pause, cancel])
def test_retry_needs_a_run_that_has_ended(store: Store, ask: object) -> None:
    run = add_planned_run(store, 2)
    fail(store, run)
    assert retry(store, run) == 0
    assert callable(ask)
    ask(store, run)
    before = run_now(store, run)

    assert retry(store, run) == 0
    assert run_now(store, run) == before


def test_retry_refuses_a_cancelled_run(store: Store) -> None:
    run = add_planned_run(store, 2)
    fail(store, run)
    cancel(store, run)
    tick(store, run)

    assert retry(store, run) == 0
    assert run_now(store, run).state == "cancelled"


@pytest.mark.slow
def test_a_removed_run_leaves_nothing_behind(store: Store) -> None:
    run, other = add_run(store, snapshot=OTHER_SNAPSHOT), add_run(store)
    with store.write() as session:
        artifacts.add_uses(session, run, ["x"])
        runs.remove(session, run)
        assert runs.get(session, run) is not None
    run_to_its_end(store, run)
    with store.write() as session:
        runs.remove(session, run)

    with store.write() as session:
        assert runs.get(session, run) is None
        assert runs.get(session, other) is not None
        assert runs.snapshot(session, OTHER_SNAPSHOT.id) is None
        assert artifacts.used_blobs(session) == set()
    assert job_rows(store, run) == stage_states(store, run) == event_names(store, run) == []


@pytest.mark.slow
def test_runs_that_ended_long_ago_are_listed(store: Store) -> None:
    ended = add_run(store)
    add_run(store)
    run_to_its_end(store, ended)
    with store.read() as session:
        assert runs.ended_before(session, -1.0) == [ended]
        assert runs.ended_before(session, 60.0) == []


def test_a_run_that_is_anothers_by_now_is_not_paused(store: Store) -> None:
    run = add_run(store)
    with store.write() as session:
        assert runs.take_up(session, run, "local:next")
        assert not runs.pause(session, run, "interrupted", executor="local:first")
        assert runs.pause(session, run, "interrupted", executor="local:next")


@pytest.mark.slow
def test_a_retried_run_has_no_report_until_it_is_written_again(store: Store) -> None:
    run = failed_run(store)
    with store.write() as session:
        artifacts.save(session, run, [("report", "blob", 1)])
        runs.retry(session, run, "local:next")

        assert artifacts.find(session, run, "report") is None
