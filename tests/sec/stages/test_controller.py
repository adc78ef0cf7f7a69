"""The controller: one moves runs on, and nobody is blamed for a sleep."""

from collections.abc import Callable

import pytest

from jarvis_workers.pipeline.controller import Controller, advance
from jarvis_workers.sec.store import candidates
from jarvis_workers.store import jobs, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import RUN, STAGE
from jarvis_workers.store.values import Commit, Finished, NewJob, SnapshotFacts
from tests.store.arrange import (
    SPOT,
    add_planned_run,
    add_run,
    claim,
    commit,
    event_names,
    job_rows,
    run_now,
    run_to_its_end,
    stage_states,
    states,
    tick,
)
from tests.store.clocks import FakeClock


@pytest.fixture
def store(store_url: str, open_stores: Callable[..., Store], clock: FakeClock) -> Store:
    return open_stores(store_url, clock=clock)


def controller(store: Store, holder: str, monotonic: Callable[[], float]) -> Controller:
    return Controller(store, holder, lease_seconds=30.0, tick_seconds=2.0, monotonic=monotonic)


def under_way(store: Store, clock: FakeClock, lease: float = 30.0) -> tuple[str, Controller]:
    """Return a run whose job is being done, and the controller that is awake meanwhile."""
    run = add_planned_run(store, 1)
    elected = controller(store, "a", clock.monotonic)
    elected.tick()
    claim(store, run, lease=lease)
    return run, elected


def tick_after(elected: Controller, clock: FakeClock, *pauses: float) -> None:
    for pause in pauses:
        clock.advance(pause)
        elected.tick()


def fail(store: Store, clock: FakeClock, run: str, queue: str) -> None:
    """Let the next job of a run fail for good."""
    for _ in range(jobs.ATTEMPTS):
        (job,) = claim(store, run, queue=queue)
        with store.write() as session:
            jobs.fail_attempt(session, job, "no space left")
        clock.advance(60.0)


def test_a_stage_closes_when_none_of_its_jobs_is_open(store: Store) -> None:
    run = add_planned_run(store, 2)
    first, second = claim(store, run, limit=2)
    commit(store, first, SPOT)
    tick(store, run)
    assert stage_states(store, run) == ["open", "open"]
    commit(store, second)
    tick(store, run)

    assert stage_states(store, run) == ["closed", "open"]
    assert [row.state for row in job_rows(store, run, "report", plan=True)] == ["pending"]


def test_advancing_twice_is_advancing_once(store: Store) -> None:
    run = add_planned_run(store, 0)
    for _ in range(3):
        tick(store, run)

    assert stage_states(store, run) == ["closed", "open"]
    assert len(job_rows(store, run, "report", plan=True)) == 1
    assert event_names(store, run).count("closed") == 1


def test_candidates_are_numbered_when_the_scan_closes(store: Store) -> None:
    run = add_planned_run(store, 1)
    commit(store, claim(store, run)[0], SPOT._replace(line=2), SPOT)
    tick(store, run)
    with store.read() as session:
        assert [found.line for _, found in candidates.read(session, run)] == [1, 2]


def test_a_run_with_everything_checked_is_done(store: Store) -> None:
    run = run_to_its_end(store, add_run(store))

    assert (run.state, run.reason) == ("done", None)
    assert event_names(store, run.id) == ["submitted", "closed", "closed", "done"]


def test_a_run_with_a_failed_job_is_incomplete(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 2)
    fail(store, clock, run, "scan")

    assert run_to_its_end(store, run).state == "incomplete"
    assert run_now(store, run).reason == "1 job failed"


