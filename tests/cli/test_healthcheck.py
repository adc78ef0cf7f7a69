"""`jarvis worker healthcheck`: what container health checks and probes run."""

import os
import time
from pathlib import Path

import pytest

from tests.cli.commands import Jarvis

pytestmark = pytest.mark.timing


def beat(data: Path, name: str, seconds_ago: float) -> None:
    file = data / f"worker-{name}.alive"
    file.touch()
    then = time.time() - seconds_ago
    os.utime(file, (then, then))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_without_a_worker(jarvis: Jarvis, data: Path) -> None:
    ended = jarvis("worker", "healthcheck")
    assert (ended.code, ended.line) == (1, f"jarvis: no worker runs with the data directory {data}")


def test_one_fresh_heartbeat_is_enough(jarvis: Jarvis, data: Path) -> None:
    beat(data, "killed", 7200)
    beat(data, "alive", 10)
    ended = jarvis("worker", "healthcheck")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


@pytest.mark.parametrize("seconds_ago", [200, -5000])
def test_an_old_heartbeat_and_one_from_the_future(jarvis: Jarvis, data: Path, seconds_ago: float) -> None:
    beat(data, "a", seconds_ago)
    ended = jarvis("worker", "healthcheck")
    assert ended.code == 1
    assert ended.line.endswith(" s old, more than 120 s")
    assert jarvis("worker", "healthcheck", "--max-age", 6000).code == 0


def test_the_data_directory_of_the_settings(jarvis: Jarvis, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beat(data, "a", 0)
    monkeypatch.delenv("JARVIS_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(jarvis.place.parent / "home"))
    (jarvis.place / "jarvis.yaml").write_text(f"data_dir: {data}\n")
    assert jarvis("worker", "healthcheck").code == 1
    jarvis("config", "trust")
    assert jarvis("worker", "healthcheck").code == 0
    monkeypatch.setenv("JARVIS_DATA_DIR", "../elsewhere")
    assert jarvis("worker", "healthcheck").code == 1
