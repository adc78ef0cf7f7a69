"""The gate: so many at once, fewer after a 429, and nobody is forgotten."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jarvis_workers.platforms.limiter import CALM, Gate

PATIENCE = 20.0


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_more_are_inside_than_allowed() -> None:
    gate, inside, most = Gate(3), [0], [0]
    lock, all_in = threading.Lock(), threading.Barrier(3)

    def work(number: int) -> None:
        with gate.slot(PATIENCE):
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
    assert gate.inside == 0


def test_the_same_holds_in_a_loop() -> None:
    gate, most = Gate(4), 0

    async def work() -> None:
        nonlocal most
        async with gate.slot_async(PATIENCE):
            most = max(most, gate.inside)
            await asyncio.sleep(0)

    async def all_of_them() -> None:
        await asyncio.gather(*(work() for _ in range(100)))

    asyncio.run(all_of_them())

    assert (most, gate.inside) == (4, 0)


def test_who_waits_too_long_goes_away_and_the_next_gets_in() -> None:
    gate = Gate(1)

    async def waits() -> None:
        with pytest.raises(TimeoutError):
            async with gate.slot_async(0.01):
                pass

    with gate.slot(1):
        with pytest.raises(TimeoutError), gate.slot(0.01):
            pass
        asyncio.run(waits())
    with gate.slot(1):
        assert gate.inside == 1


def test_who_is_cancelled_while_waiting_leaves_its_turn_to_the_next() -> None:
    gate = Gate(1)

    async def enter() -> str:
        async with gate.slot_async(PATIENCE):
            return "in"

    async def story() -> str:
        async with gate.slot_async(PATIENCE):
            first, second = asyncio.create_task(enter()), asyncio.create_task(enter())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        first.cancel()
        return await asyncio.wait_for(second, PATIENCE)

    assert asyncio.run(story()) == "in"


def test_a_429_halves_the_number_and_calm_raises_it_again() -> None:
    clock = Clock()
    gate = Gate(100, clock)

    for seconds in (None, 1, None):
        gate.slow_down(seconds)
    assert gate.allowed == 50
    clock.now = 1.1
    gate.slow_down(5)
    assert gate.allowed == 25
    with pytest.raises(TimeoutError), gate.slot(0):
        pass
    clock.now = 6.2
    with gate.slot(0):
        pass

    for _ in range(CALM):
        gate.note_answer()
    assert gate.allowed == 28
    for _ in range(CALM * 20):
        gate.note_answer()
    assert gate.allowed == 100


def test_at_least_one_may_always_ask() -> None:
    clock = Clock()
    gate = Gate(2, clock)
    for clock.now in range(5):
        gate.slow_down(0)

    with gate.slot(0):
        assert gate.allowed == 1
