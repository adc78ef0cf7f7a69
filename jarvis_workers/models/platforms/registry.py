"""The table of platforms by name, and the creation of a platform from a model group."""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from jarvis_workers.errors import ModelUnavailable, SettingsError
from jarvis_workers.models.platforms.apis import APIS, AnswerStream, decode
from jarvis_workers.models.platforms.costs import cost_of
from jarvis_workers.models.platforms.errorbodies import bounded_client
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.profiles import Prices, Profile
from jarvis_workers.models.platforms.protocol import (
    ModelRequest,
    Platform,
    Reply,
    estimate_request,
    own_names,
    with_estimated_usage,
)
from jarvis_workers.models.platforms.request import RequestWriter, streamed
from jarvis_workers.models.platforms.retry import LEAST_SECONDS, RetryDeadline, retry_request
from jarvis_workers.models.platforms.transport import OnLine, RequestRefused, Unreachable, Wire, seconds_to_wait
from jarvis_workers.models.ratelimit.gate import in_process
from jarvis_workers.models.ratelimit.policy import Limiter, MakeLimiter, ModelKey, RateLimitPolicy, RequestPermit
from jarvis_workers.redact import redact_server_text, without

# A platform for all servers with one of the APIs in `apis`; other differences are in their profiles.

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


# The openai library as a `Wire`; no other module uses it, and only its documented transport and errors are used.

CONNECT_SECONDS = 10.0
MESSAGE_LENGTH = 300
MOST_BYTES = 16 << 20
TOO_LARGE = f"the answer is larger than {MOST_BYTES >> 20} MB"

LoopPlace = tuple[asyncio.AbstractEventLoop, str, int]


class Clients:
    """The clients of this process, created on demand; clients of an event loop are closed with it."""

    def __init__(self) -> None:
        self._in_loop: dict[LoopPlace, tuple[Any, AsyncGenerator[Any, None]]] = {}

    async def of_loop(self, base_url: str, most: int) -> Any:
        """Return the client of the running event loop."""
        place = (asyncio.get_running_loop(), base_url, most)
        if place not in self._in_loop:
            opened = self._open(place)
            self._in_loop[place] = (await anext(opened), opened)
        return self._in_loop[place][0]

    async def _open(self, place: LoopPlace) -> AsyncGenerator[Any, None]:
        """Yield a client; the event loop closes it when it shuts down open async generators."""
        client = _make(*place[1:])
        try:
            yield client
        finally:
            del self._in_loop[place]
            await client.close()


class Sdk:
    """A server with one of the APIs of `apis`."""

    def __init__(self, clients: Clients, base_url: str, *, key: str, max_connections: int, api: str = "chat") -> None:
        self.base_url, self._key, self._most, self._clients = base_url, key, max_connections, clients
        self._url = APIS[api].url(base_url)  # the full URL, since otherwise the library parses it twice
        self._headers = APIS[api].headers(key)

    async def send_async(self, body: bytes, seconds: float, on_line: OnLine | None = None) -> bytes:
        openai, http = _libraries()
        response = _BoundedResponse(lambda line: on_line(self._cleared(line)) if on_line else None)
        try:
            async with asyncio.timeout(seconds):
                client = await self._clients.of_loop(self.base_url, self._most)
                how = self._how(body, seconds)
                kind = openai.AsyncStream[object]
                stream = await client.post(self._url, cast_to=object, stream=True, stream_cls=kind, **how)
                async with aclosing(stream.response) as answer:
                    async for piece in answer.aiter_bytes():
                        response.add(piece)
            return self._cleared(response.end())
        except http.HTTPError as error:
            raise self._cut(error) from None
        except openai.OpenAIError as error:
            raise self._request_error(error) from None
        except TimeoutError as error:
            raise Unreachable(f"no answer within {seconds:.3g} s") from error

    def _how(self, body: bytes, seconds: float) -> dict[str, Any]:
        """Return the body, headers and timeout of a request, as arguments for the library."""
        openai, http = _libraries()
        timeout = http.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        # without a value the library sends a key of its own
        headers = {"Authorization": openai.omit, **self._headers}
        return {"content": body, "options": {"headers": headers, "timeout": timeout}}

    def _cleared(self, body: bytes) -> bytes:
        """Return an answer with the API key removed."""
        if self._key.encode() not in body:
            return body
        return without(body.decode("utf-8", "surrogateescape"), self._key).encode("utf-8", "surrogateescape")

    def _cut(self, error: Exception) -> Unreachable:
        return Unreachable(redact_server_text(f"the response was truncated: {error}", self._key)[:MESSAGE_LENGTH])

    def _request_error(self, error: Any) -> RequestRefused | Unreachable:
        """Convert an error of the library; neither the message nor the cause contains the API key."""
        status = getattr(error, "status_code", None)
        if status is None:
            # the library reports every lost connection as a timeout; the cause is more precise
            says = str(error.__cause__ or "") or f"{type(error).__name__}: {error}"
            return Unreachable(redact_server_text(says, self._key)[:MESSAGE_LENGTH])
        headers = error.response.headers
        return RequestRefused(
            status, redact_server_text(str(error), self._key)[:MESSAGE_LENGTH], seconds_to_wait(headers)
        )


