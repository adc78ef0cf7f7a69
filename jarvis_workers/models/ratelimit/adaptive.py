"""Rate limiter of one process: AIMD for concurrency, GCRA for requests and tokens per interval.

The current time is an argument of all methods that need it.

AIMD (Chiu and Jain 1989, "Analysis of the increase and decrease algorithms for congestion avoidance") sets how many
requests may be in flight.  A 429 halves the limit and blocks all requests for its Retry-After; further 429s to requests
of the same generation, that is, to those sent earlier, have no effect on the limit.  A full round of successes, or
ROUND_MAX, raises it.  TCP adds one per round; here the increase is a tenth, at least one, so that a limit of hundreds
recovers in minutes.  While only 429s arrive, each pause is twice the previous one (exponential back-off).

GCRA (generic cell rate algorithm, ITU-T I.371, the virtual scheduling form) sets when the next request may start.
"""

from jarvis_workers.models.ratelimit.policy import Rate, RateLimitPolicy

ROUND_MAX = 100
RAISE = 1.1
# Seconds.  The pause after the second consecutive 429 is twice Retry-After, or twice USUAL_PAUSE if the server sends
# none, up to LONGEST_DOUBLED: a provider that refuses for 30 s gets five probes.
USUAL_PAUSE, LONGEST_DOUBLED = 1.0, 30.0
# A longer Retry-After is cut to this, in seconds: one absurd header must not block a model forever.
LONGEST_PAUSE = 600.0
NEVER = float("inf")


class AimdLimiter:
    """Concurrency and rates of one model in one process (`gate.Allowance`). Not thread-safe; `gate.FairQueue` locks."""

    def __init__(self, limits: RateLimitPolicy) -> None:
        self.most = self.allowed = limits.most
        self.late = limits.late
        self.in_flight = self.generation = 0
        self._refused = self._successes = 0
        self._closed_until = 0.0
        self._buckets = [GcraBucket(rate) for rate in limits.rates]

    def try_acquire(self, now: float, tokens: int) -> float:
        """Admit a request and return 0, or return the seconds after which to try again at the latest."""
        if now < self._closed_until:
            return self._closed_until - now
        if self.in_flight >= self.allowed:
            return NEVER
        wait = max((bucket.wait(now) for bucket in self._buckets), default=0.0)
        if wait > 0:
            return wait
        for bucket in self._buckets:
            bucket.take(now, tokens)
        self.in_flight += 1
        return 0.0

    def release(self) -> None:
        """Record that a request has ended."""
        self.in_flight -= 1

    def correct(self, tokens: int) -> None:
        """Charge the difference between actual and estimated tokens; it may be negative."""
        for bucket in self._buckets:
            bucket.correct(tokens)

    def on_throttled(self, now: float, generation: int, seconds: float | None) -> None:
        """Apply a 429 to a request that was admitted in `generation`; `seconds` is its Retry-After."""
        pause = min(seconds or 0.0, LONGEST_PAUSE)
        if generation == self.generation:
            self.allowed = max(min(self.allowed, self.in_flight) // 2, 1)
            self.generation += 1
            if self._refused:
                pause = max(pause, min((pause or USUAL_PAUSE) * 2.0 ** min(self._refused, 9), LONGEST_DOUBLED))
            self._refused += 1
            self._successes = 0
        self._closed_until = max(self._closed_until, now + pause)

    def on_success(self, generation: int) -> None:
        """Record the success of a request that was admitted in `generation`."""
        if generation != self.generation:
            return
        self._refused = 0
        self._successes += 1
        if self.allowed < self.most and self._successes >= min(self.allowed, ROUND_MAX):
            self._successes = 0
            self.allowed = min(int(self.allowed * RAISE) + 1, self.most)


class GcraBucket:
    """The GCRA state of one rate: the theoretical arrival time (TAT) of the next request, in seconds."""

    def __init__(self, rate: Rate) -> None:
        self._rate, self._arrival = rate, 0.0

    def wait(self, now: float) -> float:
        """Return the seconds until TAT minus the tolerance (`Rate.sooner`)."""
        return max(self._arrival - self._rate.sooner - now, 0.0)

    def take(self, now: float, tokens: int) -> None:
        """Advance TAT by the cost of a request."""
        self._arrival = max(self._arrival, now) + self._rate.cost(tokens)

    def correct(self, tokens: int) -> None:
        """Advance TAT by the error of a token estimate; a rate of requests has no such error."""
        if self._rate.counts == "tokens":
            self._arrival += self._rate.cost(tokens)
