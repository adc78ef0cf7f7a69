"""The run that makes the crate of a paused run: what it does, and whose results it reads."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from jarvis_workers.c2rust.runs.partial_crate import (
    END_SECONDS,
    has_partial_crate,
    remove_partial_crate,
    submit_partial_crate,
)
from jarvis_workers.c2rust.stages import merge_bodies, write_conversion
from jarvis_workers.c2rust.stages.options import FastOptions, TranslateOptions
from jarvis_workers.c2rust.stages.translated_bodies import UNFINISHED, TranslatePayload
from jarvis_workers.pipeline.controller import advance
from jarvis_workers.pipeline.stages import stages_of
from jarvis_workers.runs.runs import BLOB_GRACE_SECONDS, Waiting, find_run, remove_abandoned
from jarvis_workers.store import jobs, runs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Commit, Finished, NewJob, Run
from tests.store.arrange import NO_SNAPSHOT, claim, commit, run_now
from tests.store.clocks import FakeClock

LEASE = 30.0

PAUSED = Run(
    id="paused",
    kind="c2rust.transpile",
    root="/src",
    root_raw=b"/src",
    snapshot_id=NO_SNAPSHOT.id,
    executor="local:old",
    version="0",
    options=TranslateOptions(translate=True, proof="compared", libraries="blob").encode(),
)


def pause(store: Store, *closed: str) -> Run:
    """Return a paused run: these stages are closed, and one of two functions is translated."""
    payload = TranslatePayload("f", "skeleton").to_json()
    new = [NewJob("translate", "translate", name, name * 64, payload) for name in "fg"]
    with store.write() as session:
        runs.add(session, PAUSED, NO_SNAPSHOT, [stage.name for stage in stages_of(PAUSED.kind)])
        jobs.insert_jobs(session, PAUSED.id, "translate", new)
        runs.start(session, PAUSED.id)
        for name in closed:
            stages.close(session, PAUSED.id, name)
    (job,) = claim(store, PAUSED.id, queue="translate")
    with store.write() as session:
        jobs.commit_many(session, [Finished(job, Commit(), '{"translated": "body"}')])
        runs.pause(session, PAUSED.id, "budget")
    return run_now(store, PAUSED.id)


def test_what_is_accepted_so_far_is_merged(store: Store) -> None:
    paused = pause(store, "skeleton", "check")
    run = run_now(store, submit_partial_crate(store, paused, "local:new"))

    assert (run.kind, run.state, run.executor, run.reason) == ("c2rust.partial", "planning", "local:new", None)
    assert [one.step for one in claim(store, run.id, queue="control")] == ["plan"]
    with store.read() as session:
        work = merge_bodies.load(session, run)
        report = write_conversion.load(session, run)
    assert (work.options.proof, work.options.translate) == ("compared", True)
    assert list(work.translations.first) == ['{"translated": "body"}']
    assert work.translations.failed == {"f": UNFINISHED}
    assert report.translations == work.translations
    assert run_now(store, paused.id) == paused


def test_before_its_gates_have_run_a_project_is_translated_mechanically(store: Store) -> None:
    paused = pause(store, "symbols", "graph", "skeleton")
    run = run_now(store, submit_partial_crate(store, paused, "cluster"))

    options = FastOptions.of(run)
    assert run.kind == "c2rust.partial-fast"
    assert stages_of(run.kind) == stages_of("c2rust.fast")
    assert (options.translate, options.libraries, options.paused_run, options.proof) == (False, "", "", "compared")


@pytest.mark.parametrize(
    ("kind", "state", "has_one"),
    [
        ("c2rust.transpile", "paused", True),
        ("c2rust.run", "paused", True),
        ("c2rust.run", "running", False),
        ("c2rust.prepare", "paused", False),
        ("c2rust.interface", "paused", False),
    ],
)
def test_only_paused_runs_that_translate_have_a_partial_crate(kind: str, state: str, has_one: bool) -> None:
    assert has_partial_crate(replace(PAUSED, kind=kind, state=state)) == has_one


@pytest.fixture
def timed(store_url: str, open_stores: Callable[..., Store], clock: FakeClock) -> Store:
    return open_stores(store_url, clock=clock)


def waiting(clock: FakeClock, sleep: Callable[[float], None]) -> Waiting:
    return Waiting(clock.monotonic, sleep, lambda *_: None, lambda _: None, 1.0, LEASE)


def ids(store: Store) -> set[str]:
    with store.read() as session:
        return {run.id for run in runs.starting_with(session, "", limit=9)}


@pytest.mark.parametrize("closed", [("skeleton", "check"), ("skeleton",)])
def test_last_is_the_paused_run(timed: Store, clock: FakeClock, closed: tuple[str, ...]) -> None:
    paused = pause(timed, *closed)
    clock.advance(1)
    submit_partial_crate(timed, paused, "cluster")

    assert find_run(timed, "last") == paused


def test_an_interrupted_run_is_removed_when_workers_have_ended_its_job(timed: Store, clock: FakeClock) -> None:
    paused = pause(timed, "check")
    run_id = submit_partial_crate(timed, paused, "cluster")
    (job,) = claim(timed, run_id, queue="control")

    def end(seconds: float) -> None:
        clock.advance(seconds)
        commit(timed, job)
        with timed.write() as session:
            advance(session, run_id)

    assert remove_partial_crate(timed, run_id, waiting(clock, end))
    assert ids(timed) == {paused.id}


def test_a_run_whose_workers_go_on_is_left_to_prune(timed: Store, clock: FakeClock) -> None:
    paused, began = pause(timed, "check"), clock.now
    run_id = submit_partial_crate(timed, paused, "cluster")
    claim(timed, run_id, queue="control")

    assert not remove_partial_crate(timed, run_id, waiting(clock, clock.advance))
    assert (run_now(timed, run_id).state, clock.now - began) == ("cancelling", END_SECONDS)
    assert find_run(timed, "last") == paused


def test_runs_of_killed_commands_are_removed_a_day_later(timed: Store, clock: FakeClock) -> None:
    paused = pause(timed, "check")
    done, stopped, abandoned, busy = (
        submit_partial_crate(timed, paused, executor) for executor in ("cluster", "cluster", "local:gone", "cluster")
    )
    with timed.write() as session:
        runs.finish(session, done, "incomplete")
        runs.pause(session, stopped, "no space")
    clock.advance(BLOB_GRACE_SECONDS)
    assert remove_abandoned(timed, LEASE) == 0, "its command may still need it"

    clock.advance(1)
    young = submit_partial_crate(timed, paused, "local:gone")
    assert remove_abandoned(timed, LEASE) == len([done, stopped, abandoned])
    assert ids(timed) == {paused.id, busy, young}
