"""Prepare conversations for measurement: a tree, runs of agents, and a callback that records the end of each round.

The callback is an ordinary user-defined callback, so that conversations in a command and on a worker are timed in the
same way. The time before the first record of a conversation is its ramp-up.
"""

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from jarvis_workers import __version__
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.assistant.task import converse
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store import jobs, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run, SnapshotFacts
from tests.bench.modelserver import FILES, LINES
from tests.chaos.commands import until
from tests.support.servers import free_port

ROUNDS = 20
# One more before them is the ramp, and an answer without a call is the end.
CALLS, ANSWERS = ROUNDS + 1, ROUNDS + 2
GROUP, STAGE, NOTES = "bench", "converse", "notes"
LIMITS = AgentLimits(tool_calls=1_000, compact_rounds=1_000, compact_messages=1_000)
NOTING = """\
import os
import time

NOTES = os.open({path!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def after_tool_call_cb(agent):
    os.write(NOTES, f"{{agent.marks.nonce}} {{time.monotonic()}}\\n".encode())
"""


@dataclass(frozen=True)
class Pace:
    """The pace of conversations relative to that of their model: the average, the slowest, and all together."""

    mean: float
    worst: float
    together: float


@contextmanager
def slow_server(seconds: float) -> Iterator[str]:
    """Run a model server with a fixed time per answer; yield its address."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.modelserver", str(port), str(seconds), str(CALLS)]
    with subprocess.Popen(command) as process:
        try:
            until(lambda: any(one.laddr.port == port for one in psutil.Process(process.pid).net_connections()))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def model_at(url: str) -> Mapping[str, Any]:
    """Return the model group of a server."""
    return {"model": "m", "base_url": url, "profile": "deepseek", "api_key": "k"}


def make_tree(home: Path) -> Path:
    """Write the files that the agents read."""
    tree = home / "tree"
    tree.mkdir(parents=True)
    for number in range(FILES):
        lines = (f"int value_{line}(int a) {{ return a * {line}; }} /* value {line} */\n" for line in range(LINES))
        (tree / f"f{number}.c").write_text("".join(lines))
    return tree


def write_callback(home: Path) -> Path:
    """Write the callback; return its directory."""
    directory = home / "callbacks"
    directory.mkdir(parents=True)
    (directory / "noting.py").write_text(NOTING.format(path=str(home / NOTES)))
    return directory


def add_runs(store: Store, blobs: Blobs, tree: Path, names: list[str], executor: str) -> list[str]:
    """Insert a planned run of one agent for each name; return their ids."""
    snapshot = pack(tree, Selection(None), blobs)
    facts = SnapshotFacts(snapshot.id, snapshot.files, snapshot.bytes, 0)
    with store.write() as session:
        for name in names:
            options = {"task": f"Look, {name}.", "model_group": GROUP, "agent_limits": asdict(LIMITS)}
            run = Run(name, "agent", str(tree), os.fsencode(tree), snapshot.id, executor, __version__, options)
            runs.add(session, run, facts, [STAGE])
            jobs.insert_jobs(session, run.id, STAGE, list(converse.plan(run, blobs)))
            runs.start(session, run.id)
    return names


def pace_of(home: Path, count: int, seconds: float) -> Pace:
    """Return the pace of conversations from their records; fails if one has not made all its calls."""
    notes: dict[str, list[float]] = defaultdict(list)
    for line in (home / NOTES).read_text().splitlines():
        who, at = line.split()
        notes[who].append(float(at))
    assert {len(ends) for ends in notes.values()} == {CALLS}
    assert len(notes) == count
    ideal, took = ROUNDS * seconds, [max(ends) - min(ends) for ends in notes.values()]
    together = max(map(max, notes.values())) - max(map(min, notes.values()))
    return Pace(ideal * count / sum(took), ideal / max(took), ideal / together)
