"""Take screenshots of a graph's page for the documentation; BENCH_TREE names a C project, such as Lua."""

import os
from pathlib import Path

import pytest

from jarvis_cli.main import run
from tests.support.browser import browser

DOCS = Path(__file__).parents[2] / "docs"
LARGEST = 150_000
# Name of the picture, and what of the page is shown: a function of Lua.
PICTURES = (("graph-overview.png", ""), ("graph-symbol.png", "#symbol=luaH_resize"))

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


def test_the_page_of_a_graph_is_worth_two_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = os.environ.get("BENCH_TREE") or pytest.skip("BENCH_TREE is not set")
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    assert run(["c2rust", "scan", "-q", "-p", tree]) == 0
    graph = tmp_path / "graph.html"
    assert run(["runs", "report", "last", "-o", str(graph)]) == 0
    with browser() as page:
        page.resize(1280, 1000)
        for name, fragment in PICTURES:
            page.open(graph, fragment)
            picture = page.picture()
            assert page.complaints == [] and len(picture) <= LARGEST
            (DOCS / name).write_bytes(picture)
