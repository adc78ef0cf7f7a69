"""What a user can ask of runs, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.runs import runs as requests
from jarvis_workers.runs.health.process_identity import this_worker
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.runs import Waiting, find_run, is_abandoned, stages_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.runs.wiring import executor_of
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store import artifacts, budgets, runs, transcripts, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import ModelCall
from jarvis_workers.store.values import Run
from tests.store.arrange import (
    SPOT,
    add_planned_run,
    add_run,
    candidate_count,
    claim,
    commit,
    enrol,
    event_names,
    failed_run,
    job_rows,
    run_now,
    run_to_its_end,
    states,
)
from tests.store.clocks import FakeClock
from tests.support.servers import Postgres

LEASE = 30.0
DAY = 86400.0


@pytest.fixture
def store(store_url: str, open_stores: Callable[..., Store], clock: FakeClock) -> Store:
    return open_stores(store_url, clock=clock)


def pause(store: Store, run_id: str) -> Run:
    with store.write() as session:
        runs.pause(session, run_id, "interrupted")
    return run_now(store, run_id)


def test_a_run_that_has_spent_its_budget_is_not_taken_up_without_more(store: Store) -> None:
    ended, gone = (add_planned_run(store, 0, executor="local:gone") for _ in range(2))
    with store.write() as session:
        runs.finish(session, ended, "incomplete")
        for run in (ended, gone):
            budgets.put(session, run, RunBudget("tok", 100))
            paid = ModelCall(run, 0, "m", prompt=80, cached=0, completion=20, cost=None, seconds=1.0, tries=1)
            transcripts.save(session, [paid])

    def retry(budget: RunBudget | None = None) -> str:
        return refusal(lambda: requests.retry(store, run_now(store, ended), "local:next", budget=budget))

    assert f"100 of 100 tokens; raise the budget: jarvis runs retry {ended} --budget" in retry()
    assert "no job failed" in retry(RunBudget("tok", 101))
    said = refusal(lambda: requests.resume(store, run_now(store, gone), "local:next", LEASE))
    assert f"raise the budget: jarvis runs resume {gone} --budget" in said
    assert requests.resume(store, run_now(store, gone), "local:next", LEASE, budget=RunBudget("tok", 101)).state


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as refused:
        act()
    return str(refused.value)


def test_a_run_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    one, other = add_run(store, run_id="ab12"), add_run(store, run_id="ac34")

    assert find_run(store, "ab").id == one
    assert find_run(store, other).id == other


def test_a_whole_id_is_not_ambiguous(store: Store) -> None:
    add_run(store, run_id="ab12")
    add_run(store, run_id="ab123")

    assert find_run(store, "ab12").id == "ab12"


def test_last_is_the_newest_run(store: Store, clock: FakeClock) -> None:
    older = add_run(store)
    clock.advance(1)
    newest = add_run(store)

    assert find_run(store, "last").id == newest
    assert [run.id for run in requests.newest_runs(store, 5)] == [newest, older]
    assert [run.id for run in requests.newest_runs(store, 1)] == [newest]


def test_what_fits_no_run_or_several_is_refused_by_name(store: Store) -> None:
    assert "no runs yet" in refusal(lambda: find_run(store, "last"))
    add_run(store, run_id="ab12")
    add_run(store, run_id="ac34")

    assert 'no run "x"' in refusal(lambda: find_run(store, "x"))
    assert (
        refusal(lambda: find_run(store, "a"))
        == '"a" matches several runs, such as ab12 and ac34; give more characters of the id'
    )


def test_a_run_is_abandoned_when_its_worker_has_not_been_seen_for_a_lease(store: Store, clock: FakeClock) -> None:
    run_id = add_planned_run(store, scans=1)
    assert is_abandoned(store, run_now(store, run_id), LEASE)

    enrol(store, run_id)
    assert not is_abandoned(store, run_now(store, run_id), LEASE)
    clock.advance(LEASE + 1)
    assert is_abandoned(store, run_now(store, run_id), LEASE)


def test_a_run_is_abandoned_at_once_when_its_process_is_known_to_be_dead(store: Store) -> None:
    worker = this_worker("ab12", slots=1)
    run_id = add_run(store, executor=f"local:{worker.id}")
    with store.write() as session:
        workers.touch(session, replace(worker, pid=2**22 + 1))

    assert is_abandoned(store, run_now(store, run_id), LEASE)


def test_a_run_that_has_ended_or_is_paused_or_is_the_clusters_is_not_abandoned(store: Store) -> None:
    paused, ended = add_planned_run(store, scans=1), add_planned_run(store, scans=0)
    clustered = add_run(store, executor="cluster")
    run_to_its_end(store, ended)

    assert not is_abandoned(store, pause(store, paused), LEASE)
    assert not is_abandoned(store, run_now(store, ended), LEASE)
    assert not is_abandoned(store, run_now(store, clustered), LEASE)


def test_a_command_is_known_before_a_run_is_its_own(store: Store, clock: FakeClock, tmp_path: Path) -> None:
    """However long the packing took: else another command could take the run over at once."""
    (tmp_path / "a.c").write_text("int a;")
    settings = Settings(data_dir=tmp_path / "data")
    with executor_of(settings, store, tell=lambda _: None, show=lambda *_: None) as local:
        clock.advance(10 * LEASE)
        run_id = submit(store, DirectoryBlobs(tmp_path / "blobs"), request(tmp_path, local.executor))
        assert not is_abandoned(store, run_now(store, run_id), LEASE)
    assert is_abandoned(store, run_now(store, run_id), LEASE)


def request(tree: Path, executor: str) -> RunRequest[ScanInput]:
    return RunRequest(
        run_id="ab12",
        kind="sec.fast",
        path=tree,
        selection=Selection(frozenset({b".c"})),
        executor=executor,
        run_input=ScanInput(SecOptions(min_confidence=0.0, batch_files=10, batch_bytes=1000, processes=1)),
    )


def test_a_paused_run_is_resumed_by_another_command(store: Store) -> None:
    run_id = add_planned_run(store, scans=1)
    resumed = requests.resume(store, pause(store, run_id), "local:next", LEASE)

    assert (resumed.state, resumed.executor, resumed.reason) == ("running", "local:next", None)


def test_a_run_whose_planning_was_interrupted_is_planned_when_it_is_resumed(store: Store) -> None:
    run_id = add_run(store)
    claim(store, run_id, queue="control")

    assert requests.resume(store, pause(store, run_id), "local:next", LEASE).state == "planning"
    assert run_to_its_end(store, run_id).state == "done"


def test_a_run_is_taken_over_from_a_dead_worker_without_blame(store: Store) -> None:
    run_id = add_planned_run(store, scans=2)
    (held,) = claim(store, run_id)
    requests.resume(store, run_now(store, run_id), "local:next", LEASE)

    assert [(row.state, row.crashes, row.attempts) for row in job_rows(store, run_id)] == [("pending", 0, 0)] * 2
    assert not commit(store, held, SPOT)
    assert run_to_its_end(store, run_id).state == "done"
    assert candidate_count(store, run_id) == 0


def test_a_run_that_has_ended_or_is_carried_out_is_not_resumed(store: Store) -> None:
    ended, living, clustered = add_run(store), add_planned_run(store, scans=1), add_run(store, executor="cluster")
    run_to_its_end(store, ended)
    enrol(store, living)

    def resume(run_id: str) -> str:
        return refusal(lambda: requests.resume(store, run_now(store, run_id), "local:next", LEASE))

    assert f"run {ended} is done; nothing to resume" in resume(ended)
    assert f"being executed by {living}" in resume(living)
    assert "is being executed by cluster" in resume(clustered)
    requests.cancel(store, run_now(store, clustered), LEASE)
    assert resume(clustered) == f"run {clustered} is cancelled; submit a new run"
    claim(store, living)
    requests.cancel(store, run_now(store, living), LEASE)
    assert "is being cancelled" in resume(living)


def test_what_has_changed_since_the_user_saw_it_is_not_taken_up(store: Store) -> None:
    run_id = add_planned_run(store, scans=1)
    seen = pause(store, run_id)
    requests.resume(store, seen, "local:next", LEASE)

    assert "has just changed" in refusal(lambda: requests.resume(store, seen, "local:late", LEASE))
    assert run_now(store, run_id).executor == "local:next"


def test_retry_takes_up_failed_jobs_alone(store: Store) -> None:
    run_id = failed_run(store, scans=3)
    ended = run_now(store, run_id)
    assert (ended.state, states(store, run_id)) == ("incomplete", ["done", "done", "failed"])

    assert requests.retry(store, ended, "local:next") == 1
    assert states(store, run_id) == ["done", "done", "pending"]
    assert run_to_its_end(store, run_id).state == "done"
    assert states(store, run_id) == ["done"] * 3


def test_retry_of_what_cannot_be_retried_is_refused(store: Store) -> None:
    done, living, cancelled = add_run(store), add_run(store), add_run(store)
    run_to_its_end(store, done)
    requests.cancel(store, run_now(store, cancelled), LEASE)

    def retry(run_id: str) -> str:
        return refusal(lambda: requests.retry(store, run_now(store, run_id), "local:next"))

    assert "no job failed" in retry(done)
    assert f"run {living} is planning; only a run that is done, incomplete or failed" in retry(living)
    assert f"run {cancelled} is cancelled; only" in retry(cancelled)


def test_cancelling_an_abandoned_run_ends_it(store: Store) -> None:
    run_id = add_planned_run(store, scans=2)
    claim(store, run_id)

    assert requests.cancel(store, run_now(store, run_id), LEASE).state == "cancelled"
    assert states(store, run_id) == ["cancelled"] * 2
    assert event_names(store, run_id)[-2:] == ["cancelling", "cancelled"]


def test_cancelling_a_paused_run_ends_it(store: Store) -> None:
    run_id = add_planned_run(store, scans=2)
    enrol(store, run_id)

    assert requests.cancel(store, pause(store, run_id), LEASE).state == "cancelled"


def test_cancelling_a_run_that_is_carried_out_lets_what_runs_end_first(store: Store) -> None:
    run_id = add_planned_run(store, scans=2)
    (held,) = claim(store, run_id)
    enrol(store, run_id)

    assert requests.cancel(store, run_now(store, run_id), LEASE).state == "cancelling"
    assert requests.cancel(store, run_now(store, run_id), LEASE).state == "cancelling"
    assert commit(store, held, SPOT)
    assert requests.cancel(store, run_now(store, run_id), LEASE).state == "cancelled"
    assert states(store, run_id) == ["cancelled", "done"]


def test_a_run_that_has_ended_is_not_cancelled(store: Store) -> None:
    run_id = add_run(store)
    running = run_now(store, run_id)
    run_to_its_end(store, run_id)

    assert "has ended already" in refusal(lambda: requests.cancel(store, run_now(store, run_id), LEASE))
    assert "has ended already" in refusal(lambda: requests.cancel(store, running, LEASE))
    assert run_now(store, run_id).state == "done"


class Watch:
    """Lets time pass for somebody who waits, and does something at a moment of it."""

    def __init__(self, clock: FakeClock, at: float = 1e9, act: Callable[[], object] = lambda: None) -> None:
        self.clock, self.at, self.act = clock, clock.now + at, act
        self.slept: list[float] = []
        self.shown: list[str] = []

    def waiting(self) -> Waiting:
        return Waiting(
            clock=self.clock.monotonic,
            sleep=self.sleep,
            show=lambda run, stages: self.shown.append(f"{run.state} {len(stages)}"),
            tell=self.shown.append,
            tick_seconds=2.0,
            lease_seconds=LEASE,
        )

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds)
        if self.clock.now >= self.at:
            self.act()


@pytest.mark.timing
def test_a_run_that_has_ended_is_not_waited_for(store: Store, clock: FakeClock) -> None:
    run_id = add_run(store)
    ended, watch = run_to_its_end(store, run_id), Watch(clock)

    assert requests.wait(store, run_id, 60, watch.waiting()) == ended
    assert (watch.slept, watch.shown) == ([], ["done 2"])


@pytest.mark.slow
@pytest.mark.timing
def test_waiting_ends_with_the_run(store: Store, clock: FakeClock) -> None:
    run_id = add_run(store)
    enrol(store, run_id)
    watch = Watch(clock, at=4, act=lambda: run_to_its_end(store, run_id))
    ended = requests.wait(store, run_id, None, watch.waiting())

    assert ended is not None
    assert ended.state == "done"
    assert watch.slept == [2.0, 2.0]
    assert watch.shown == ["planning 2", "planning 2", "done 2"]


@pytest.mark.timing
def test_waiting_for_a_run_ends_by_timeout(store: Store, clock: FakeClock) -> None:
    run_id = add_run(store)
    enrol(store, run_id)
    watch = Watch(clock)

    assert requests.wait(store, run_id, 5, watch.waiting()) is None
    assert watch.slept == [2.0, 2.0, 1.0]


@pytest.mark.timing
def test_nobody_waits_for_what_is_paused_or_abandoned(store: Store, clock: FakeClock) -> None:
    paused, abandoned = add_planned_run(store, scans=1), add_planned_run(store, scans=1)
    enrol(store, abandoned)
    pause(store, paused)
    watch = Watch(clock)
    left = requests.wait(store, abandoned, None, watch.waiting())

    assert left is not None
    assert left.state == "running"
    assert LEASE <= sum(watch.slept) <= LEASE + 2
    assert requests.wait(store, paused, None, Watch(clock).waiting()) == run_now(store, paused)


@pytest.mark.timing
def test_a_run_that_ends_while_it_is_shown_is_not_taken_for_abandoned(store: Store, clock: FakeClock) -> None:
    run_id = add_run(store)
    enrol(store, run_id)
    watch = Watch(clock)

    def show_slowly(run: Run, _: object) -> None:
        if not run.ended:
            run_to_its_end(store, run_id)
            with store.write() as session:
                workers.leave(session, run_id)

    ended = requests.wait(store, run_id, None, replace(watch.waiting(), show=show_slowly))

    assert ended == run_now(store, run_id)
    assert ended.state == "done"


def test_what_a_run_found_goes_with_it(store: Store) -> None:
    run_id, other = add_planned_run(store, scans=1), add_planned_run(store, scans=1)
    for one in (run_id, other):
        (job,) = claim(store, one)
        commit(store, job, SPOT)
    run_to_its_end(store, run_id)

    assert requests.remove_runs(store, [run_id, other]) == 1
    assert "no run" in refusal(lambda: find_run(store, run_id))
    assert (candidate_count(store, run_id), job_rows(store, run_id)) == (0, [])
    assert candidate_count(store, other) == 1
    assert stages_of(store, run_now(store, other))[0].done == 1


def test_runs_are_chosen_by_when_they_ended(store: Store, clock: FakeClock) -> None:
    old = add_run(store)
    run_to_its_end(store, old)
    clock.advance(2 * DAY)
    run_to_its_end(store, add_run(store))
    add_run(store)

    assert requests.ended_before(store, days=1) == [old]
    assert requests.ended_before(store, days=3) == []


def test_blobs_go_when_nobody_has_wanted_them_for_a_day(store: Store, clock: FakeClock, tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path / "blobs")
    kept, given_up, unwanted = (blobs.put(content) for content in (b"kept", b"given up", b"unwanted"))
    run_id = add_run(store)
    with store.write() as session:
        artifacts.add_uses(session, run_id, [kept])
        artifacts.add_uses(session, "submit:ab12", [given_up])
    written = blobs.path(kept).stat().st_mtime

    assert requests.prune_unused(store, blobs, written) == (0, 0)
    assert requests.prune_unused(store, blobs, written + DAY + 60) == (1, len(b"unwanted"))
    assert not blobs.has(unwanted)
    clock.advance(DAY + 1)
    assert requests.prune_unused(store, blobs, written + DAY + 60) == (1, len(b"given up"))
    assert blobs.has(kept)


@pytest.mark.parametrize("name", ["", "%", "a b", "\udcff", "x" * 40, "../x"])
def test_what_cannot_be_a_run_id_is_refused(store: Store, name: str) -> None:
    assert "is not a run id" in refusal(lambda: requests.find_run(store, name))


@pytest.mark.slow
@pytest.mark.timing
def test_a_store_that_goes_away_is_waited_for(own_postgres: Postgres, open_stores: Callable[..., Store]) -> None:
    store = open_stores(own_postgres.url("template"))
    run_id = add_planned_run(store, scans=1)
    enrol(store, run_id)
    told: list[str] = []

    def come_back(_: float) -> None:
        if not told:
            own_postgres.stop()
        elif len(told) == 1 and "waiting up to" in told[0]:
            own_postgres.start()
            with store.write() as session:
                runs.finish(session, run_id, "done")
            told.append("back")

    waiting = Waiting(
        clock=FakeClock(0.0).monotonic,
        sleep=come_back,
        show=lambda run, stages: None,
        tell=told.append,
        tick_seconds=1.0,
        lease_seconds=1000.0,
    )
    ended = requests.wait(store, run_id, None, waiting)

    assert ended is not None
    assert (ended.state, told[-1]) == ("done", "back")
