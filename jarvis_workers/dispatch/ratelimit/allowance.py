"""The leased allowance of one process for a model's shared limits: concurrency slots and start times granted by Redis.

The requests in flight never exceed the allowance.  During a report no further request starts, since the response may
reduce the allowance.  After an expired lease, requests in flight continue, but no request starts.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_workers.ratelimit.adaptive import LONGEST_PAUSE, NEVER
from jarvis_workers.ratelimit.policy import RateLimitPolicy

TOKENS_AT_ONCE = 256


@dataclass(slots=True)
class UsageDelta:
    """What happened since it was last told."""

    answers: int = 0
    again: float = -1.0
    refused_wave: int = -1
    refused_inside: int = 0
    debt: float = 0.0

    def add(self, other: "UsageDelta") -> None:
        """Take in what was to be told before, and was not."""
        self.answers += other.answers
        self.debt += other.debt
        if other.again >= 0:
            self.again, self.refused_wave = max(self.again, other.again), max(self.refused_wave, other.refused_wave)
            self.refused_inside = max(self.refused_inside, other.refused_inside)


class LeasedAllowance:
    """An allowance; `ask` is called when more is wanted than there is, and nothing has been asked for yet."""

    def __init__(self, limits: RateLimitPolicy, lease_seconds: float, ask: Callable[[], None]) -> None:
        self.limits, self.lease_seconds, self._ask = limits, lease_seconds, ask
        self.inside = self.wave = 0
        self._slots_asked = self._starts_asked = False
        self._slots, self._ours_until, self._closed_until = 0, 0.0, 0.0
        self._rates, self.late = limits.rates, limits.late
        self._starts: deque[tuple[float, int]] = deque()
        self._news, self._told = UsageDelta(), UsageDelta()
        self._asked: Sequence[int] = ()

    def enter(self, now: float, tokens: int) -> float:
        """Let one in and return 0, or return how long to wait at most before asking again."""
        if now < self._closed_until:
            return self._closed_until - now
        if now >= self._ours_until or self.inside >= self._slots:
            return self._want(asked=self._slots_asked)
        if not self._may_begin(now):
            return self._want(asked=self._starts_asked)
        if self._rates:
            due, expected = self._starts[0]
            if due > now:
                return due - now
            self._starts.popleft()
            self._news.debt += tokens - expected
        self.inside += 1
        return 0.0

    def leave(self) -> None:
        """Let one out."""
        self.inside -= 1

    def correct(self, tokens: int) -> None:
        """Take in that so many more tokens were used than was said."""
        self._news.debt += tokens

    def slow_down(self, now: float, wave: int, seconds: float | None) -> None:
        """Take in a 429: at once here, and for all others when it is told."""
        self._closed_until = max(self._closed_until, now + min(seconds or 0.0, LONGEST_PAUSE))
        self._news.add(UsageDelta(again=seconds or 0.0, refused_wave=wave, refused_inside=self.inside))
        self._starts.clear()
        self._ask()

    def note_answer(self, wave: int) -> None:
        """Take in an answer to a request that was let in during `wave`."""
        if wave == self.wave:
            self._news.answers += 1

    def tell(self, now: float, waiting: Sequence[int]) -> Mapping[str, Any]:
        """Return what is to be told; until the answer is taken in, nothing beyond that begins."""
        self._drop_late(now)
        held = self._slots if now < self._ours_until else 0
        self._slots = min(held, self.inside)
        self._asked = waiting[len(self._starts) : len(self._starts) + TOKENS_AT_ONCE] if self._rates else ()
        self._told, self._news = self._news, UsageDelta()
        self._slots_asked = self._starts_asked = True
        return {
            "held": held,
            "inside": self.inside,
            "demand": self.inside + len(waiting),
            "ready": len(self._starts),
            "tokens": list(self._asked),
            "wave": self.wave,
            "leaves": not self.inside and not waiting,
            "lease": self.lease_seconds,
            "most": self.limits.most,
            "rates": [
                {
                    "name": f"{rate.counts} {rate.sooner}",
                    "counts": rate.counts,
                    "each": 1 / rate.per_second,
                    "sooner": rate.sooner,
                }
                for rate in self._rates
            ],
            "answers": self._told.answers,
            "again": self._told.again,
            "refused_wave": self._told.refused_wave,
            "refused_inside": self._told.refused_inside,
            "debt": self._told.debt,
        }

    def take(self, answer: Mapping[str, Any], sent: float, received: float) -> None:
        """Take in the answer to what was told."""
        there = (sent + received) / 2
        self._slots, self._ours_until = int(answer["granted"]), sent + self.lease_seconds
        if answer["wave"] != self.wave:
            self.wave, self._news.answers = int(answer["wave"]), 0
        self._slots_asked, self._starts_asked = bool(answer["wants_slots"]), bool(answer["wants_starts"])
        if answer["closed"] > 0:
            self._closed_until = max(self._closed_until, there + answer["closed"])
        self._starts.extend(
            (there + start, tokens) for start, tokens in zip(answer["starts"], self._asked, strict=False)
        )

    def was_not_heard(self) -> None:
        """Keep for the next time what could not be told."""
        self._news.add(self._told)

    def _may_begin(self, now: float) -> bool:
        """Whether there is a beginning left, now or soon."""
        self._drop_late(now)
        return bool(self._starts) or not self._rates

    def _drop_late(self, now: float) -> None:
        """Give up beginnings that nobody took in time."""
        while self._starts and self._starts[0][0] + self.late < now:
            _, expected = self._starts.popleft()
            self._news.debt -= expected

    def _want(self, *, asked: bool) -> float:
        if not asked:
            self._ask()
        return NEVER
