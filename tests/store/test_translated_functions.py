"""Functions that a model translated: counted by proof, with the time that the others take."""

from collections.abc import Callable

import pytest

from jarvis_workers.c2rust.conversion import Proof
from jarvis_workers.c2rust.stages.results import TranslationResult
from jarvis_workers.pipeline.controller import Controller
from jarvis_workers.store import jobs, runs, stages
from jarvis_workers.store.domain_results import decode_results, encode_results
from jarvis_workers.store.engine import Store
from jarvis_workers.store.stages import ConversationTimes, longest_chain
from jarvis_workers.store.translation_pause import WINDOW
from jarvis_workers.store.values import Commit, Finished, NewJob
from tests.store.arrange import add_planned_run, claim, run_now
from tests.store.clocks import SteppedClock

STAGE = QUEUE = "translate"


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def steppable(store_url: str, open_stores: Callable[..., Store], clock: SteppedClock) -> Store:
    return open_stores(store_url, clock=clock)


def translating(store: Store, functions: int) -> str:
    """Return a run with this number of functions to translate, in the stage that is open."""
    run = add_planned_run(store, 0)
    new = [NewJob(STAGE, QUEUE, f"f{n}", f"{n:064d}") for n in range(functions)]
    with store.write() as session:
        jobs.insert_jobs(session, run, "scan", new)
    return run


def translate(store: Store, run: str, *proofs: Proof, share: float | None = None) -> None:
    """Commit the outcomes of the next functions of a run, with this share of functions that may step down."""
    claims = claim(store, run, queue=QUEUE, limit=len(proofs))
    done = [
        Finished(job, Commit(results=(TranslationResult(proof, share),)))
        for job, proof in zip(claims, proofs, strict=True)
    ]
    with store.write() as session:
        jobs.commit_many(session, done)


def test_functions_are_counted_by_proof_and_those_without_one_step_down(store: Store) -> None:
    run, other = translating(store, 6), translating(store, 1)
    translate(store, run, "compared", "none", "compared", "reached")
    translate(store, other, "built")
    claim(store, run, queue=QUEUE)

    with store.read() as session:
        scan, report = stages.progress(session, run)
    assert (scan.jobs, scan.done, scan.running) == (6, 4, 1)
    assert scan.accepted == {"compared": 2, "reached": 1}
    assert scan.stepped_down == 1
    assert scan.mean_seconds >= 0.0
    assert (report.proofs, report.accepted, report.stepped_down, report.seconds_left) == ({}, {}, 0, 0.0)


def test_a_stage_without_translated_functions_has_no_estimate(store: Store) -> None:
    run = translating(store, 2)
    claim(store, run, queue=QUEUE)
    with store.read() as session:
        scan, _ = stages.progress(session, run)
    assert (scan.mean_seconds, scan.seconds_left, scan.stepped_down) == (0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (ConversationTimes(30, 10, 8.0, 20.0, 1.0), 32.0),
        (ConversationTimes(1, 10, 8.0, 20.0, 15.0), 20.0),
        (ConversationTimes(0, 10, 8.0, 20.0, 5.0), 15.0),
        (ConversationTimes(0, 10, 8.0, 20.0, 30.0), 8.0),
        (ConversationTimes(5, 0, 8.0, 20.0, None), 0.0),
        (ConversationTimes(5, 2, None, None, 3.0), 0.0),
    ],
    ids=["by work", "a waiting one", "the youngest one", "longer than all others", "paused", "none is done"],
)
def test_the_time_left_is_that_of_the_longest_chain(times: ConversationTimes, seconds: float) -> None:
    assert longest_chain(times) == seconds


def test_an_outcome_survives_its_encoding() -> None:
    (name, content), *_ = encode_results([TranslationResult("reached")])
    assert decode_results([(name, content)]) == (TranslationResult("reached"),)


@pytest.mark.parametrize(
    ("down", "ended", "functions", "state"),
    [(31, 50, 51, "paused"), (30, 50, 51, "running"), (49, 49, 51, "running"), (50, 50, 50, "running")],
    ids=["more than the share", "not more", "too few functions", "none left"],
)
def test_a_run_pauses_when_too_many_of_the_last_functions_step_down(
    store: Store, down: int, ended: int, functions: int, state: str
) -> None:
    run = translating(store, functions)
    proofs: list[Proof] = ["none"] * down + ["compared"] * (ended - down)
    translate(store, run, *proofs, share=0.6)
    reason = "c2rust.pause_share: 31 of the last 50 functions have no accepted body" if state == "paused" else None
    assert (run_now(store, run).state, run_now(store, run).reason) == (state, reason)


def test_without_a_share_no_run_pauses(store: Store) -> None:
    run = translating(store, WINDOW + 1)
    translate(store, run, *["none"] * WINDOW)
    assert run_now(store, run).state == "running"


def test_a_resumed_run_is_judged_by_the_functions_since(store: Store) -> None:
    run = translating(store, 2 * WINDOW + 1)
    translate(store, run, *["none"] * WINDOW, share=0.5)
    assert run_now(store, run).state == "paused"
    with store.write() as session:
        runs.take_up(session, run, run_now(store, run).executor)
    translate(store, run, *["none"] * (WINDOW - 1), share=0.5)
    assert run_now(store, run).state == "running"
    translate(store, run, "none", share=0.5)
    assert run_now(store, run).state == "paused"


@pytest.mark.parametrize("seconds", [-3600.0, -5.0, 3600.0])
@pytest.mark.slow
def test_after_a_step_of_the_clock_a_run_is_judged_by_the_functions_since(
    steppable: Store, clock: SteppedClock, seconds: float
) -> None:
    controller = Controller(steppable, "c", lease_seconds=30.0, tick_seconds=2.0, monotonic=clock.monotonic)
    run = translating(steppable, 2 * WINDOW + 1)
    assert controller.tick()
    clock.advance(1.0)
    translate(steppable, run, *["compared"] * WINDOW, share=0.5)
    clock.step(seconds)
    assert controller.tick()
    clock.advance(6.0)
    translate(steppable, run, *["none"] * (WINDOW - 1), share=0.5)
    assert run_now(steppable, run).state == "running"
    translate(steppable, run, "none", share=0.5)
    assert run_now(steppable, run).state == "paused"


def test_functions_of_before_a_pause_do_not_count_again_when_a_clock_that_was_set_back_has_caught_up(
    steppable: Store, clock: SteppedClock
) -> None:
    run = translating(steppable, 2 * WINDOW + 1)
    clock.advance(1.0)
    translate(steppable, run, *["none"] * WINDOW, share=0.5)
    assert run_now(steppable, run).state == "paused"
    clock.step(-600.0)
    with steppable.write() as session:
        runs.take_up(session, run, run_now(steppable, run).executor)
    clock.advance(700.0)
    translate(steppable, run, "compared", share=0.5)
    assert run_now(steppable, run).state == "running"
