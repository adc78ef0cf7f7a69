"""Of the threads that wait, the one with the lowest priority number gets in first."""

from threading import Barrier, Event, Thread

import pytest

from jarvis_workers.c2rust.bench.priority_semaphore import PrioritySemaphore
from tests.chaos.commands import until


def waiting(gate: PrioritySemaphore) -> int:
    return len(gate._waiting)


def test_first_by_priority_then_by_order() -> None:
    gate, order, threads = PrioritySemaphore(1), [], []

    def enter(name: str, priority: int) -> None:
        with gate.hold(priority):
            order.append(name)

    with gate.hold(0):
        for number, (name, priority) in enumerate([("second", 1), ("third", 1), ("last", 2), ("first", 0)], 1):
            threads.append(Thread(target=enter, args=(name, priority)))
            threads[-1].start()
            until(lambda number=number: waiting(gate) == number)
    for thread in threads:
        thread.join()

    assert order == ["first", "second", "third", "last"]


def test_as_many_as_allowed_are_in_at_once() -> None:
    gate, inside, end = PrioritySemaphore(2), Barrier(3), Event()

    def enter() -> None:
        with gate.hold(0):
            inside.wait(10)
            end.wait(10)

    threads = [Thread(target=enter) for _ in range(2)]
    for thread in threads:
        thread.start()
    inside.wait(10)
    late = Thread(target=lambda: gate.hold(0).__enter__())
    late.start()
    until(lambda: waiting(gate) == 1)
    end.set()
    for thread in [*threads, late]:
        thread.join(10)

    assert waiting(gate) == 0


def test_who_fails_lets_the_next_one_in() -> None:
    gate = PrioritySemaphore(1)
    with pytest.raises(ZeroDivisionError), gate.hold(0):
        raise ZeroDivisionError

    with gate.hold(0):
        assert waiting(gate) == 0
