"""The HTTP endpoint of metrics: /metrics for Prometheus, /healthz for probes.

/healthz reports whether this process serves, not whether the store responds, as a restart would not help the store.
"""

import socket
import threading
from collections.abc import Callable, Iterable
from http import HTTPStatus
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import make_wsgi_app
from prometheus_client.registry import Collector

from jarvis_workers.errors import UsageError

REQUEST_SECONDS = 10.0
# A scrape and a probe at a time are usual; connections beyond these are closed at once.
CONNECTIONS_MAX = 16

App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class MetricsServer(ThreadingMixIn, WSGIServer):
    """Serves metrics, one thread per connection."""

    daemon_threads = True

    def __init__(self, host: str, port: int, registry: Collector) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._room = threading.BoundedSemaphore(CONNECTIONS_MAX)
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise UsageError(f"metrics: cannot listen on {host}:{port}: {error}") from error
        self.set_app(_routed(make_wsgi_app(registry)))

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return int(self.server_address[1])

    def server_bind(self) -> None:
        """Bind without a look-up of the host's name, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.port
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a separate thread, or close it if there are too many."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that has disconnected or is too slow."""

    def start(self) -> threading.Thread:
        """Serve in a daemon thread until `shutdown` is called."""
        thread = threading.Thread(target=self.serve_forever, daemon=True, name="metrics")
        thread.start()
        return thread


class _Handler(WSGIRequestHandler):
    timeout = REQUEST_SECONDS  # of the socket

    def log_message(self, *_: Any) -> None:
        """Log nothing: scrapes come every few seconds."""


def _routed(metrics: App) -> App:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/metrics":
            return metrics(environ, start_response)
        status = HTTPStatus.OK if environ["PATH_INFO"] == "/healthz" else HTTPStatus.NOT_FOUND
        start_response(f"{status.value} {status.phrase}", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{status.phrase.lower()}\n".encode()]

    return app
