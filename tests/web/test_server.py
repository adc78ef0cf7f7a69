"""What the server does with requests before the application sees them."""

import socket
import threading
from collections.abc import Iterator

import pytest
from flask import Flask, request

from jarvis_workers.web.server import create_web_server

CHUNKED = "2\r\nhi\r\n0\r\n\r\n"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a server that answers with the length of the body."""
    app = Flask(__name__)

    @app.post("/")
    def length() -> str:
        return f"{len(request.get_data())} bytes\n"

    server = create_web_server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield int(server.effective_port)
    server.close()


def answers(port: int, *requests: str) -> str:
    """Send requests over one connection; return what comes until the server closes it."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall("".join(requests).encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def post(headers: str, body: str, version: str = "1.1") -> str:
    return f"POST / HTTP/{version}\r\nHost: x\r\n{headers}\r\n{body}"


LAST = post("Content-Length: 1\r\nConnection: close\r\n", "x")


@pytest.mark.parametrize(
    "ambiguous",
    [
        post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
        post("Transfer-Encoding: chunked\r\nContent-Length: 12\r\n", CHUNKED),
        post("Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n", CHUNKED, "1.0"),
        post("Transfer-Encoding: chunked\r\nContent-Length: 12\r\nConnection: keep-alive\r\n", CHUNKED, "1.0"),
    ],
)
def test_a_request_of_ambiguous_length_is_refused_and_closes_the_connection(port: int, ambiguous: str) -> None:
    got = answers(port, ambiguous, LAST)

    assert got.startswith("HTTP/1.1 400 ") or got.startswith("HTTP/1.0 400 ")
    assert got.count("HTTP/1.") == 1


def test_a_request_with_one_length_keeps_the_connection(port: int) -> None:
    got = answers(port, post("Transfer-Encoding: chunked\r\n", CHUNKED), post("Content-Length: 3\r\n", "abc"), LAST)

    assert [line for line in got.splitlines() if line.endswith(" bytes")] == ["2 bytes", "3 bytes", "1 bytes"]
