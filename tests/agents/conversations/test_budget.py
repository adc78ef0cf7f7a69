"""Conversations that pay from one budget: never more than it has, hardly less, and none is cut off in an answer."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from jarvis_workers.agents.conversations.budget import BudgetLedger
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.conversations.task_job import TaskWork
from jarvis_workers.assistant.task.converse import converse
from jarvis_workers.assistant.task.task_options import TaskOptions
from jarvis_workers.errors import BudgetSpent, StepFailed
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.profiles import Prices
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.models.ratelimit.budget import read_budget
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store import budgets, jobs, runs, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, Finished, NewJob
from tests.agents.loop.counting import counted
from tests.agents.loop.server import FAULTS, Body, ModelServer, Step, calls, late, says
from tests.chaos.conversations import asked_again
from tests.chaos.conversations import rounds as said_before
from tests.store.arrange import add_planned_run, claim, run_now
from tests.store.clocks import FakeClock

TALKS, ROUNDS = 10, 5
PRICES = Prices(input=2.0, output=8.0)


def model(seconds: float = 0.0) -> ModelServer:
    """A model that looks ROUNDS times and then answers, and counts what that takes."""

    def step(request: Body) -> Step:
        said = said_before(request)
        answer = says("It is so.") if said == ROUNDS else calls("search_code", pattern=f"word{said}")
        return late(seconds, counted(answer, request))

    return ModelServer(forever=step)


@dataclass
class Place:
    """A run with conversations, and processes that lead them."""

    store: Store
    blobs: DirectoryBlobs
    snapshot: str
    run: str
    open_talks: Callable[..., AgentRuntime]

    def budget(self, text: str) -> None:
        with self.store.write() as session:
            budgets.put(session, self.run, read_budget(text))

    def resume(self, text: str) -> None:
        with self.store.write() as session:
            runs.take_up(session, self.run, run_now(self.store, self.run).executor)
        self.budget(text)

    def claim(self, process: str = "p", many: int = TALKS) -> list[Claimed]:
        return claim(self.store, self.run, queue=AGENT_QUEUE, limit=many, process=process)

    def work(self, job: Claimed) -> TaskWork[TaskOptions]:
        with self.store.read() as session:
            told = transcripts.lines(session, job.id)
        options = TaskOptions(task=f"Look for {job.label}.", model_group="local")
        return TaskWork(job, options, job.label, self.snapshot, told)

    async def lead(self, shared: AgentRuntime, claimed: Sequence[Claimed]) -> list[Commit | BaseException]:
        """Lead conversations at once; commit what came of them, and put back the others."""
        led = (converse(self.work(job), self.blobs, shared) for job in claimed)
        came = await asyncio.gather(*led, return_exceptions=True)
        for job, what in zip(claimed, came, strict=True):
            with self.store.write() as session:
                if isinstance(what, Commit):
                    jobs.commit_many(session, [Finished(job, what)])
                else:
                    jobs.release(session, [job])
        return came

    def spent(self, unit: str = "tok") -> int:
        with self.store.read() as session:
            return budgets.spent(session, self.run, unit)  # type: ignore[arg-type]

    @property
    def state(self) -> tuple[str, str | None]:
        run = run_now(self.store, self.run)
        return run.state, run.reason


@pytest.fixture
def place(
    tmp_path: Path, store_url: str, open_stores: Callable[..., Store], monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> Iterator[Place]:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("int a;\n")
    store, blobs = open_stores(store_url, clock=clock), DirectoryBlobs(tmp_path / "blobs")
    run = add_planned_run(store, 0)
    with store.write() as session:
        new = [NewJob("converse", AGENT_QUEUE, f"talk {n}", f"{n:064d}") for n in range(TALKS)]
        jobs.insert_jobs(session, run, "scan", new)
    opened: list[AgentRuntime] = []

    def open_talks(server: ModelServer, prices: Prices = PRICES) -> AgentRuntime:
        overrides = {"answer_tokens": 100}
        group = ModelGroup(model="m", base_url=server.url, profile="openai", overrides=overrides, prices=prices)
        means = AgentSetup(Providers({}), {"local": group}, tmp_path / "sources")
        opened.append(AgentRuntime(open_stores(store_url, durable=True, connections=4, clock=clock), means))
        return opened[-1]

    yield Place(store, blobs, pack(tmp_path / "tree", Selection(None), blobs).id, run, open_talks)
    for shared in opened:
        shared.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("unit", ["tok", "usd"])
def test_a_run_stops_just_below_its_budget_and_goes_on_with_more(place: Place, unit: str) -> None:
    budget = {"tok": "32ktok", "usd": "0.07usd"}[unit]
    with model(0.01) as server:
        shared = place.open_talks(server)
        place.budget(budget)
        came = asyncio.run(place.lead(shared, place.claim()))
        spent, cap = place.spent(unit), read_budget(budget).cap
        asked = len(server.requests)
        assert place.state == ("paused", "budget")
        assert 0.95 * cap <= spent <= cap
        assert {type(what) for what in came if isinstance(what, BaseException)} == {BudgetSpent}
        place.resume(f"1000{unit}" if unit == "usd" else "1000ktok")
        again = asyncio.run(place.lead(shared, place.claim()))

    assert all(isinstance(what, Commit) for what in again)
    assert place.state[0] == "running"
    assert (len(server.requests), asked_again(server)) == (TALKS * (ROUNDS + 1), 0)
    assert asked < len(server.requests)
    with place.store.read() as session:
        assert transcripts.total(session, place.run).calls == len(server.requests)


@pytest.mark.timing
def test_a_budget_of_another_unit_is_taken_up(place: Place) -> None:
    place.budget("10tok")
    (job,) = place.claim(many=1)

    async def spend() -> None:
        with BudgetLedger(place.store, threading.Event()).open(place.run) as allowance:
            assert await allowance.load_budget() == read_budget("10tok")
            with pytest.raises(BudgetSpent):
                await allowance.reserve(job, 20)
            place.resume("5usd")
            assert await allowance.load_budget() == read_budget("5usd")
            await allowance.reserve(job, 2_000_000_000)
            allowance.settle("tok", 20, 10)
            await allowance.reserve(job, 3_000_000_000)
            with place.store.read() as session:
                assert budgets.find(session, place.run) == allowance.budget

    asyncio.run(asyncio.wait_for(spend(), 20))


@pytest.mark.slow
@pytest.mark.sample(1)
def test_two_processes_share_a_budget(place: Place) -> None:
    with model(0.01) as server:
        place.budget("32ktok")
        both = [(place.open_talks(server), place.claim(name, TALKS // 2)) for name in ("p", "q")]

        async def lead() -> None:
            await asyncio.gather(*(place.lead(shared, claimed) for shared, claimed in both))

        asyncio.run(lead())

    assert place.state == ("paused", "budget")
    assert 0.95 * 32_000 <= place.spent() <= 32_000


def test_answers_that_fail_or_are_remembered_cost_nothing(place: Place) -> None:
    with model() as server:
        shared, claimed = place.open_talks(server), place.claim()
        asyncio.run(place.lead(shared, claimed[:1]))
        taken = place.spent()
        place.budget(f"{taken + 2_000}tok")
        with place.store.write() as session:
            jobs.insert_jobs(session, place.run, "scan", [NewJob("converse", AGENT_QUEUE, "talk 0", "f" * 64)])
        (again,) = place.claim()
        server.steps = [FAULTS["401"]]
        came = asyncio.run(place.lead(shared, [again, claimed[1]]))

    assert [type(what) for what in came] == [Commit, Commit]
    assert (place.spent(), place.state[0]) == (taken, "running")


def test_a_budget_that_is_too_small_for_one_answer_is_not_touched(place: Place) -> None:
    with model() as server:
        place.budget("500tok")
        (came,) = asyncio.run(place.lead(place.open_talks(server), place.claim(many=1)))

    assert isinstance(came, BudgetSpent)
    state, reason = place.state
    assert (server.requests, place.spent(), state) == ([], 0, "paused")
    assert re.fullmatch(r"budget: one answer may cost up to [\d,]+ tokens", reason or "")


def test_money_cannot_be_counted_without_prices(place: Place) -> None:
    with model() as server:
        place.budget("5usd")
        (came,) = asyncio.run(place.lead(place.open_talks(server, Prices()), place.claim(many=1)))

    assert isinstance(came, StepFailed)
    assert "is in dollars, but the model m has no prices here; set them" in str(came)
    assert server.requests == []


@pytest.mark.timing
def test_when_the_time_is_over_nobody_begins_and_who_has_an_answer_on_is_waited_for(
    place: Place, clock: FakeClock
) -> None:
    place.budget("10s")
    (job,) = place.claim(many=1)
    ledger = BudgetLedger(place.store, threading.Event(), clock.monotonic)

    async def lead() -> None:
        with ledger.open(place.run) as allowance:
            assert await allowance.load_budget() == read_budget("10s")
            await allowance.reserve(job, 1)
            clock.advance(11)
            late = asyncio.create_task(allowance.reserve(job, 1))
            done, _ = await asyncio.wait([late], timeout=0.2)
            assert not done
            assert place.state[0] == "running"
            allowance.settle("s", 1, 0)
            with pytest.raises(BudgetSpent):
                await late

    asyncio.run(lead())
    assert place.state == ("paused", "budget")


def test_without_a_budget_nothing_is_reserved(place: Place) -> None:
    with model() as server:
        shared = place.open_talks(server)
        with shared.budgets.open(place.run) as allowance:
            assert asyncio.run(allowance.load_budget()) is None
            came = asyncio.run(place.lead(shared, place.claim(many=2)))

    assert all(isinstance(what, Commit) for what in came)
