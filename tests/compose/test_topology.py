"""The services of docker-compose.yml as plain processes: a run with agents, Flower, the page and Prometheus."""

import base64
import json
import os
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.agents.loop.server import Body, ModelServer, Step
from tests.chaos.commands import PATIENCE_SECONDS, crowd, until
from tests.cli.test_sec_agent import CALL
from tests.compose.topology import Topology, topology
from tests.support.browser import Browser, browser
from tests.support.dashboards import without_data
from tests.support.judging import judge
from tests.support.servers import missing

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 6


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tree")
    for number in range(FILES):
        (place / f"f{number}.c").write_text(CALL.format(n=number))
    return place


@pytest.fixture(scope="module")
def gate() -> threading.Event:
    """The model answers while this is set."""
    gate = threading.Event()
    gate.set()
    return gate


@pytest.fixture(scope="module")
def started(gate: threading.Event) -> Iterator[Topology]:
    def answer(body: Body) -> Step:
        return replace(judge(body), waits=gate)

    with ModelServer(forever=answer) as server:
        model = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "judge"}
        with topology({"web", "monitoring"}, **model) as started:
            yield started


@pytest.fixture
def page() -> Iterator[Browser]:
    with browser() as page:
        page.resize(1200, 900)
        yield page


def ask(address: str, path: str, users: str = "") -> Any:
    """Return what a server answers, as JSON."""
    request = urllib.request.Request(f"http://{address}{path}")
    if users:
        request.add_header("Authorization", basic(users))
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def basic(users: str) -> str:
    return "Basic " + base64.b64encode(users.encode()).decode()


def visit(page: Browser, address: str, users: str) -> None:
    """Open a page as a user who has signed in."""
    page.visit(f"http://{address}", {"Authorization": basic(users)})


def shows(page: Browser, expression: str, reload: Callable[[], None] = lambda: None) -> None:
    """Wait until an expression holds in a page that loads itself again meanwhile, or that `reload` loads again."""

    def holds() -> bool:
        with suppress(AssertionError):  # between two pages
            reload()
            return bool(page.ask(expression))
        return False

    try:
        until(holds)
    except AssertionError as error:
        raise AssertionError(f"{expression} in: {page.ask('document.documentElement.outerHTML')}") from error


def keep(page: Browser, name: str) -> None:
    """Keep a picture of the page for whoever wants to look: in the directory PICTURES."""
    if directory := os.environ.get("PICTURES"):
        Path(directory, f"{name}.png").write_bytes(page.picture())


def complete_a_run_with_agents(started: Topology, tree: Path) -> None:
    command = started.run("sec", "agent", "-p", "/src", "--no-canary", "--json", "-q", "--lang", "en", source=tree)
    out, _ = command.communicate(timeout=4 * PATIENCE_SECONDS * crowd())

    report = json.loads(out)
    assert command.returncode in {0, 3}, started.log("jarvis")
    assert {issue["file"] for issue in [*report["issues"], *report["dismissed"]]}


def check_the_targets_of_prometheus(started: Topology) -> None:
    def targets() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = ask(started.address("prometheus"), "/api/v1/targets")["data"]["activeTargets"]
        return found

    until(lambda: all(target["health"] != "unknown" for target in targets()))

    assert {target["labels"]["job"]: target["lastError"] for target in targets() if target["health"] != "up"} == {}


def watch_the_jobs_of_agents(started: Topology, tree: Path, page: Browser, gate: threading.Event) -> None:
    flower, site = started.address("flower"), started.address("web")
    (tree / "more.c").write_text(CALL.format(n="more"))
    gate.clear()
    command = started.run("sec", "agent", "-p", "/src", "--no-canary", "--read", "none", "--detach", "-q", source=tree)
    run = command.communicate(timeout=PATIENCE_SECONDS * crowd())[0].decode().strip()

    def visit_flower() -> None:
        visit(page, f"{flower}/tasks?sort=received", started.secret("flower_users"))
        page.wait_for("document.querySelector('#tasks-table tbody tr[id]')")

    shows(page, "/sec\\.verify[^]*STARTED/.test(document.body.innerText)", visit_flower)
    keep(page, "flower-started")
    visit(page, f"{site}/runs/{run}", f"admin:{started.secret('web_password')}")
    shows(page, "document.querySelector('#live[data-poll]') && /verify[^]*running/.test(document.body.innerText)")
    keep(page, "page-running")
    gate.set()
    shows(page, "document.querySelector('#live') && !document.querySelector('#live[data-poll]')")
    keep(page, "page-done")
    shows(page, "/sec\\.verify[^]*SUCCESS/.test(document.body.innerText)", visit_flower)
    keep(page, "flower-done")


def refuse_who_is_not_signed_in(started: Topology) -> None:
    for name, path in (("flower", "/api/tasks"), ("web", "/runs")):
        with pytest.raises(HTTPError, match="401"):
            ask(started.address(name), path)


@pytest.mark.timeout(900)
def test_an_installation_runs_agents_and_can_be_watched(
    started: Topology, tree: Path, page: Browser, gate: threading.Event
) -> None:
    """One test, as one start of all services serves its parts, each of which needs the one before."""
    complete_a_run_with_agents(started, tree)
    check_the_targets_of_prometheus(started)
    watch_the_jobs_of_agents(started, tree, page, gate)
    refuse_who_is_not_signed_in(started)
    prometheus = f"http://{started.address('prometheus')}"
    # Without prices, no cost is known.
    until(lambda: all("cost_dollars" in one.query for one in without_data(prometheus)))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_large_tree_completes(started: Topology) -> None:
    """By hand: BENCH_TREE names a tree such as the sources of redis."""
    place = os.environ.get("BENCH_TREE")
    if place is None:
        missing("the tree that BENCH_TREE names")
    command = started.run(
        "sec", "agent", "-p", "/src", "--no-canary", "--json", "-q", "--max-findings", "200", source=Path(place)
    )
    out, _ = command.communicate()

    report = json.loads(out)
    assert command.returncode in {0, 3}, started.log("jarvis")
    print(report["summary"])
    assert report["summary"]["total"] > 0
