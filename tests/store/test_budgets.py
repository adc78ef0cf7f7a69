"""Budgets of runs: what is left is exact, whoever draws, dies or comes back, and at its end the run is paused."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.store import budgets, jobs, runs, transcripts
from jarvis_workers.store.budgets import AllowanceRequest, BudgetGrant
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import ModelCall
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, NewJob
from tests.store.arrange import add_planned_run, claim, commit, event_names, run_now
from tests.store.clocks import FakeClock

CAP = 10_000
CALL = ModelCall("", 0, "m", prompt=80, cached=0, completion=20, cost=0.25, seconds=1.0, tries=1)


def talking(store: Store, many: int = 1, cap: int = CAP) -> list[Claimed]:
    """Return conversations of a run with a budget in tokens, each of a process of its own."""
    run = add_planned_run(store, 0)
    with store.write() as session:
        budgets.put(session, run, RunBudget("tok", cap))
        jobs.insert_jobs(session, run, "scan", [NewJob("t", AGENT_QUEUE, "t", f"{n:064d}") for n in range(many)])
    return [claim(store, run, queue=AGENT_QUEUE, process=f"p{n}")[0] for n in range(many)]


def draw(store: Store, job: Claimed, least: int, most: int = 0, kept: int = 0) -> BudgetGrant:
    with store.write() as session:
        return budgets.draw(session, job, AllowanceRequest("tok", kept, least, most))


def pay(store: Store, job: Claimed, tokens: int, **about: int) -> None:
    call = CALL._replace(run_id=job.run_id, job_id=job.id, prompt=tokens, completion=0, **about)
    with store.write() as session:
        transcripts.save(session, [call])


def spent(store: Store, job: Claimed, unit: str = "tok") -> int:
    with store.read() as session:
        return budgets.spent(session, job.run_id, unit)  # type: ignore[arg-type]


def test_a_draw_is_a_hundredth_of_the_cap_or_less_unless_one_answer_needs_more(store: Store) -> None:
    (job,) = talking(store)

    assert draw(store, job, least=10, most=70) == BudgetGrant(70)
    assert draw(store, job, least=10, most=5_000) == BudgetGrant(100)
    assert draw(store, job, least=400, most=5_000) == BudgetGrant(400)


def test_what_others_hold_and_what_was_paid_is_not_there_to_be_drawn(store: Store) -> None:
    one, other = talking(store, many=2)
    assert draw(store, one, least=6_000) == BudgetGrant(6_000)
    pay(store, other, 3_000)

    assert draw(store, other, least=1_001) == BudgetGrant()
    assert draw(store, other, least=1_000) == BudgetGrant(1_000)


def test_drawing_again_tells_anew_what_is_held(store: Store) -> None:
    one, other = talking(store, many=2)
    draw(store, one, least=9_000)
    pay(store, one, 50)
    draw(store, one, least=100)

    assert draw(store, other, least=9_850) == BudgetGrant(9_850)


def test_who_holds_nothing_and_finds_nothing_pauses_the_run(store: Store) -> None:
    (job,) = talking(store)
    pay(store, job, 9_500)

    assert draw(store, job, least=501) == BudgetGrant(over=True)
    assert (run_now(store, job.run_id).state, run_now(store, job.run_id).reason) == ("paused", "budget")
    assert event_names(store, job.run_id)[-1] == "paused"


def test_nothing_is_paused_while_an_answer_is_on_here_or_elsewhere(store: Store) -> None:
    one, other = talking(store, many=2)
    draw(store, one, least=9_000)

    assert draw(store, one, least=2_000, kept=9_000) == BudgetGrant()
    assert draw(store, other, least=2_000) == BudgetGrant()
    assert run_now(store, one.run_id).state == "running"


def test_the_allowance_of_a_process_that_lost_its_jobs_comes_back(store: Store) -> None:
    one, other = talking(store, many=2)
    draw(store, one, least=9_000)
    with store.write() as session:
        jobs.release(session, [one])

    assert draw(store, other, least=10_000) == BudgetGrant(10_000)


def test_a_job_that_was_lost_draws_nothing_and_does_not_pause_its_run(store: Store) -> None:
    one, other = talking(store, many=2)
    with store.write() as session:
        jobs.release(session, [one])

    assert draw(store, one, least=20_000) == BudgetGrant(over=True)
    assert draw(store, other, least=10) == BudgetGrant(10)


def test_in_a_paused_run_nothing_is_drawn(store: Store) -> None:
    (job,) = talking(store)
    with store.write() as session:
        runs.pause(session, job.run_id, "interrupted")

    assert draw(store, job, least=1) == BudgetGrant(over=True)
    assert run_now(store, job.run_id).reason == "interrupted"


@pytest.mark.slow
def test_many_who_draw_at_once_never_draw_more_than_there_is(store_url: str, open_stores: Callable[..., Store]) -> None:
    store = open_stores(store_url, connections=8)
    all_of_them = talking(store, many=8, cap=1_000)
    with ThreadPoolExecutor(8) as pool:
        grants = list(pool.map(lambda job: draw(store, job, least=150), all_of_them))

    assert sorted(grant.amount for grant in grants) == [0, 0] + [150] * 6
    assert not any(grant.over for grant in grants)


def test_remembered_answers_are_free_and_money_is_counted_in_billionths(store: Store) -> None:
    (job,) = talking(store)
    pay(store, job, 100)
    pay(store, job, 1_000, tries=0)

    assert (spent(store, job), spent(store, job, "usd")) == (100, 250_000_000)


def test_of_what_a_run_may_take_the_last_word_counts(store: Store) -> None:
    (job,) = talking(store)
    with store.write() as session:
        budgets.put(session, job.run_id, RunBudget("usd", 5))
        assert budgets.find(session, job.run_id) == RunBudget("usd", 5)
        assert budgets.find(session, "another") is None
    assert draw(store, job, least=1) == BudgetGrant(over=True)


def draw_time(store: Store, job: Claimed, kept: int = 0) -> BudgetGrant:
    with store.write() as session:
        return budgets.draw(session, job, AllowanceRequest("s", kept, 1, 1))


@pytest.fixture
def timed(store_url: str, open_stores: Callable[..., Store], clock: FakeClock) -> Store:
    return open_stores(store_url, clock=clock)


def hasty(store: Store, many: int = 1) -> list[Claimed]:
    """Return conversations of a run that may take ten seconds."""
    talks_of = talking(store, many)
    with store.write() as session:
        budgets.put(session, talks_of[0].run_id, RunBudget("s", 10_000))
    return talks_of


@pytest.mark.timing
def test_time_is_left_to_all_alike_and_then_the_run_is_paused(timed: Store, clock: FakeClock) -> None:
    one, other = hasty(timed, many=2)
    clock.advance(4)
    assert [draw_time(timed, job) for job in (one, other)] == [BudgetGrant(6_000), BudgetGrant(6_000)]
    clock.advance(7)

    assert draw_time(timed, one, kept=1) == BudgetGrant()
    assert draw_time(timed, other) == BudgetGrant()
    assert draw_time(timed, one) == BudgetGrant(over=True)
    assert run_now(timed, one.run_id).reason == "budget"


@pytest.mark.timing
def test_the_time_in_which_nobody_was_left_to_work_does_not_count(timed: Store, clock: FakeClock) -> None:
    one, other = hasty(timed, many=2)
    clock.advance(3)
    commit(timed, one)
    clock.advance(1_000)
    with timed.read() as session:
        assert budgets.spent(session, one.run_id, "s", is_left=True) == 3_000
    with timed.write() as session:
        runs.take_up(session, one.run_id, "local:again")
    assert spent(timed, other, "s") == 3_000
    clock.advance(2)

    assert spent(timed, other, "s") == 5_000


@pytest.mark.timing
def test_the_time_in_which_a_run_was_paused_does_not_count(timed: Store, clock: FakeClock) -> None:
    (job,) = hasty(timed)
    clock.advance(3)
    with timed.write() as session:
        runs.pause(session, job.run_id, "interrupted")
    clock.advance(1_000)
    assert spent(timed, job, "s") == 3_000
    with timed.write() as session:
        runs.take_up(session, job.run_id, "local:again")
    clock.advance(2)

    assert spent(timed, job, "s") == 5_000