def test_a_run_with_a_file_that_was_not_checked_is_incomplete(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = claim(store, run)
    with store.write() as session:
        jobs.commit_many(session, [Finished(job, Commit(not_checked=((b"a.c", "damaged"),)))])

    ended = run_to_its_end(store, run)
    assert (ended.state, ended.reason) == ("incomplete", "1 file or directory was not checked")


def test_a_run_over_a_tree_that_could_not_be_read_whole_is_incomplete(store: Store) -> None:
    run = add_run(store, snapshot=SnapshotFacts("2" * 64, files=1, bytes=1, not_checked=3))

    ended = run_to_its_end(store, run)
    assert (ended.state, ended.reason) == ("incomplete", "3 files or directories were not checked")


def test_a_run_that_cannot_be_planned_fails_with_the_reason(store: Store, clock: FakeClock) -> None:
    run = add_run(store)
    fail(store, clock, run, "control")
    tick(store, run)

    assert (run_now(store, run).state, run_now(store, run).reason) == ("failed", "could not plan scan: no space left")


def test_a_run_without_its_report_fails(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 0)
    tick(store, run)
    (planner,) = claim(store, run, queue="control")
    with store.write() as session:
        report = NewJob("report", "control", "report", "report")
        jobs.plan_more(session, planner, [report])
    commit(store, planner)
    fail(store, clock, run, "control")
    tick(store, run)

    assert run_now(store, run).state == "failed"
    assert "the report stage failed" in (run_now(store, run).reason or "")


def test_a_paused_or_ended_or_unknown_run_is_left_alone(store: Store) -> None:
    run = add_planned_run(store, 0)
    with store.write() as session:
        runs.pause(session, run, "a rest")
        advance(session, run)
        advance(session, "nowhere")

    assert run_now(store, run).state == "paused"
    assert stage_states(store, run) == ["open", "open"]


def test_a_run_of_a_kind_whose_package_is_not_installed_is_left_to_another_process(store: Store) -> None:
    run = add_planned_run(store, 0)
    with store.write() as session:
        session.execute(RUN.update().values(kind="foreign.kind"))
        advance(session, run)

    assert run_now(store, run).state == "running"
    assert stage_states(store, run) == ["open", "open"]


def test_a_run_whose_stages_are_all_closed_is_left_alone(store: Store) -> None:
    run = add_planned_run(store, 0)
    with store.write() as session:
        session.execute(STAGE.update().values(state="closed"))
    tick(store, run)

    assert run_now(store, run).state == "running"


def test_one_of_two_controllers_is_elected(store: Store, clock: FakeClock) -> None:
    first, second = (controller(store, name, clock.monotonic) for name in "ab")
    assert first.tick()
    assert not second.tick()
    first.resign()

    assert second.tick()
    assert not first.tick()


def test_another_is_elected_when_the_first_is_silent(store: Store, clock: FakeClock) -> None:
    controller(store, "a", clock.monotonic).tick()
    clock.advance(10.0)

    assert controller(store, "b", clock.monotonic).tick()


def test_a_tick_moves_every_run_on(store: Store, clock: FakeClock) -> None:
    ids = [add_planned_run(store, 0) for _ in range(2)]
    controller(store, "a", clock.monotonic).tick()

    assert [stage_states(store, run) for run in ids] == [["closed", "open"]] * 2


def test_a_tick_takes_back_what_was_lost(store: Store, clock: FakeClock) -> None:
    run, elected = under_way(store, clock, lease=5.0)
    tick_after(elected, clock, 6.0)

    assert (states(store, run), job_rows(store, run)[0].crashes) == (["pending"], 1)
    assert event_names(store, run)[-1] == "recovered"


def test_nobody_is_blamed_for_a_sleep(store: Store, clock: FakeClock) -> None:
    run, elected = under_way(store, clock)
    tick_after(elected, clock, 3600.0)
    assert states(store, run) == ["running"]
    tick_after(elected, clock, *[4.0] * 8)

    assert states(store, run) == ["pending"]


def test_a_machine_that_is_slow_for_long_delays_a_judgement_but_makes_it(store: Store, clock: FakeClock) -> None:
    run, elected = under_way(store, clock)
    tick_after(elected, clock, *[15.0] * 4)

    assert states(store, run) == ["pending"]


def test_a_sleep_is_noticed_though_the_machines_clock_stood_still(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 1)
    elected = controller(store, "a", monotonic=lambda: 7.0)
    elected.tick()
    claim(store, run, lease=30.0)
    clock.advance(3600.0)
    elected.tick()

    assert states(store, run) == ["running"]


def test_a_controller_elected_after_a_sleep_blames_nobody_either(store: Store, clock: FakeClock) -> None:
    run = add_planned_run(store, 1)
    first, second = (controller(store, name, clock.monotonic) for name in "ab")
    first.tick()
    second.tick()
    claim(store, run, lease=30.0)
    clock.advance(3600.0)
    assert second.tick()

    assert states(store, run) == ["running"]


def test_a_controller_that_was_awake_judges_as_soon_as_it_is_elected(store: Store, clock: FakeClock) -> None:
    run, _ = under_way(store, clock, lease=7.0)
    second = controller(store, "b", clock.monotonic)
    for _ in range(3):
        second.tick()
        clock.advance(4.0)
    assert second.tick()

    assert states(store, run) == ["pending"]


def test_a_command_that_starts_when_the_database_is_back_blames_nobody(store: Store, clock: FakeClock) -> None:
    run, _ = under_way(store, clock)
    clock.advance(3600.0)
    new = controller(store, "new", clock.monotonic)
    assert new.tick()
    assert states(store, run) == ["running"]
    tick_after(new, clock, *[4.0] * 8)

    assert states(store, run) == ["pending"]


def test_a_controller_that_starts_after_a_resignation_judges_at_once(store: Store, clock: FakeClock) -> None:
    run, first = under_way(store, clock, lease=5.0)
    first.resign()
    clock.advance(6.0)
    assert controller(store, "new", clock.monotonic).tick()

    assert states(store, run) == ["pending"]
