"""How near many conversations in one process come to what they would take if nothing else did, and what they cost."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.bench.modelserver import FILES, LINES
from tests.chaos.commands import until
from tests.servers import free_port

ROUNDS = 20
WIRES = ("loop", "openai")


@contextmanager
def slow_server(seconds: float) -> Iterator[str]:
    """Run the model server while the block lasts."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.modelserver", str(port), str(seconds), str(ROUNDS)]
    with subprocess.Popen(command) as process:
        try:
            until(lambda: any(one.laddr.port == port for one in psutil.Process(process.pid).net_connections()))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def tree(home: Path) -> Path:
    """Write files to read."""
    (home / "tree").mkdir(parents=True)
    for number in range(FILES):
        lines = (f"int value_{line}(int a) {{ return a * {line}; }} /* value {line} */\n" for line in range(LINES))
        (home / "tree" / f"f{number}.c").write_text("".join(lines))
    return home


def measure(home: Path, *, processes: int, each: int, seconds: float, wire: str) -> list[dict[str, Any]]:
    """Converse in so many processes at once; return what each measured."""
    with slow_server(seconds) as url:
        started = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.bench.conversing",
                    url,
                    wire,
                    str(each),
                    str(ROUNDS),
                    str(seconds),
                    str(at),
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for at in (tree(home / str(number)) for number in range(processes))
        ]
        found = [json.loads(process.communicate(timeout=600)[0]) for process in started]
    print(f"\n{wire}: {processes} x {each} conversations of {seconds:g} s, load {psutil.getloadavg()[0]:.1f}: {found}")
    return found


@pytest.mark.bench
@pytest.mark.timeout(900)
@pytest.mark.parametrize("wire", WIRES)
def test_200_conversations_in_one_process_take_little_longer_than_one(tmp_path: Path, wire: str) -> None:
    _skip_without(wire)

    [found] = measure(tmp_path, processes=1, each=200, seconds=1.0, wire=wire)

    transcript = (tmp_path / "0" / "journal").stat().st_size / 1024 / 200
    assert found["of_ideal"] >= 0.92
    assert found["kb_each"] <= 150 + transcript


@pytest.mark.bench
@pytest.mark.timeout(900)
@pytest.mark.parametrize("wire", WIRES)
def test_800_slow_conversations_in_four_processes(tmp_path: Path, wire: str) -> None:
    _skip_without(wire)

    found = measure(tmp_path, processes=4, each=200, seconds=5.0, wire=wire)

    assert min(one["of_ideal"] for one in found) >= 0.90


def _skip_without(wire: str) -> None:
    if wire == "openai" and importlib.util.find_spec("openai") is None:
        pytest.skip("openai is not installed")
