"""A platform for all servers with one of the APIs in `apis`; other differences are in their profiles.

A request waits for a slot of the rate limiter, is retried after transient errors, and returns a reply with its cost.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from jarvis_workers.errors import ModelUnavailable
from jarvis_workers.models.platforms.apis import decode
from jarvis_workers.models.platforms.costs import cost_of
from jarvis_workers.models.platforms.profiles import Prices, Profile
from jarvis_workers.models.platforms.protocol import ModelRequest, Reply
from jarvis_workers.models.platforms.request import RequestWriter, streamed
from jarvis_workers.models.platforms.retry import LEAST_SECONDS, RetryDeadline, retry_request
from jarvis_workers.models.platforms.streaming import AnswerStream
from jarvis_workers.models.platforms.tokens import estimate_request, with_estimated_usage
from jarvis_workers.models.platforms.transport import RequestRefused, Wire
from jarvis_workers.models.platforms.wire_names import own_names
from jarvis_workers.models.ratelimit.policy import Limiter, RequestPermit

RATE_LIMITED = frozenset({429, 529})


@dataclass(frozen=True)
class Terms:
    """Profile, prices and time limit of a model."""

    profile: Profile
    prices: Prices
    answer_seconds: float = 300.0


class Compatible:
    """One model of one server."""

    def __init__(self, name: str, model: str, *, wire: Wire, gate: Limiter, terms: Terms) -> None:
        self.name, self.model, self.profile = name, model, terms.profile
        self._wire, self._gate, self._terms = wire, gate, terms

    async def ask_async(self, request: ModelRequest) -> Reply:
        patience = self._patience(request)
        body = self._written(request)
        stream = AnswerStream(request.on_text, self.profile.api) if request.on_text else None

        async def once(seconds: float) -> Reply:
            async with self._gate.slot(patience.left, estimate_request(request)) as permit:
                with _report_429(permit):
                    time_left = _left(patience, seconds)
                    if stream:
                        stream.begin()
                        answer = stream.read(await self._wire.send_async(body, time_left, stream.add))
                    else:
                        answer = decode(await self._wire.send_async(body, time_left), self.profile.api)
                    reply = with_estimated_usage(answer, request)
                    permit.on_success(reply.usage.total)
                    return reply

        try:
            reply = await retry_request(once, patience)
        except TimeoutError as error:
            raise _no_slot(patience) from error
        return self._finish(replace(reply, calls=own_names(reply.calls, request.tools)), patience)

    def _patience(self, request: ModelRequest) -> RetryDeadline:
        return RetryDeadline(request.seconds, request.retries, self._terms.answer_seconds)

    def _written(self, request: ModelRequest) -> bytes:
        body = request.body or RequestWriter(self.model, self.profile).write(request).body
        return streamed(body, self.profile) if request.on_text else body

    def _finish(self, reply: Reply, patience: RetryDeadline) -> Reply:
        return replace(
            reply,
            cost=cost_of(reply.usage, self._terms.prices),
            seconds=round(time.monotonic() - patience.began, 3),
            tries=patience.tries,
            model=reply.model or self.model,
        )


@contextmanager
def _report_429(permit: RequestPermit) -> Iterator[None]:
    """Report a 429 raised in the block to the rate limiter."""
    try:
        yield
    except RequestRefused as error:
        if error.status in RATE_LIMITED:
            permit.on_throttled(error.again)
        raise


def _left(patience: RetryDeadline, seconds: float) -> float:
    """Return the seconds left for an attempt that has a slot; at least LEAST_SECONDS, for the timeout of the wire."""
    return max(min(seconds, patience.left), LEAST_SECONDS)


def _no_slot(patience: RetryDeadline) -> ModelUnavailable:
    return ModelUnavailable(
        f"rate limiter: no request slot within {patience.seconds:.3g} s, too many concurrent requests to this model"
    )
