"""The openai library as a wire, and nobody else knows it: only its transport and its errors are used.

It is imported when the first client is made, in the process that uses it.  There is one client a process and address,
since each costs 56 ms and 0.8 MB; keys and time limits are options of a request.  Its own retries are off: whether to
try again is decided in one place.  Answers are read as bytes, and where many ask at once requests are written as bytes,
which spares every process the building of its models.
"""

import asyncio
import importlib
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache, cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from jarvis_workers.platforms.wire import Body, Refused, Unreachable, seconds_to_wait

PATH = "/chat/completions"
CONNECT_SECONDS = 10.0
SAID = 300
SHARE = 16

Place = tuple[str, int]
T = TypeVar("T")


class Clients:
    """The clients of this process, made when they are first wanted; those of an event loop go with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._blocking: dict[Place, Any] = {}
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Place, _Lender]] = WeakKeyDictionary()

    def blocking(self, base_url: str, most: int) -> Any:
        """Return the client for threads."""
        place = (base_url, most)
        with self._lock:
            self._forget_parents()
            if place not in self._blocking:
                self._blocking[place] = _make(base_url, most, ("OpenAI", "Client"))
            return self._blocking[place]

    def of_loop(self, base_url: str, most: int) -> AbstractContextManager[Any]:
        """Lend a client for one request in the event loop that runs here."""
        place = (base_url, most)
        with self._lock:
            self._forget_parents()
            known = self._by_loop.setdefault(asyncio.get_running_loop(), {})
            if place not in known:
                known[place] = _Lender(base_url, most)
            return known[place].lend()

    def _forget_parents(self) -> None:
        if self._pid != os.getpid():
            self._pid, self._blocking = os.getpid(), {}
            self._by_loop = WeakKeyDictionary()


class _Lender:
    """The clients of one address in one loop: a further one for each SHARE requests that are on at once.

    For each request a client looks through all connections that it has.
    """

    def __init__(self, base_url: str, most: int) -> None:
        self._base_url, self._most = base_url, most
        self._clients: list[Any] = []
        self._lent: list[int] = []

    @contextmanager
    def lend(self) -> Iterator[Any]:
        place = self._choose()
        self._lent[place] += 1
        try:
            yield self._clients[place]
        finally:
            self._lent[place] -= 1

    def _choose(self) -> int:
        """Return the first that has room, else a new one, else the one with the fewest."""
        free = next((place for place, lent in enumerate(self._lent) if lent < SHARE), None)
        left = self._most - SHARE * len(self._clients)
        if free is not None or left <= 0:
            return min(range(len(self._lent)), key=self._lent.__getitem__) if free is None else free
        self._clients.append(_make(self._base_url, min(left, SHARE), ("AsyncOpenAI", "AsyncClient")))
        self._lent.append(0)
        return len(self._lent) - 1


class Sdk:
    """A server that speaks chat.completions."""

    def __init__(self, clients: Clients, base_url: str, *, key: str, max_connections: int) -> None:
        self.base_url, self._key, self._most, self._clients = base_url, key, max_connections, clients

    def send(self, body: Body, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        create = self._blocking().chat.completions.with_streaming_response.create
        try:
            with create(**body, timeout=self._within(seconds)) as answer:
                return b"".join(_until(deadline, answer.iter_bytes()))
        except self._openai.OpenAIError as error:
            raise _ours(error) from error
        except self._http.HTTPError as error:
            raise Unreachable(f"the answer was cut: {error}") from error

    async def send_async(self, body: Body, seconds: float) -> bytes:
        options = {
            "headers": {"Authorization": f"Bearer {self._key}"},
            "security": {"bearer_auth": True},
            "timeout": self._within(seconds),
        }
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        try:
            async with asyncio.timeout(seconds):
                with self._clients.of_loop(self.base_url, self._most) as client:
                    answer = await client.post(PATH, content=content, cast_to=self._http.Response, options=options)
            return bytes(answer.content)
        except self._openai.OpenAIError as error:
            raise _ours(error) from error
        except TimeoutError as error:
            raise Unreachable(f"no answer within {seconds:.3g} s") from error

    def stream(self, body: Body, seconds: float) -> Iterator[Mapping[str, Any]]:
        client = self._blocking()
        try:
            with client.chat.completions.create(**body, stream=True, timeout=self._within(seconds)) as pieces:
                for piece in _until(time.monotonic() + seconds, pieces):
                    yield piece.to_dict()
        except self._openai.OpenAIError as error:
            raise _ours(error) from error
        except (self._http.HTTPError, json.JSONDecodeError) as error:
            raise Unreachable(f"the answer was cut: {error}") from error

    @cached_property
    def _openai(self) -> Any:
        return importlib.import_module("openai")

    @cached_property
    def _http(self) -> Any:
        return importlib.import_module("httpx2")

    def _within(self, seconds: float) -> Any:
        return self._http.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))

    def _blocking(self) -> Any:
        return self._clients.blocking(self.base_url, self._most).with_options(api_key=self._key)


def _make(base_url: str, most: int, kinds: tuple[str, str]) -> Any:
    openai, http = (importlib.import_module(name) for name in ("openai", "httpx2"))
    limits = http.Limits(max_connections=most, max_keepalive_connections=most)
    transport = getattr(http, kinds[1])(limits=limits, follow_redirects=False, verify=_trusted())
    make = getattr(openai, kinds[0])
    return make(api_key="none", base_url=base_url, max_retries=0, http_client=transport)


@cache
def _trusted() -> Any:
    """Whom servers' certificates are checked against: read once, as it takes most of the time that a client takes."""
    return importlib.import_module("httpx2").create_ssl_context()


def _until(deadline: float, pieces: Iterable[T]) -> Iterator[T]:
    """Pass pieces on while there is time: a server that sends one now and then never runs into a read's time limit."""
    for piece in pieces:
        yield piece
        if time.monotonic() > deadline:
            raise Unreachable("the answer did not come to its end in time")


def _ours(error: Any) -> Refused | Unreachable:
    status = getattr(error, "status_code", None)
    if status is None:
        return Unreachable(f"{type(error).__name__}: {error}")
    headers = error.response.headers
    return Refused(status, str(error)[:SAID], seconds_to_wait(headers))
