"""search_web over a real HTTP server: what is found, and what goes wrong."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from jarvis_workers.errors import SettingsError
from jarvis_workers.service.assistant.search_server import SearchServer
from jarvis_workers.settings import load_settings
from jarvis_workers.tools.registry import Toolbox
from jarvis_workers.tools.web_search import search_web

PAGES = {"results": [{"title": f"T{n}", "url": f"https://x/{n}", "content": "c\nd " * 300} for n in range(20)]}


class Search(ThreadingHTTPServer):
    """A search server that sends `status` and `body`; `queries` are those that it got."""

    daemon_threads = True
    status, body = 200, json.dumps(PAGES)

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.queries: list[dict[str, list[str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/search"


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Search)
        server.queries.append(parse_qs(urlsplit(self.path).query))
        self.send_response(server.status)
        self.send_header("location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(server.body.encode())


@pytest.fixture
def server() -> Iterator[Search]:
    with Search() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()


def run(server: Search, **arguments: object) -> str:
    tool = search_web(SearchServer(server.url))
    assert tool.brings_foreign
    return Toolbox([tool]).run("search_web", arguments).text()


def test_pages_are_listed_with_bounded_excerpts(server: Search) -> None:
    pages = run(server, query="CWE 120 & strcpy", results=2).split("\n\n")

    assert [page.split("\n")[:2] for page in pages] == [["T0", "https://x/0"], ["T1", "https://x/1"]]
    assert all(len(page) < 450 and "c d c d" in page for page in pages)
    assert server.queries == [{"q": ["CWE 120 & strcpy"], "format": ["json"]}]


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (500, "", "responded with 500"),
        (302, "", "responded with 302"),
        (200, "<html>", "is not JSON"),
        (200, "[]", "has no results"),
        (200, '{"results": []}', "no page was found"),
        (200, '{"results": [1, {"title": null}]}', "no page was found"),
    ],
)
def test_what_goes_wrong_is_told_to_the_model(server: Search, status: int, body: str, says: str) -> None:
    server.status, server.body = status, body

    assert says in run(server, query="x")


def test_a_server_that_is_not_there_is_told_to_the_model() -> None:
    tool = search_web(SearchServer("http://127.0.0.1:1/search"))

    assert "does not respond" in Toolbox([tool]).run("search_web", {"query": "x"}).text()


@pytest.mark.parametrize("url", ["ftp://x/", "http://user:pw@x/", "http://x/?q=1", "http://x/#a", "x"])
def test_an_address_with_credentials_or_parameters_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(SettingsError, match="search_url"):
        load_settings({"agent.search_url": url}, environ={}, directory=tmp_path)
    load_settings({"agent.search_url": "http://[::1]:8080/search"}, environ={}, directory=tmp_path)
