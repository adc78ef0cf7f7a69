"""Overhead and cost of many conversations of one command, compared with the time of the model alone."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.bench.rounds import pace_of, slow_server

EACH = 200
# Beside the texts of a conversation, which are in memory twice while it waits for an answer: as messages, and in the
# body of the request. Of 180 KB a conversation, tracemalloc attributes 34 to the body and 26 to results of tools.
WITHIN_KB = 150

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


def measure(home: Path, *, processes: int, seconds: float) -> list[dict[str, Any]]:
    """Hold conversations in this many concurrent processes; return the measurements of each."""
    with slow_server(seconds) as url:
        started = []
        for number in range(processes):
            place = home / str(number)
            place.mkdir()
            command = [sys.executable, "-m", "tests.bench.conversing", url, str(EACH), str(place), f"p{number}x"]
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        found = [json.loads(process.communicate(timeout=600)[0]) for process in started]
    for number, one in enumerate(found):
        one |= {name: round(part, 4) for name, part in asdict(pace_of(home / str(number), EACH, seconds)).items()}
    print(f"\n{processes} x {EACH} conversations of {seconds:g} s, load {psutil.getloadavg()[0]:.1f}:")
    print(*found, sep="\n")
    return found


def test_200_conversations_in_one_process_take_little_longer_than_one(tmp_path: Path) -> None:
    [found] = measure(tmp_path, processes=1, seconds=1.0)

    assert min(found["mean"], found["together"]) >= 0.92
    assert found["kb_each"] <= WITHIN_KB + 2 * found["transcript_kb"]


def test_800_slow_conversations_in_four_processes(tmp_path: Path) -> None:
    found = measure(tmp_path, processes=4, seconds=5.0)

    assert min(min(one["mean"], one["together"]) for one in found) >= 0.90
    assert all(one["kb_each"] <= WITHIN_KB + 2 * one["transcript_kb"] for one in found)
