"""Overhead of 200 conversations in one agent process, compared with the time of the model alone."""

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select

from jarvis_workers.executors.dispatch.sender import EXECUTOR
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB, RUN
from jarvis_workers.store.values import ENDED_RUNS
from tests.bench import rounds
from tests.chaos.commands import PAUSE
from tests.executors.dispatch.sleeping import sleeper
from tests.executors.dispatch.talking import Place
from tests.support.servers import redis_server
from tests.support.settings_files import write_settings

CONVERSATIONS, ROUNDS, SECONDS = 200, 20, 1.0
LOOK_SECONDS, PATIENCE_SECONDS = 0.5, 120.0
USUAL_PACE = {"lease_seconds": 30.0, "tick_seconds": 2.0, "resend_seconds": 60.0}

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


def test_200_conversations_take_little_longer_than_one(
    tmp_path: Path, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    with redis_server() as broker, sleeper() as server:
        place = Place(open_stores(postgres_url), postgres_url, broker, tmp_path)
        run = place.submit(jobs=CONVERSATIONS, rounds=ROUNDS, seconds=SECONDS, port=server.port)
        with place.worker():
            state = place.ended(run)
        talks = place.talks(run)

    first, last = min(row.started_at for row in talks), max(row.started_at for row in talks)
    end, ideal = max(row.finished_at for row in talks), ROUNDS * SECONDS
    longest = max(row.finished_at - row.started_at for row in talks)
    mean = sum(row.finished_at - row.started_at for row in talks) / len(talks)
    cpu = sum(row.cpu_seconds for row in talks)
    print(
        f"\n{CONVERSATIONS} conversations, {server.most} at once; ramp {last - first:.2f} s, "
        f"wall without it {end - last:.2f} s of {ideal:.0f} s ideal = {ideal / (end - last):.1%}; "
        f"mean {ideal / mean:.1%}, worst {ideal / longest:.1%}; {cpu:.2f} s of CPU, "
        f"load {psutil.getloadavg()[0]:.1f}"
    )
    assert state == "done"
    assert server.most == CONVERSATIONS
    assert ideal / (end - last) >= 0.92
    assert ideal / mean >= 0.92


def test_200_agents_on_a_worker_keep_to_the_pace_of_their_model(
    tmp_path: Path, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    store = open_stores(postgres_url)
    tree, callbacks = rounds.make_tree(tmp_path), rounds.write_callback(tmp_path)
    names = [f"r{number}" for number in range(CONVERSATIONS)]
    rounds.add_runs(store, open_blobs(str(tmp_path / "blobs"), tmp_path / "cache"), tree, names, EXECUTOR)
    with redis_server() as broker, rounds.slow_server(SECONDS) as url:
        settings = {
            "log_level": "warning",
            "models": {rounds.GROUP: dict(rounds.model_at(url))},
            "agent": {"after_tool_call_cb_dirs": [str(callbacks)]},
        }
        write_settings(tmp_path, settings, tmp_path / "data")
        with Place(store, postgres_url, broker, tmp_path).worker(USUAL_PACE):
            states = wait_for_all(store)
    pace = rounds.pace_of(tmp_path, CONVERSATIONS, SECONDS)
    with store.read() as session:
        spent: float = session.execute(select(func.sum(JOB.c.cpu_seconds))).scalar_one()

    print(
        f"\n{CONVERSATIONS} agents on a worker, load {psutil.getloadavg()[0]:.1f}: {asdict(pace)}; "
        f"{spent / CONVERSATIONS / rounds.ANSWERS * 1000:.2f} ms of CPU a round"
    )
    assert states == {"done"}
    assert min(pace.mean, pace.together) >= 0.92 - 0.03


def wait_for_all(store: Store) -> set[str]:
    """Return the states of all runs once they have ended; polls rarely, to leave the CPU to the conversations."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        with store.read() as session:
            states = set(session.execute(select(RUN.c.state).distinct()).scalars())
        if states <= set(ENDED_RUNS) or time.monotonic() > give_up:
            return states
        PAUSE.wait(LOOK_SECONDS)
