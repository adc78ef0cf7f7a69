"""The page in a real browser: sign-in, live progress, filters, triage by keyboard, width, accessibility."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from waitress.server import create_server

from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from tests.support.browser import Browser, browser
from tests.web.sample import TOKEN, add_report, issue, submitted

pytestmark = [pytest.mark.slow, pytest.mark.timing]

PAGES = ("/runs", "/runs/one", "/runs/one/findings/C000001", "/compare?before=one&after=two", "/trend", "/cost")
AXE = """
axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}).then(found =>
    found.violations.map(one => `${one.id}: ${one.nodes.map(node => node.html).slice(0, 3).join(" | ")}`))
"""


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serve the application, and yield its address."""
    server = create_server(app, host="127.0.0.1", port=0, threads=4)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"  # type: ignore[union-attr]
    finally:
        server.close()


@pytest.fixture
def page(app: Flask, store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> Iterator[tuple[Browser, str]]:
    """A signed-in browser, and the address; besides `one` there is a later run `two` of the same source."""
    submitted(store, blobs, tmp_path / "tree", "two", labels={"team": "network"})
    add_report(store, blobs, "two", [issue(1, judged=True), *(issue(number) for number in range(3, 80))])
    with serving(app) as address, browser() as found:
        found.visit(f"{address}/?token={TOKEN}")
        yield found, address


def axe() -> str:
    """The source of axe-core, from the Python package that brings it."""
    spec = find_spec("axe_core_python")
    assert spec is not None and spec.submodule_search_locations
    (place,) = (path for folder in spec.submodule_search_locations for path in Path(folder).rglob("axe.min.js"))
    return place.read_text()


def test_the_token_disappears_from_the_address(page: tuple[Browser, str]) -> None:
    found, address = page

    assert found.ask("location.href") == f"{address}/runs"
    assert found.ask("document.cookie") == "" and found.complaints == []


def test_findings_are_filtered_and_triaged_by_keyboard_alone(page: tuple[Browser, str], store: Store) -> None:
    found, address = page
    found.visit(f"{address}/runs/one")
    found.ask('document.querySelector("[name=severity]").focus()')
    found.press("h")
    while found.ask("document.activeElement.type") != "submit":
        found.press("Tab")
    found.press("Enter")
    found.wait_for('location.search.includes("severity=high") && document.readyState === "complete"')
    assert found.ask('document.querySelectorAll(".findings a").length') == 1
    found.ask('document.querySelector(".findings a").focus()')
    found.press("Enter")
    found.wait_for('document.querySelector("#reason") && document.readyState === "complete"')
    for key in ("r", *"safe", "Escape", "f"):
        found.press(key)
    found.wait_for('location.pathname.endsWith("C000002") && document.readyState === "complete"')

    (said,) = stored_judgements(store).values()
    assert (said.verdict, said.reason, said.by) == ("false", "safe", "ann")
    found.press("k")
    found.wait_for('document.querySelector(".judged.false")?.textContent === "false"')


def test_progress_is_live_until_the_run_ends(
    page: tuple[Browser, str], store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    found, address = page
    submitted(store, blobs, tmp_path / "tree", "three")
    found.visit(f"{address}/runs/three")
    assert found.ask('document.querySelector("#live").dataset.state') == "abandoned"
    with store.write() as session:
        runs.pause(session, "three", "paused by the test")
    found.wait_for('document.querySelector("#live").textContent.includes("paused by the test")')
    add_report(store, blobs, "three", [issue(5)])
    found.wait_for('document.querySelector(".findings") && document.body.textContent.includes("done")')


@pytest.mark.parametrize(("scheme", "widths"), [("light", (1280, 400)), ("dark", (1280,))], ids=["light", "dark"])
def test_every_page_is_accessible_and_fits_a_phone(
    page: tuple[Browser, str], scheme: str, widths: tuple[int, ...]
) -> None:
    found, address = page
    source = axe()
    found.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    violations: dict[str, Any] = {}
    for path in PAGES:
        for width in widths:
            found.resize(width, 900)
            found.visit(f"{address}{path}")
            assert found.ask("document.documentElement.scrollWidth") <= width, path
            assert found.complaints == []
            found.call("Runtime.evaluate", expression=source)
            if problems := found.ask(AXE):
                violations[f"{path} at {width}"] = problems

    assert violations == {}
