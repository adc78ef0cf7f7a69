"""The retry policy: which errors are retried, how long to back off, and when to stop.

A request has a time limit, which includes waits, and a maximum number of retries. If a wait would leave no time for the
answer, the last error is raised instead.
"""

import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception
from tenacity.stop import stop_base
from tenacity.wait import wait_base

from jarvis_workers.errors import BrokenAnswer, ModelError, ModelRefused, ModelUnavailable
from jarvis_workers.models.platforms.transport import RequestRefused, Unreachable

# HTTP statuses that are retried: those that the openai library retries, 425 (RFC 8470), 520, 522 and 524 (Cloudflare),
# and 529, with which some providers report overload.
WORTH_ANOTHER = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
PROBLEMS = (RequestRefused, Unreachable, BrokenAnswer)
# Exponential back-off in seconds, with the bounds and the jitter of the openai library: up to a quarter less.
FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
JITTER = 0.25
TOO_MANY = 429
# Minimum wait in seconds after the n-th 429 of a request: three retries outlast a period of 30 s without capacity,
# which tests/bench/test_limits.py simulates.
STORM_WAITS = (0.0, 6.0, 24.0, 30.0)
# No attempt is made with less time left than this, in seconds: connecting alone takes that long.
LEAST_SECONDS = 0.05

T = TypeVar("T")


class RetryDeadline:
    """The time limit of a request, including all attempts and waits, and the number of attempts so far.

    `seconds` and `answer_seconds`, the limit of one attempt, are in seconds; `retries` counts further attempts.
    """

    def __init__(self, seconds: float, retries: int, answer_seconds: float) -> None:
        self.began = time.monotonic()
        self.seconds, self.retries, self.answer_seconds = seconds, retries, answer_seconds
        self.tries = 0

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.seconds - (time.monotonic() - self.began)

    def begin(self) -> float:
        """Count an attempt; return its time limit in seconds. Raises Unreachable if no time is left."""
        allowed = min(self.left, self.answer_seconds)
        if allowed <= 0:
            raise Unreachable(f"no answer within {self.seconds:.3g} s")
        self.tries += 1
        return allowed

    def options(self) -> Mapping[str, Any]:
        """Return the arguments of tenacity's retry loops."""
        return {"retry": retry_if_exception(is_worth_another), "wait": _Wait(), "stop": _Stop(self), "reraise": True}


def is_worth_another(error: BaseException) -> bool:
    """Return whether a retry of the same request may succeed."""
    if isinstance(error, RequestRefused):
        return error.status in WORTH_ANOTHER
    return isinstance(error, Unreachable | BrokenAnswer)


async def retry_request(attempt: Callable[[float], Awaitable[T]], patience: RetryDeadline) -> T:
    """Call `attempt` until it succeeds or is not worth retrying; raises ModelError.

    The first attempt bypasses the retry library, since most requests succeed at once.
    """
    try:
        return await attempt(patience.begin())
    except PROBLEMS as error:
        failed = [error]

    async def once() -> T:
        if failed:
            raise failed.pop()
        return await attempt(patience.begin())

    try:
        result: T = await AsyncRetrying(**patience.options())(once)
    except PROBLEMS as error:
        raise final_error(error, patience) from error
    return result


def final_error(error: Exception, patience: RetryDeadline) -> ModelError:
    """Convert an error to a ModelError with the number of attempts."""
    model_error = _as_model_error(error, patience)
    model_error.tries = max(patience.tries, 1)
    return model_error


def _as_model_error(error: Exception, patience: RetryDeadline) -> ModelError:
    times = f" (asked {patience.tries} times)" if patience.tries > 1 else ""
    if isinstance(error, RequestRefused) and not is_worth_another(error):
        return ModelRefused(f"the request to the model failed: {error}")
    return ModelUnavailable(f"the model does not respond{times}: {error}")


class _Wait(wait_base):
    """Wait for Retry-After, else exponential back-off with jitter."""

    def __call__(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        storm = 0.0
        if isinstance(error, RequestRefused) and error.status == TOO_MANY:
            storm = STORM_WAITS[min(state.attempt_number, len(STORM_WAITS)) - 1]
        if isinstance(error, RequestRefused) and error.again is not None:
            return max(error.again, storm)
        return max(storm, self._usual(state))

    def _usual(self, state: RetryCallState) -> float:
        return min(FIRST_WAIT * 2.0 ** (state.attempt_number - 1), LONGEST_WAIT) * random.uniform(1 - JITTER, 1.0)


class _Stop(stop_base):
    def __init__(self, patience: RetryDeadline) -> None:
        self._patience = patience

    def __call__(self, state: RetryCallState) -> bool:
        spent = self._patience.tries > self._patience.retries
        return spent or self._patience.left - state.upcoming_sleep < LEAST_SECONDS
