"""Rate limiter of one process: AIMD for concurrency, GCRA for requests and tokens per interval.

AIMD (Chiu and Jain, 1989; its increase is a tenth here, at least one) decides how many requests may be in flight, the
generic cell rate algorithm (ITU-T I.371) when the next may begin.  A 429 halves the number and closes the gate for as
long as the server says; a 429 to a request sent before that changes nothing more.  As many successes as are allowed at
once, or CALM, raise it.  While nothing but 429s comes, each pause is twice as long.  Time is an argument.
"""

from jarvis_workers.ratelimit.policy import Rate, RateLimitPolicy

CALM = 100
RAISE = 1.1
# What is waited after the second 429 in a row doubles what the server said, or this; a storm of 30 s is five of them.
USUAL_PAUSE, LONGEST_DOUBLED = 1.0, 30.0
LONGEST_PAUSE = 600.0
NEVER = float("inf")


class AimdLimiter:
    """Slots and buckets; whoever calls sees to it that two do not at once."""

    def __init__(self, limits: RateLimitPolicy) -> None:
        self.most = self.allowed = limits.most
        self.late = limits.late
        self.inside = self.wave = 0
        self._refused = self._answers = 0
        self._closed_until = 0.0
        self._buckets = [GcraBucket(rate) for rate in limits.rates]

    def enter(self, now: float, tokens: int) -> float:
        """Let one in and return 0, or return how long to wait at most before asking again."""
        if now < self._closed_until:
            return self._closed_until - now
        if self.inside >= self.allowed:
            return NEVER
        wait = max((bucket.wait(now) for bucket in self._buckets), default=0.0)
        if wait > 0:
            return wait
        for bucket in self._buckets:
            bucket.take(now, tokens)
        self.inside += 1
        return 0.0

    def leave(self) -> None:
        """Let one out."""
        self.inside -= 1

    def correct(self, tokens: int) -> None:
        """Take in that so many more tokens were used than was said."""
        for bucket in self._buckets:
            bucket.correct(tokens)

    def slow_down(self, now: float, wave: int, seconds: float | None) -> None:
        """Take in a 429 to a request that was let in during `wave`."""
        asked = min(seconds or 0.0, LONGEST_PAUSE)
        if wave == self.wave:
            self.allowed = max(min(self.allowed, self.inside) // 2, 1)
            self.wave += 1
            if self._refused:
                asked = max(asked, min((asked or USUAL_PAUSE) * 2.0 ** min(self._refused, 9), LONGEST_DOUBLED))
            self._refused += 1
            self._answers = 0
        self._closed_until = max(self._closed_until, now + asked)

    def note_answer(self, wave: int) -> None:
        """Take in an answer to a request that was let in during `wave`."""
        if wave != self.wave:
            return
        self._refused = 0
        self._answers += 1
        if self.allowed < self.most and self._answers >= min(self.allowed, CALM):
            self._answers = 0
            self.allowed = min(int(self.allowed * RAISE) + 1, self.most)


class GcraBucket:
    """One rate, as the time from which on the next would be in step."""

    def __init__(self, rate: Rate) -> None:
        self._rate, self._in_step = rate, 0.0

    def wait(self, now: float) -> float:
        return max(self._in_step - self._rate.sooner - now, 0.0)

    def take(self, now: float, tokens: int) -> None:
        self._in_step = max(self._in_step, now) + self._rate.cost(tokens)

    def correct(self, tokens: int) -> None:
        if self._rate.counts == "tokens":
            self._in_step += self._rate.cost(tokens)
