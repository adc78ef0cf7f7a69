"""A receiver of OpenTelemetry traces for tests: real OTLP over HTTP with protobuf."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class ReceivedSpan(NamedTuple):
    """A span as it arrived; ids are hexadecimal, times in seconds since 1970."""

    trace: str
    id: str
    parent: str
    name: str
    kind: int
    is_error: bool
    start: float
    end: float
    attributes: dict[str, Any]
    resource: dict[str, Any]


class Receiver:
    """Spans and bytes received so far."""

    def __init__(self) -> None:
        self.spans: list[ReceivedSpan] = []
        self.raw: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.address = ""

    def take(self, body: bytes, headers: dict[str, str]) -> None:
        """Decode a request."""
        request = ExportTraceServiceRequest.FromString(body)
        with self.lock:
            self.raw.append(body)
            self.headers.append(headers)
            for group in request.resource_spans:
                resource = _facts(group.resource.attributes)
                self.spans += [_received(span, resource) for scope in group.scope_spans for span in scope.spans]

    def named(self, name: str) -> list[ReceivedSpan]:
        """Return the spans with a name."""
        with self.lock:
            return [span for span in self.spans if span.name == name]


@contextmanager
def otlp_receiver() -> Iterator[Receiver]:
    """Receive traces on a free port during the block."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            body = gzip.decompress(body) if self.headers["content-encoding"] == "gzip" else body
            assert self.path == "/v1/traces"
            receiver.take(body, dict(self.headers))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _received(span: Any, resource: dict[str, Any]) -> ReceivedSpan:
    return ReceivedSpan(
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        name=span.name,
        kind=span.kind,
        is_error=span.status.code == span.status.STATUS_CODE_ERROR,
        start=span.start_time_unix_nano / 1e9,
        end=span.end_time_unix_nano / 1e9,
        attributes=_facts(span.attributes),
        resource=resource,
    )


def _facts(attributes: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)
