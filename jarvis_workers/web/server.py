"""Serve the application with waitress, a production server in pure Python."""

import signal
import sys
from collections.abc import Callable
from ipaddress import ip_address
from secrets import token_urlsafe
from types import FrameType
from typing import Any, NoReturn

from flask import Flask
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer, MultiSocketServer, create_server

from jarvis_workers import telemetry
from jarvis_workers.errors import UsageError
from jarvis_workers.runs import wiring
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.store_keys import store_key
from jarvis_workers.sec.triage.queue import current_user
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.web.access.sign_in import TokenSignIn, sign_in_of
from jarvis_workers.web.app import create_app
from jarvis_workers.web.background_runs import BackgroundRuns
from jarvis_workers.web.context import WebContext

THREADS = 8
CONNECTIONS_MAX = 200
HEADER_BYTES = 32 * 1024
BODY_BYTES = 128 * 1024
IDLE_SECONDS = 60
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


def serve(settings: Settings, host: str, port: int, *, read_only: bool, tell: Callable[[str], None]) -> None:
    """Serve until SIGTERM or an interrupt; `tell` prints the address. Raises JarvisError."""
    telemetry.set_up(settings.log_level, sys.stderr.fileno())
    token = token_urlsafe(32)
    sign_in, api_tokens = sign_in_of(settings.web, token, current_user())
    with wiring.store_of(settings, THREADS, create=False) as store:
        background = BackgroundRuns(settings, store)
        world = WebContext(
            settings=settings,
            store=store,
            blobs=blobs_of(settings),
            background=background,
            sign_in=sign_in,
            api_tokens=api_tokens,
            hosts=trusted_hosts(settings, host),
            read_only=read_only,
        )
        try:
            _listen(create_app(world, _session_key(settings, store)), world, host, port, tell)
        finally:
            background.close()


def _session_key(settings: Settings, store: Store) -> bytes | None:
    """Return the key that signs sessions: the store's key, so that several servers accept the same CSRF tokens.

    With a token, return None: the session is the sign-in and ends with the process.
    """
    return None if settings.web.auth == "token" else store_key(store, b"web session")


def _listen(app: Flask, world: WebContext, host: str, port: int, tell: Callable[[str], None]) -> None:
    try:
        server = create_web_server(app, host, port)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror}; choose another --port") from error
    named = f"[{host}]" if ":" in host else host
    address = f"http://{named}:{_port_of(server)}/"
    tell(f"{address}?token={world.sign_in.token}" if isinstance(world.sign_in, TokenSignIn) else address)
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        server.run()
    finally:
        signal.signal(signal.SIGTERM, before)
        server.close()


class StrictRequest(HTTPRequestParser):
    """A request whose length is unambiguous: Transfer-Encoding in HTTP/1.1 alone, and without Content-Length.

    waitress would serve it and keep the connection; RFC 9112, section 6.1, wants it closed.
    """

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        of_old_version = "TRANSFER_ENCODING" in self.headers
        if of_old_version or (self.chunked and "CONTENT_LENGTH" in self.headers):
            raise ParsingError("The length of the request is ambiguous")


class StrictChannel(HTTPChannel):
    """A connection that is closed after a request of ambiguous length."""

    parser_class = StrictRequest


def create_web_server(app: Flask, host: str, port: int) -> BaseWSGIServer | MultiSocketServer:
    """Listen on an address. Raises OSError."""
    parts: dict[int, Any] = {}
    server = create_server(
        app,
        map=parts,
        host=host,
        port=port,
        threads=THREADS,
        connection_limit=CONNECTIONS_MAX,
        max_request_header_size=HEADER_BYTES,
        max_request_body_size=BODY_BYTES,
        channel_timeout=IDLE_SECONDS,
        ident="",
        # The guard reads X-Forwarded-Proto itself, from trusted proxies only.
        clear_untrusted_proxy_headers=False,
    )
    for part in parts.values():
        if isinstance(part, BaseWSGIServer):
            part.channel_class = StrictChannel
    return server


def _port_of(server: BaseWSGIServer | MultiSocketServer) -> int:
    """Return the port of the server; a name such as localhost may have several addresses, each with its own socket."""
    if isinstance(server, MultiSocketServer):
        return int(server.effective_listen[0][1])
    return int(server.socket.getsockname()[1]) if server.socket else 0


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_address(settings: Settings, host: str, *, insecure: bool) -> None:
    """Raise UsageError for an address that others can reach if it is protected only by a token in a link."""
    if settings.web.auth == "token" and not is_loopback(host) and not insecure:
        raise UsageError(
            f"--host {host}: other machines could reach the web interface, which only a single"
            " token protects; set web.auth to basic or proxy "
            "(docs/web.md), or add --allow-remote-token"
        )


def trusted_hosts(settings: Settings, host: str) -> tuple[str, ...]:
    """Return the host names under which the web interface may be reached; empty means any name.

    A page without passwords must check the host name, since a site can point its own name to 127.0.0.1 (DNS rebinding).
    """
    if settings.web.auth != "token":
        return settings.web.hosts
    return (*LOCAL_NAMES, *settings.web.hosts, *([] if is_loopback(host) else [host]))


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)