class _BoundedResponse:
    """A response body being received, up to MOST_BYTES; `on_line` receives its lines."""

    def __init__(self, on_line: OnLine) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._on_line, self._line = on_line, bytearray()

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > MOST_BYTES:
            raise Unreachable(TOO_LARGE)
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._on_line(bytes(self._line + line))
            self._line.clear()
        self._line += rest

    def end(self) -> bytes:
        """Pass on the last line, and return the whole body."""
        if self._line:
            self._on_line(bytes(self._line))
        return b"".join(self._pieces)


def _make(base_url: str, most: int) -> Any:
    openai, http = _libraries()
    limits = http.Limits(max_connections=most, max_keepalive_connections=most)
    client = bounded_client(openai.DefaultAioHttpClient, http)(limits=limits, follow_redirects=False, verify=_trusted())
    return openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0, http_client=client)


@cache
def _libraries() -> tuple[Any, Any]:
    """Import openai and httpx2; gc.freeze exempts their objects from later garbage collection."""
    import httpx2
    import openai

    gc.freeze()
    return openai, httpx2


@cache
def _trusted() -> Any:
    """Return the TLS context, created only once, since creating it takes most of the time of creating a client."""
    return _libraries()[1].create_ssl_context()


Maker = Callable[[ModelGroup], Platform]


class Providers:
    """The platforms of a process. There is one instance, so that clients and rate limiters are shared.

    `environ` contains the API keys; `own` are user-defined platforms by name; `limiter` creates rate limiters, by
    default ones that are local to the process.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        own: Mapping[str, Maker] | None = None,
        limiter: MakeLimiter = in_process,
    ) -> None:
        self._environ, self._limiter = environ, limiter
        self._clients = Clients()
        self._gates: dict[ModelKey, Limiter] = {}
        self._makers: dict[str, Maker] = {**(own or {}), "openai": self._compatible}

    def open(self, group: ModelGroup) -> Platform:
        """Return the platform of a group. Raises SettingsError."""
        make = self._makers.get(group.platform)
        if make is None:
            close = get_close_matches(group.platform, self._makers, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else f"; available: {', '.join(self._makers)}"
            raise SettingsError(f'models: unknown platform "{group.platform}"{hint}')
        return make(group)

    def _compatible(self, group: ModelGroup) -> Compatible:
        key = group.key(self._environ)
        if not key:
            raise SettingsError(f"models: {group.model!r} needs a key: set OPENAI_API_KEY, or api_key_env in its group")
        profile = group.quirks
        wire = Sdk(self._clients, group.base_url, key=key, max_connections=group.max_connections, api=profile.api)
        terms = Terms(profile, group.prices, group.answer_seconds)
        return Compatible("openai", group.model, wire=wire, gate=self._gate(group.limited, group.limits), terms=terms)

    def _gate(self, model: ModelKey, limits: RateLimitPolicy) -> Limiter:
        if model not in self._gates:
            self._gates[model] = self._limiter(model, limits)
        return self._gates[model]
