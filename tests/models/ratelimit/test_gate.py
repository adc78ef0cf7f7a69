"""The rate limiter of a process: admission in order, AIMD after a 429, pace of rates."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import cycle

import pytest

from jarvis_workers.models.ratelimit.gate import FairQueue, LocalLimiter
from jarvis_workers.models.ratelimit.policy import PACE, SOONER_MINUTE, AimdLimiter, RateLimitPolicy
from tests.agents.loop.arrange import slot

pytestmark = pytest.mark.timing

PATIENCE = 20.0


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_rate_limit_lets_in_no_more_than_allowed() -> None:
    gate, inside, most = LocalLimiter(3), [0], [0]
    lock, all_in = threading.Lock(), threading.Barrier(3)

    def work(number: int) -> None:
        with slot(gate, PATIENCE):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            if number < 3:
                all_in.wait(PATIENCE)
            with lock:
                inside[0] -= 1

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(60)))

    assert most[0] == 3
    assert gate.pace.in_flight == 0


def test_the_same_holds_in_a_loop() -> None:
    gate, most = LocalLimiter(4), 0

    async def work() -> None:
        nonlocal most
        async with gate.slot(PATIENCE):
            most = max(most, gate.pace.in_flight)
            await asyncio.sleep(0)

    async def all_of_them() -> None:
        await asyncio.gather(*(work() for _ in range(100)))

    asyncio.run(all_of_them())

    assert (most, gate.pace.in_flight) == (4, 0)


def test_a_timeout_in_the_queue_lets_the_next_in() -> None:
    gate = LocalLimiter(1)

    async def waits() -> None:
        with pytest.raises(TimeoutError):
            async with gate.slot(0.01):
                pass

    with slot(gate, 1):
        with pytest.raises(TimeoutError), slot(gate, 0.01):
            pass
        asyncio.run(waits())
    with slot(gate, 1):
        assert gate.pace.in_flight == 1


def test_who_is_cancelled_while_waiting_leaves_its_turn_to_the_next() -> None:
    gate = LocalLimiter(1)

    async def enter() -> str:
        async with gate.slot(PATIENCE):
            return "in"

    async def story() -> str:
        async with gate.slot(PATIENCE):
            first, second = asyncio.create_task(enter()), asyncio.create_task(enter())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        first.cancel()
        return await asyncio.wait_for(second, PATIENCE)

    assert asyncio.run(story()) == "in"


def test_who_comes_first_is_served_first() -> None:
    gate, order = LocalLimiter(1), []

    async def enter(number: int) -> None:
        async with gate.slot(PATIENCE):
            order.append(number)

    async def story() -> None:
        async with gate.slot(PATIENCE):
            waiting = [asyncio.create_task(enter(number)) for number in range(20)]
            await asyncio.sleep(0)
        newcomer = asyncio.create_task(enter(20))
        await asyncio.gather(*waiting, newcomer)

    asyncio.run(story())

    assert order == list(range(21))


def test_who_gives_up_takes_no_turn_from_those_behind() -> None:
    gate = LocalLimiter(RateLimitPolicy(concurrent=1, requests_per_second=1000))

    async def enter(seconds: float) -> str:
        try:
            async with gate.slot(seconds):
                return "in"
        except TimeoutError:
            return "out"

    async def story() -> list[str]:
        async with gate.slot(PATIENCE):
            waiting = [asyncio.create_task(enter(seconds)) for seconds in (0.01, PATIENCE, 0.01, PATIENCE)]
            await asyncio.wait(waiting, timeout=0.05)
        return await asyncio.gather(*waiting)

    assert asyncio.run(story()) == ["out", "in", "out", "in"]


def test_rate_limit_spaces_requests_without_anybody_who_leaves() -> None:
    gate = LocalLimiter(RateLimitPolicy(requests_per_second=200))

    async def story() -> list[float]:
        async def begun() -> float:
            async with gate.slot(PATIENCE):
                return time.monotonic()

        return await asyncio.gather(*(begun() for _ in range(60)))

    began = sorted(asyncio.run(story()))
    with slot(gate, PATIENCE):
        assert time.monotonic() > began[-1]

    assert began[-1] - began[0] >= 53 / (200 * PACE)


def test_rate_limit_is_halved_once_by_429s_to_requests_sent_before() -> None:
    clock = Clock()
    gate = LocalLimiter(100, clock)
    with ExitStack() as inside:
        turns = [inside.enter_context(slot(gate, 0)) for _ in range(100)]
        for turn in turns:
            turn.on_throttled(5)
        assert gate.pace.allowed == 50
    with pytest.raises(TimeoutError), slot(gate, 0):
        pass
    clock.now = 5.1
    with ExitStack() as inside:
        turns = [inside.enter_context(slot(gate, 0)) for _ in range(50)]
        with pytest.raises(TimeoutError), slot(gate, 0):
            pass
        turns[0].on_success(0)
        turns[1].on_throttled(None)
        assert gate.pace.allowed == 25


@pytest.mark.slow
def test_rate_limit_is_raised_by_a_tenth_after_answers() -> None:
    gate = LocalLimiter(100)
    with ExitStack() as inside:
        turns = [inside.enter_context(slot(gate, 0)) for _ in range(40)]
        turns[0].on_throttled(0)
        for turn in turns:
            turn.on_success(0)
        assert gate.pace.allowed == 20

    def answers(count: int) -> int:
        for _ in range(count):
            with slot(gate, 0) as turn:
                turn.on_success(0)
        return gate.pace.allowed

    assert answers(19) == 20
    assert answers(1) == 23
    assert answers(10_000) == 100


def test_rate_limit_probes_with_few_requests_while_only_429s_come() -> None:
    clock, sent = Clock(), 0
    gate = LocalLimiter(64, clock)
    while clock.now < 60:
        with ExitStack() as inside:
            turns = []
            with suppress(TimeoutError):
                while True:
                    turns.append(inside.enter_context(slot(gate, 0)))
            for turn in turns:
                turn.on_throttled(1.0)
        sent += len(turns)
        clock.now += 0.25

    assert gate.pace.allowed == 1
    assert sent == 64 + 32 + 16 + 8 + 4 + 2
    clock.now += 30
    with slot(gate, 0) as turn:
        turn.on_success(0)


def test_retry_after_of_years_is_cut_to_minutes() -> None:
    clock = Clock()
    gate = LocalLimiter(2, clock)
    with slot(gate, 0) as turn:
        turn.on_throttled(1e9)
    clock.now = 601

    with slot(gate, 0):
        assert gate.pace.allowed == 1


@pytest.mark.parametrize(
    ("limits", "span", "most"),
    [
        (RateLimitPolicy(requests_per_second=100), 1.0, 100),
        (RateLimitPolicy(requests_per_second=1), 1.0, 1),
        (RateLimitPolicy(requests_per_minute=600), 60.0, 600),
        (RateLimitPolicy(requests_per_second=20, requests_per_minute=600), 60.0, 600),
    ],
)
def test_rate_limit_holds_in_every_span_of_time(limits: RateLimitPolicy, span: float, most: int) -> None:
    begun = begin(limits, seconds=150.0 if span > 1 else 20.0, tokens=1)

    assert max(len([one for one in begun if start <= one < start + span]) for start in begun) <= most
    assert len(begun) >= 0.9 * most * (begun[-1] / span)


def test_rate_limit_of_tokens_is_spread_over_its_minute() -> None:
    begun = begin(RateLimitPolicy(tokens_per_minute=60_000), seconds=300.0, tokens=3000)

    assert max(len([one for one in begun if start <= one < start + 60]) for start in begun) <= 20
    assert len(begun) >= 0.9 * 20 * 5


def test_what_was_used_beyond_what_was_said_is_taken_from_those_who_come_later() -> None:
    clock = Clock()
    gate = LocalLimiter(RateLimitPolicy(tokens_per_minute=60 / PACE), clock)
    clock.now = 100
    with slot(gate, 0, tokens=10) as turn:
        turn.on_success(40)
    clock.now = 100 + 40 - SOONER_MINUTE - 0.1
    with pytest.raises(TimeoutError), slot(gate, 0, tokens=10):
        pass
    clock.now += 0.2
    with slot(gate, 0, tokens=10) as turn:
        turn.on_success(0)


def test_what_is_used_again_and_again_is_what_is_expected() -> None:
    clock = Clock()
    gate = LocalLimiter(RateLimitPolicy(tokens_per_minute=60 / PACE), clock)
    for _ in range(50):
        clock.now += 1_000
        with slot(gate, 0, tokens=100) as turn:
            turn.on_success(300)
    clock.now += 1_000
    with slot(gate, 0, tokens=100):
        clock.now += 290
        with pytest.raises(TimeoutError), slot(gate, 0):
            pass


class Door:
    """An allowance that lets in when it is open, one in `seconds`."""

    generation, late = 0, 0.03

    def __init__(self, clock: Clock, seconds: float = 0.0) -> None:
        self.is_open = False
        self.entered = self.left = self.corrected = 0
        self._clock, self._seconds = clock, seconds

    def try_acquire(self, _: float, __: int) -> float:
        if not self.is_open:
            return float("inf")
        self.entered += 1
        self._clock.now += self._seconds
        return 0.0

    def release(self) -> None:
        self.left += 1

    def correct(self, tokens: int) -> None:
        self.corrected += tokens

    def on_throttled(self, now: float, generation: int, seconds: float | None) -> None:
        raise AssertionError

    def on_success(self, generation: int) -> None:
        raise AssertionError


def let_in(door: Door, clock: Clock, held_up: float) -> None:
    """Let in somebody who waits for an open door, and is then held up."""
    turns = FairQueue(door, clock)

    async def enter() -> None:
        async with turns.slot(PATIENCE, tokens=9):
            pass

    async def story() -> None:
        waiting = asyncio.create_task(enter())
        await asyncio.sleep(0)
        door.is_open = True
        with turns.changing() as tokens:
            assert tokens == [9]
        clock.now += held_up
        await waiting

    asyncio.run(story())


def test_who_is_held_up_too_long_waits_for_a_turn_once_more() -> None:
    at_once, late = Door(soon := Clock()), Door(later := Clock())
    let_in(at_once, soon, held_up=0.01)
    let_in(late, later, held_up=0.05)

    assert (at_once.entered, at_once.left, at_once.corrected) == (1, 1, 0)
    assert (late.entered, late.left, late.corrected) == (2, 2, -9)


def test_who_is_held_up_each_time_gets_in_all_the_same() -> None:
    door = Door(clock := Clock(), seconds=0.05)
    let_in(door, clock, held_up=0.0)

    assert door.entered == door.left == 4


def begin(limits: RateLimitPolicy, *, seconds: float, tokens: int) -> list[float]:
    """Return when requests begin where somebody always waits, who looks too late by up to 5 ms."""
    pace, now, begun = AimdLimiter(limits), 0.0, []
    late = cycle((0.0, 0.005, 0.001, 0.003))
    while now < seconds:
        wait = pace.try_acquire(now, tokens)
        if wait:
            now += wait + next(late)
        else:
            begun.append(now)
    return begun
