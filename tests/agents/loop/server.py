"""A model server for tests: real HTTP, in the dialect of a provider (`dialects`), whole or streamed, with a scenario.

A scenario is a list of steps, one per request, in order. A step may check its request, and answers or misbehaves. An
unused step, a request without a step and a failed check end the test.
"""

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.agents.loop.dialects import DIALECTS

Body = Mapping[str, Any]
Expect = Callable[[Body], object]
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
PAGE = b"x" * 65536
HELD_SECONDS = 60.0


@dataclass(frozen=True)
class Step:
    """The reaction of the server to one request."""

    content: str | None = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    misbehaves: str = ""
    expects: Expect | None = None
    waits: threading.Event | None = None
    usage: Mapping[str, Any] = field(default_factory=lambda: USAGE)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def expecting(self, expects: Expect) -> "Step":
        """Return the step with a check of its request."""
        return replace(self, expects=expects)

    @property
    def reason(self) -> str | None:
        return self.finish or ("tool_calls" if self.calls else "stop") if self.finish != "none" else None


def says(content: str, **about: Any) -> Step:
    """Answer with a text."""
    return Step(content=content, **about)


def calls(name: str, **arguments: Any) -> Step:
    """Answer with one call."""
    return Step(content=None, calls=((name, json.dumps(arguments)),))


def late(seconds: float, step: Step) -> Step:
    """Answer after a while."""
    return replace(step, seconds=seconds)


def fails(status: int, **headers: str) -> Step:
    """Answer with an error."""
    return Step(status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})


def resets() -> Step:
    """Close the connection without an answer."""
    return Step(misbehaves="reset")


def hangs() -> Step:
    """Never answer."""
    return Step(misbehaves="hang")


def garbles() -> Step:
    """Answer with half of a JSON text, as if it were complete."""
    return Step(content="{", misbehaves="garble")


def cuts(content: str = "half of an answer that never comes to its end") -> Step:
    """Cut the connection in the middle of the answer."""
    return Step(content=content, misbehaves="cut")


def stalls(content: str = "the first words of") -> Step:
    """Stream a part of an answer and then nothing more, with the connection open."""
    return Step(content=content, misbehaves="stall")


def truncates(content: str = "so far and no") -> Step:
    """Answer as if the maximum length was reached."""
    return Step(content=content, finish="length")


def never_ends(status: int, **headers: str) -> Step:
    """Answer with an error whose body never ends."""
    return replace(fails(status, **headers), misbehaves="endless")


def repeats_headers(status: int) -> Step:
    """Answer with an error that repeats the headers of the request."""
    return Step(status=status, misbehaves="repeat")


FAULTS: dict[str, Step] = {
    "latency": late(0.3, says("")),
    "401": fails(401),
    "429": fails(429, retry_after="0.2"),
    "500": fails(500),
    "reset": resets(),
    "hang": hangs(),
    "bad json": garbles(),
    "cut": cuts(),
    "truncation": truncates(),
    "two calls": Step(content=None, calls=(("look", "{}"), ("look", '{"at": "b"}'))),
    "bad arguments": Step(content=None, calls=(("look", '{"at": '),)),
    "empty": says(""),
}


class ModelServer:
    """A server on a free local port during the block."""

    def __init__(self, *steps: Step, forever: Step | Callable[[Body], Step] | None = None, dialect: str = "") -> None:
        self.steps, self.forever = list(steps), forever
        self.dialect = DIALECTS[dialect]
        self.paths: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.problems: list[str] = []
        self.sent = 0  # bytes of a body without end
        self.lock, self.over = threading.Lock(), threading.Event()
        self._server = _Server(("127.0.0.1", 0), type("Bound", (_Handler,), {"script": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        if kind is None:
            self.check()

    def check(self) -> None:
        """Fail if the requests did not match the scenario."""
        assert not self.problems, self.problems
        assert not self.steps, f"{len(self.steps)} steps were not used; the next is {self.steps[0]}"

    def take(self, request: dict[str, Any], headers: Mapping[str, str]) -> Step:
        """Return the step for a request."""
        with self.lock:
            self.requests.append(request)
            self.headers.append(headers)
            step = self.steps.pop(0) if self.steps else self._afterwards(request)
            if step is None:
                self.problems.append(f"request {len(self.requests)} was one too many")
                return fails(400)
            with_expectation = step.expects is None or step.expects(request) is not False
            if not with_expectation:
                self.problems.append(f"request {len(self.requests)} is not what was expected")
            return step

    def _afterwards(self, request: Body) -> Step | None:
        return self.forever(request) if callable(self.forever) else self.forever


class _Server(ThreadingHTTPServer):
    """A server for many concurrent connections, which ends without waiting for those that hang."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256


class _Handler(BaseHTTPRequestHandler):
    """Executes the step for its request."""

    script: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number = len(self.script.requests)
        self.script.paths.append(self.path)
        step = self.script.take(request, {name.lower(): value for name, value in self.headers.items()})
        if step.seconds:
            self.script.over.wait(step.seconds)
        if step.waits:
            step.waits.wait(HELD_SECONDS)
        with suppress(ConnectionError):
            self._answer(step, number, request)

    def _answer(self, step: Step, number: int, request: Body) -> None:
        spoken = self.script.dialect
        if step.misbehaves == "hang":
            self.script.over.wait()
        if step.misbehaves in ("hang", "reset"):
            return self._cut()
        if step.status != 200:
            return self._send_error(step)
        if request.get("stream") and step.misbehaves not in ("garble", "whole"):
            with_usage = bool(request.get("stream_options", {}).get("include_usage"))
            return self._stream(step, list(spoken.events(spoken.whole(step, number), with_usage)))
        body = json.dumps(spoken.whole(step, number))
        if step.misbehaves == "garble":
            return self._send(200, body[: len(body) // 2], {})
        return self._send(200, body, {}, cut=step.misbehaves == "cut")

    def _send(self, status: int, body: str, headers: Mapping[str, str], *, cut: bool = False) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {
            **headers,
            "content-type": "application/json",
            "content-length": str(len(data)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self._cut()

    def _stream(self, step: Step, chunks: list[Mapping[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self._send_event(": comment")
        for place, chunk in enumerate(chunks):
            if step.misbehaves in ("cut", "stall") and place > len(chunks) // 2:
                if step.misbehaves == "stall":
                    self.script.over.wait()
                return self._cut()
            kind = f"event: {chunk['type']}\n" if "type" in chunk else ""
            self._send_event(f"{kind}data: {json.dumps(chunk)}")
        if step.reason:
            self._send_event("data: [DONE]")
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _send_event(self, text: str) -> None:
        data = f"{text}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _send_error(self, step: Step) -> None:
        if step.misbehaves == "endless":
            return self._send_without_end(step)
        sent = f"sent: {self.headers['authorization'] or self.headers['x-api-key']}"
        message = sent if step.misbehaves == "repeat" else f"fault {step.status}"
        return self._send(step.status, json.dumps(self.script.dialect.error(step.status, message)), step.headers)

    def _send_without_end(self, step: Step) -> None:
        """Send until the client closes the connection."""
        self.send_response(step.status)
        for name, value in step.headers.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        while not self.script.over.is_set():
            self.wfile.write(PAGE)
            self.script.sent += len(PAGE)

    def _cut(self) -> None:
        """Close with a reset of the connection."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
