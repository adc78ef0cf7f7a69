"""The services of docker-compose.yml as plain processes: a run with agents, Flower, the page and Prometheus."""

import base64
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.server import ModelServer
from tests.chaos.commands import PATIENCE_SECONDS, crowd, until
from tests.cli.test_sec_agent import CALL
from tests.compose.topology import Topology, topology
from tests.judging import slow_judge

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 6


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tree")
    for number in range(FILES):
        (place / f"f{number}.c").write_text(CALL.format(n=number))
    return place


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topology]:
    with (
        ModelServer(forever=slow_judge(0.3)) as server,
        topology(
            tmp_path_factory.mktemp("compose"),
            {"web", "monitoring"},
            OPENAI_BASE_URL=server.url,
            OPENAI_MODEL="judge",
        ) as started,
    ):
        yield started


def ask(address: str, path: str, users: str = "") -> Any:
    """Return what a server answers, as JSON."""
    request = urllib.request.Request(f"http://{address}{path}")
    if users:
        request.add_header("Authorization", "Basic " + base64.b64encode(users.encode()).decode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def test_a_run_with_agents_completes(started: Topology, tree: Path) -> None:
    command = started.run("sec", "agent", "-p", "/src", "--json", "-q", "--lang", "en", source=tree)
    out, _ = command.communicate(timeout=4 * PATIENCE_SECONDS * crowd())

    report = json.loads(out)
    assert command.returncode in {0, 3}, started.log("jarvis")
    assert {issue["file"] for issue in [*report["issues"], *report["dismissed"]]}


def test_prometheus_reaches_every_target(started: Topology) -> None:
    def targets() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = ask(started.address("prometheus"), "/api/v1/targets")["data"]["activeTargets"]
        return [target for target in found if target["labels"]["job"] != "jarvis-workers"]

    until(lambda: all(target["health"] != "unknown" for target in targets()))

    assert {target["labels"]["job"]: target["lastError"] for target in targets() if target["health"] != "up"} == {}
