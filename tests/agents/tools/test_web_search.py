"""search_web: the address it asks, what it shows, and the limits of the request."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from jarvis_workers.agents.conversations.web_fetch import fetch_document
from jarvis_workers.agents.tools.tool import Toolbox, ToolFailed, ToolOutcome
from jarvis_workers.agents.tools.web_search import search_web

RESULT = {"title": "curl\nmanual", "url": "https://curl.se/", "content": "c" * 5000}


@contextmanager
def endpoint(body: bytes = b"", status: int = 200, **headers: str) -> Iterator[tuple[str, list[Any]]]:
    """Serve one answer on a free port; return the address, and a list of the paths and keys of its requests."""
    seen: list[Any] = []

    class Endpoint(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers["Authorization"]))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/search?q={{query}}", seen
        server.shutdown()


def search(url: str, key: str | None = None, wait: float = 20) -> ToolOutcome:
    tool = search_web(url, partial(fetch_document, key=key, seconds=wait))
    return Toolbox([tool]).run("search_web", {"query": "heap & \u2713"})


def test_results_have_title_address_and_an_excerpt() -> None:
    with endpoint(json.dumps({"results": [RESULT, "odd", {"title": None}, *[RESULT] * 20]}).encode()) as (url, seen):
        outcome = search(url, "k")

    assert seen == [("/search?q=heap%20%26%20%E2%9C%93", "Bearer k")]
    assert outcome.stdout.startswith("1. curl manual\nhttps://curl.se/\nccc")
    assert outcome.stdout.count("curl manual") == 9
    assert len(outcome.stdout) < 11_000


def test_nothing_found_is_said_and_output_is_untrusted() -> None:
    with endpoint(b'{"results": []}') as (url, seen):
        assert search(url).stdout == "(no results)"
    assert seen[0][1] is None
    assert search_web("http://h/{query}", fetch_document).brings_foreign


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html>", "the search endpoint did not answer with JSON"),
        (b"[" * 100_000, "the search endpoint did not answer with JSON"),
        (b"[]", "the answer of the search endpoint has no list of results"),
        (b"x" * 1_100_000, "the answer is larger than 1 MB"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error(body: bytes, says: str) -> None:
    with endpoint(body) as (url, _):
        assert search(url) == ToolOutcome("error", stderr=says)


def test_redirects_and_errors_are_not_followed() -> None:
    with endpoint(status=302, Location="file:///etc/passwd") as (url, _):
        assert search(url, "secret").stderr.endswith("answered with status 302")
    with endpoint(status=500) as (url, _):
        assert search(url).stderr.endswith("answered with status 500")


def test_an_endpoint_that_is_away_or_silent_is_an_error() -> None:
    assert "does not answer: [Errno" in search("http://127.0.0.1:1/{query}").stderr
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as silent:
        assert (
            "does not answer: timed out" in search(f"http://127.0.0.1:{silent.server_port}/{{query}}", wait=0.1).stderr
        )


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://h/x", "data:,x"])
def test_only_http_is_fetched(url: str) -> None:
    with pytest.raises(ToolFailed, match="only http and https"):
        fetch_document(url)
