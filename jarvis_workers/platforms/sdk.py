"""The openai library as a wire, and nobody else knows it: only its transport and its errors are used.

It is imported when the first client is made, in the process that uses it.  There is one client a process and address,
since each costs 56 ms and 0.8 MB; keys and time limits are options of a request.  Its own retries are off: whether to
try again is decided in one place.  Answers are read as bytes, which spares every process the building of its models.
"""

import asyncio
import importlib
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from jarvis_workers.platforms.wire import Body, Refused, Unreachable, seconds_to_wait

CONNECT_SECONDS = 10.0
SAID = 300

Place = tuple[str, int]
T = TypeVar("T")


class Clients:
    """The clients of this process, made when they are first wanted; those of an event loop go with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._blocking: dict[Place, Any] = {}
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Place, Any]] = WeakKeyDictionary()

    def blocking(self, base_url: str, most: int) -> Any:
        """Return the client for threads."""
        with self._lock:
            self._forget_parents()
            return self._find(self._blocking, (base_url, most), ("OpenAI", "Client"))

    def of_loop(self, base_url: str, most: int) -> Any:
        """Return the client for the event loop that runs here."""
        with self._lock:
            self._forget_parents()
            known = self._by_loop.setdefault(asyncio.get_running_loop(), {})
            return self._find(known, (base_url, most), ("AsyncOpenAI", "AsyncClient"))

    def _forget_parents(self) -> None:
        if self._pid != os.getpid():
            self._pid, self._blocking = os.getpid(), {}
            self._by_loop = WeakKeyDictionary()

    def _find(self, known: dict[Place, Any], place: Place, kinds: tuple[str, str]) -> Any:
        if place not in known:
            known[place] = _make(place, kinds)
        return known[place]


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
        client = self._clients.of_loop(self.base_url, self._most).with_options(api_key=self._key)
        try:
            async with asyncio.timeout(seconds):
                answer = await client.chat.completions.with_raw_response.create(**body, timeout=self._within(seconds))
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


def _make(place: Place, kinds: tuple[str, str]) -> Any:
    base_url, most = place
    openai, http = (importlib.import_module(name) for name in ("openai", "httpx2"))
    limits = http.Limits(max_connections=most, max_keepalive_connections=most)
    transport = getattr(http, kinds[1])(limits=limits, follow_redirects=False)
    make = getattr(openai, kinds[0])
    return make(api_key="none", base_url=base_url, max_retries=0, http_client=transport)


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
