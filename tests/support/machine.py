"""Bounds of CPU time that hold on a machine slower than the one they were set on, measured in the same run."""

import time

ADDITIONS, NOMINAL_SECONDS = 4_000_000, 0.22
SUMMANDS, SUM_SECONDS = 500_000, 0.012
MOST = 6.0


def slowness() -> float:
    """Return how many times as long a fixed computation takes here and now as where the bounds were set, 1 to MOST.

    A virtual machine whose host is busy counts the host's other work as its own CPU time, up to three times as much.
    """
    began, number = time.process_time(), 0
    while number < ADDITIONS:
        number += 1
    return _bounded((time.process_time() - began) / NOMINAL_SECONDS)


def slowness_of_machine() -> float:
    """Return the same in a few milliseconds, by a computation that coverage does not make slower."""
    began = time.process_time()
    sum(range(SUMMANDS))
    return _bounded((time.process_time() - began) / SUM_SECONDS)


def _bounded(slower: float) -> float:
    return min(MOST, max(1.0, slower))


def is_within(seconds: float, limit: float) -> bool:
    """Return whether seconds are below a limit for the machine that bounds were set on."""
    return seconds < limit or seconds < limit * slowness()


def assert_cpu_within(limit: float, *, since: float) -> None:
    """Fail unless this process has used less than `limit` seconds of CPU time since time.process_time() was `since`."""
    seconds = time.process_time() - since
    assert is_within(seconds, limit), f"{seconds:.2f} s of CPU time, at most {limit} s"
