"""The configuration of Prometheus, its alert rules and the dashboards: promtool, and the names in docs/metrics.md."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_workers.store.queues import QUEUES
from tests.support.servers import missing

ROOT = Path(__file__).parents[1]
ALERTS = ROOT / "helm/jarvis/files/alerts.yml"
CONFIG = ROOT / "deploy/prometheus/prometheus.yml"
RULE_TESTS = ROOT / "tests/data/prometheus/alerts_test.yml"
DASHBOARDS = sorted((ROOT / "helm/jarvis/files/dashboards").glob("*.json"))
NAME = re.compile(r"\bjarvis_(?:store|jobs|queue|expired|crashed|controller|runs|budget|findings|model|worker)\w*")
HISTOGRAM_PARTS = re.compile(r"_(?:bucket|sum|count)$")


@pytest.fixture
def promtool(tmp_path: Path) -> Iterator[list[str]]:
    """The command promtool, in a directory with copies of the files."""
    program = shutil.which("promtool")
    if program is None:
        missing("promtool")
    for file in (ALERTS, CONFIG, RULE_TESTS):
        shutil.copy(file, tmp_path)
    yield [program]


def check(promtool: list[str], directory: Path, *arguments: str) -> None:
    done = subprocess.run([*promtool, *arguments], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_configuration_and_rules_are_valid(promtool: list[str], tmp_path: Path) -> None:
    check(promtool, tmp_path, "check", "config", CONFIG.name)


@pytest.mark.parametrize("queue", QUEUES)
def test_the_worker_of_each_queue_is_scraped(queue: str) -> None:
    assert f"worker-{queue}" in re.findall(r"[\w-]+", CONFIG.read_text())


def test_alerts_fire_when_they_should(promtool: list[str], tmp_path: Path) -> None:
    check(promtool, tmp_path, "test", "rules", RULE_TESTS.name)


def test_every_alert_has_a_unit_test() -> None:
    alerts = re.findall(r"- alert: (\w+)", ALERTS.read_text())
    tested = RULE_TESTS.read_text()

    assert [name for name in alerts if name not in tested] == []


@pytest.mark.parametrize("file", [ALERTS, *DASHBOARDS], ids=lambda file: file.name)
def test_queries_use_documented_metrics(file: Path) -> None:
    documented = set(re.findall(r"^\| `(jarvis_\w+)`", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE))
    used = set(NAME.findall(file.read_text()))

    assert used
    assert {HISTOGRAM_PARTS.sub("", name) for name in used - documented} - documented == set()


@pytest.mark.parametrize("file", DASHBOARDS, ids=lambda file: file.name)
def test_a_dashboard_takes_its_data_source_from_a_variable(file: Path) -> None:
    board = json.loads(file.read_text())
    chosen = {"type": "prometheus", "uid": "${datasource}"}

    assert {"name": "datasource", "type": "datasource", "query": "prometheus"}.items() <= board["templating"]["list"][
        0
    ].items()
    assert all(panel["datasource"] == chosen for panel in board["panels"] if panel["type"] != "row")
    assert board["uid"] == f"jarvis-{file.stem}"
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
