"""The writer: claims, commits and renewals of many conversations, one transaction for many."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlmodel import Session

from jarvis_workers.errors import StoreUnavailable
from jarvis_workers.executors.dispatch.agent_pool import JobWriter
from jarvis_workers.executors.dispatch.leased_jobs import Holder
from jarvis_workers.store import crash_attribution
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit, Finished, NewJob
from tests.chaos.commands import until
from tests.store.arrange import add_planned_run, enrol, job_rows, lose_commit, states

pytestmark = pytest.mark.timing


class Forgetful(Store):
    """A store whose next answers get lost, after it has done what it was told."""

    lost = transactions = 0

    @contextmanager
    def write(self) -> Iterator[Session]:
        self.transactions += 1
        with super().write() as session:
            yield session
        if self.lost:
            self.lost -= 1
            raise StoreUnavailable("the connection is gone")


@pytest.fixture
def forgetful(store: Store) -> Forgetful:
    return Forgetful(store.engine)


@pytest.fixture
def start() -> Iterator[Callable[..., JobWriter]]:
    started: list[tuple[JobWriter, threading.Thread]] = []

    def start_one(store: Store, lease: float = 60.0, **options: Any) -> JobWriter:
        enrol(Store(store.engine), "w", seconds=3600)
        writer = JobWriter(store, Holder("w", "w/1", lease), **{"lose": lambda _: None} | options)
        started.append((writer, threading.Thread(target=writer.run)))
        started[-1][1].start()
        return writer

    yield start_one
    for writer, thread in started:
        writer.close()
        thread.join()


def jobs_of(store: Store, many: int) -> tuple[str, list[int]]:
    run = add_planned_run(store, many)
    return run, [row.id for row in job_rows(store, run)]


def at_once(do: Callable[[Any], Any], of: list[Any]) -> list[Any]:
    with ThreadPoolExecutor(len(of)) as threads:
        return [future.result() for future in [threads.submit(do, one) for one in of]]


def test_what_comes_at_once_shares_transactions(forgetful: Forgetful, start: Callable[..., JobWriter]) -> None:
    run, ids = jobs_of(forgetful, 40)
    writer, before = start(forgetful), forgetful.transactions

    held = at_once(writer.claim, ids)
    assert all(at_once(lambda job: writer.commit(Finished(job, Commit())), held))
    assert states(forgetful, run) == ["done"] * 40
    assert forgetful.transactions - before < 40
    assert writer.claims == []


def test_a_job_rung_for_twice_is_given_to_one(store: Store, start: Callable[..., JobWriter]) -> None:
    _, (job,) = jobs_of(store, 1)
    writer = start(store)

    assert sorted(claimed is None for claimed in at_once(writer.claim, [job, job])) == [False, True]


def test_what_the_store_refuses_spoils_nothing_else(store: Store, start: Callable[..., JobWriter]) -> None:
    run, ids = jobs_of(store, 5)
    writer = start(store)
    first, *others = at_once(writer.claim, ids)
    child = NewJob("scan", "scan", label="\ud800", input_hash="x")

    def commit(job: Claimed) -> object:
        try:
            return writer.commit(Finished(job, Commit(children=(child,) if job == first else ())))
        except UnicodeEncodeError as error:
            return error.reason

    assert at_once(commit, [first, *others]) == ["surrogates not allowed", True, True, True, True]
    assert states(store, run) == ["running", "done", "done", "done", "done"]


def test_a_claim_whose_answer_was_lost_is_made_anew(forgetful: Forgetful, start: Callable[..., JobWriter]) -> None:
    run, (job,) = jobs_of(forgetful, 1)
    forgetful.lost = 1
    claimed = start(forgetful).claim(job)

    assert claimed is not None
    assert (claimed.fence, job_rows(forgetful, run)[0].crashes) == (2, 0)


@pytest.mark.sample(1)
def test_a_lease_is_renewed_before_it_runs_out(store: Store, start: Callable[..., JobWriter]) -> None:
    run, (job,) = jobs_of(store, 1)
    assert start(store, lease=4.5).claim(job)
    first = next(row.lease_until for row in job_rows(store, run) if row.id == job)

    until(lambda: next(row.lease_until for row in job_rows(store, run) if row.id == job) > first)

    assert store.now() < first


def test_a_job_that_is_no_longer_ours_is_lost_at_the_next_renewal(
    store: Store, start: Callable[..., JobWriter]
) -> None:
    run, ids = jobs_of(store, 2)
    lost: list[Claimed | None] = []
    writer = start(store, lease=0.3, lose=lost.append)
    mine = writer.claim(ids[0])
    with store.write() as session:
        crash_attribution.crash_process(session, "w/1", "killed")
    until(lambda: lost)

    assert lost[0] == mine
    assert mine is not None
    assert not writer.commit(Finished(mine, Commit()))
    again = writer.claim(ids[0])
    assert again is not None
    assert (states(store, run), again.fence) == (["running", "pending"], 2)


def test_a_job_whose_commit_the_database_lost_is_released_at_the_next_renewal(
    store: Store, start: Callable[..., JobWriter]
) -> None:
    run, ids = jobs_of(store, 2)
    writer = start(store, lease=0.3)
    done, kept = at_once(writer.claim, ids)
    assert writer.commit(Finished(done, Commit()))
    lose_commit(store, done.id, "w/1")
    until(lambda: "pending" in states(store, run))

    assert {row.id: (row.state, row.crashes) for row in job_rows(store, run)} == {
        done.id: ("pending", 0),
        kept.id: ("running", 0),
    }


def test_a_job_claimed_again_is_lost_for_who_had_it(store: Store, start: Callable[..., JobWriter]) -> None:
    _, (job,) = jobs_of(store, 1)
    lost: list[Claimed | None] = []
    writer = start(store, lose=lost.append)
    first = writer.claim(job)
    with store.write() as session:
        crash_attribution.crash_process(session, "w/1", "killed")

    assert writer.claim(job) in writer.claims
    assert lost == [first]


def test_once_told_nothing_is_claimed_and_what_is_held_is_written(
    store: Store, start: Callable[..., JobWriter]
) -> None:
    run, ids = jobs_of(store, 3)
    told = threading.Event()
    writer = start(store, stop=told)
    kept, back = writer.claim(ids[0]), writer.claim(ids[1])
    told.set()

    assert kept is not None
    assert back is not None
    assert writer.claim(ids[2]) is None
    assert writer.commit(Finished(kept, Commit()))
    writer.release(back)
    assert states(store, run) == ["done", "pending", "pending"]


def test_once_told_a_store_that_is_away_is_not_waited_for(
    forgetful: Forgetful, start: Callable[..., JobWriter]
) -> None:
    _, (job,) = jobs_of(forgetful, 1)
    told = threading.Event()
    writer = start(forgetful, stop=told)
    held = writer.claim(job)
    assert held is not None
    told.set()
    forgetful.lost = 9

    with pytest.raises(StoreUnavailable):
        writer.fail(held, "no matter")
