"""The leased allowance of a process: it never exceeds what was granted, nor outlives its lease."""

from typing import Any

import pytest

from jarvis_workers.executors.dispatch.ratelimit.client import LeasedAllowance
from jarvis_workers.models.ratelimit.policy import NEVER, RateLimitPolicy

pytestmark = pytest.mark.timing

LEASE = 10.0


class Asked:
    """Counts how often more was asked for."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


def granted(slots: int, **more: Any) -> dict[str, Any]:
    """An answer of Redis."""
    return {"granted": slots, "wave": 0, "closed": 0, "starts": {}, "wants_slots": False, "wants_starts": False} | more


def share_of(slots: int, asked: Asked | None = None, **limits: float) -> LeasedAllowance:
    """A share that was told of so many slots at second 0."""
    share = LeasedAllowance(RateLimitPolicy(100, **limits), LEASE, asked or Asked())
    share.report(0.0, [])
    share.apply(granted(slots), 0.0, 0.0)
    return share


def enters(share: LeasedAllowance, now: float, most: int = 10) -> int:
    """Return how many get in at once."""
    for number in range(most):
        if share.try_acquire(now, 1) > 0:
            return number
    return most


def test_as_many_get_in_as_it_was_told_and_more_is_asked_for_once() -> None:
    share = share_of(2, asked := Asked())
    assert enters(share, 1.0) == 2
    assert asked.times == 1

    share.report(1.0, [1])
    assert (share.try_acquire(1.0, 1), asked.times) == (NEVER, 1)
    share.apply(granted(2, wants_slots=True), 1.0, 1.0)
    assert (share.try_acquire(1.0, 1), asked.times) == (NEVER, 1)
    share.release()
    assert share.try_acquire(1.0, 1) == 0


def test_what_was_not_renewed_is_its_own_no_more() -> None:
    share = share_of(2)
    assert share.try_acquire(LEASE - 0.1, 1) == 0
    assert share.try_acquire(LEASE, 1) == NEVER
    assert (share.report(LEASE, [])["held"], share.report(LEASE, [])["inside"]) == (0, 1)


def test_nobody_is_let_in_beyond_what_was_told_until_the_answer_is_there() -> None:
    share = share_of(5)
    assert share.try_acquire(1.0, 1) == 0
    assert share.report(1.0, [])["held"] == 5
    assert share.try_acquire(1.0, 1) == NEVER
    share.release()
    assert share.try_acquire(1.0, 1) == 0

    share.requeue()
    assert share.try_acquire(2.0, 1) == NEVER


def test_what_could_not_be_told_is_told_the_next_time() -> None:
    share = share_of(5)
    assert enters(share, 1.0, most=3) == 3
    share.on_success(0)
    share.correct(7)
    share.on_throttled(1.0, 0, 2.0)
    share.report(1.0, [])
    share.requeue()
    share.on_success(0)
    share.on_throttled(1.1, 0, None)

    told = share.report(1.2, [])
    assert (told["answers"], told["debt"]) == (2, 7)
    assert (told["again"], told["refused_wave"], told["refused_inside"]) == (2.0, 0, 3)
    share.apply(granted(5, wave=1), 1.2, 1.2)
    share.on_success(0)
    again = share.report(1.3, [])
    assert (again["answers"], again["again"], again["debt"]) == (0, -1, 0)


def test_rate_limit_closes_at_once_after_a_429_even_before_anybody_was_told() -> None:
    share = share_of(5)
    assert share.try_acquire(1.0, 1) == 0
    share.on_throttled(1.0, 0, 3.0)

    assert share.try_acquire(2.0, 1) == 2.0
    assert share.try_acquire(4.0, 1) == 0


def test_beginnings_are_taken_when_they_are_due_and_given_up_when_they_are_late() -> None:
    share = share_of(5, requests_per_second=10)
    told = share.report(1.0, [30, 40, 50])
    share.apply(granted(5, starts=[0.1, 0.2]), 1.0, 1.0)

    assert (told["tokens"], told["ready"]) == ([30, 40, 50], 0)
    assert abs(share.try_acquire(1.0, 30) - 0.1) < 1e-6
    assert share.try_acquire(1.11, 25) == 0
    assert share.try_acquire(1.5, 40) == NEVER
    assert share.report(1.5, [40])["debt"] == 25 - 30 - 40


def test_who_has_a_beginning_is_not_asked_for_again() -> None:
    share = share_of(5, requests_per_second=10)
    share.report(1.0, [30, 40])
    share.apply(granted(5, starts=[0.1]), 1.0, 1.0)

    told = share.report(1.05, [30, 40, 50])
    assert (told["tokens"], told["ready"], told["demand"]) == ([40, 50], 1, 3)
    late = share.report(1.5, [30, 40, 50])
    assert (late["tokens"], late["ready"], late["debt"]) == ([30, 40, 50], 0, -30)
