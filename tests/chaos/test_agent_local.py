"""A conversation of a command goes on after it was killed, stopped or had no room, and nothing is done twice."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psutil
import pytest

from jarvis_workers.agents.loop.transcript import UNKNOWN
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.agents.loop.server import ModelServer, calls, hangs, says
from tests.chaos.commands import Command, command, until
from tests.chaos.conversations import (
    ANSWER,
    ROUNDS,
    TASK,
    asked_again,
    has_heard,
    make_sources,
    set_model,
    slow_model,
)

pytestmark = [pytest.mark.slow, pytest.mark.timing]

LATENCY = 0.3
QUICK = {"JARVIS_LEASE_SECONDS": "1.5", "JARVIS_TICK_SECONDS": "0.1"}
AT_ONCE_SECONDS = 5.0
OWN_TOOL = """
import time
from pathlib import Path

class Mark:
    name = "mark"
    description = "Leave a mark."
    parameters = {{"type": "object", "properties": {{}}}}
    protocol_version = "2.0"

    def execute(self, arguments, agent):
        with Path({marks!r}).open("a") as file:
            file.write("marked\\n")
        while Path({hangs!r}).exists():
            time.sleep(0.01)
        return {{"success": True, "stdout": "marked"}}
"""
CALLBACK = """
from pathlib import Path

def after_tool_call_cb(agent):
    with Path({heard!r}).open("a") as file:
        file.write(f"{{agent.name}}\\n")
"""


@pytest.fixture
def store(tmp_path: Path, open_stores: Callable[..., Store]) -> Store:
    (tmp_path / "data").mkdir()
    return open_stores(f"sqlite:///{tmp_path / 'data' / 'jarvis.db'}")


@pytest.fixture
def home(tmp_path: Path, store: Store) -> Path:
    make_sources(tmp_path / "tree")
    return tmp_path


@pytest.fixture
def server(home: Path) -> Iterator[ModelServer]:
    with slow_model(LATENCY) as server:
        set_model(home, server)
        yield server


def agent(home: Path, **settings: str) -> AbstractContextManager[Command]:
    return command(home, "agent", "-T", TASK, "-p", "tree", HOME=str(home), **QUICK | settings)


def resumed(home: Path, **settings: str) -> Any:
    """Go on with the run to its end; return the answer."""
    with command(home, "runs", "resume", "last", HOME=str(home), **QUICK | settings) as again:
        code, said = again.ends()
        assert code == 0, said
        return again.body()["answer"]


def state(store: Store) -> str:
    with store.read() as session:
        return newest(session, 1)[0].state


def test_a_killed_command_is_resumed_and_asks_once_more_at_most(home: Path, server: ModelServer) -> None:
    with agent(home) as running:
        until(has_heard(server, 4))
        running.process.kill()
    answer = resumed(home)

    assert answer["text"] == ANSWER
    assert len(server.requests) - asked_again(server) == ROUNDS + 1
    assert asked_again(server) <= 1


def test_ctrl_c_does_not_wait_for_the_model_and_the_run_is_resumed(home: Path, store: Store) -> None:
    with slow_model(0.0) as server:
        server.steps = [calls("search_code", pattern=f"word{number}") for number in range(2)] + [hangs()]
        set_model(home, server)
        with agent(home) as running:
            until(has_heard(server, 3))
            told = time.monotonic()
            running.process.send_signal(signal.SIGINT)
            code, said = running.ends()
            took = time.monotonic() - told
        assert (code, state(store)) == (130, "paused")
        assert "continue with: jarvis runs resume" in said
        assert "Traceback" not in said
        assert took < AT_ONCE_SECONDS
        answer = resumed(home)

    assert answer["text"] == ANSWER
    assert len(server.requests) == ROUNDS + 2


def test_a_script_that_runs_at_ctrl_c_is_ended_with_all_it_has_started(home: Path, store: Store) -> None:
    script = calls("execute_script", script_content="sleep 611.25 & setsid sleep 611.25 & wait")
    with ModelServer(script, says(ANSWER)) as server:
        set_model(home, server)
        with agent(home) as running:
            until(lambda: len(sleeping()) == 2 or running.process.poll())
            assert running.process.poll() is None, running.ends()
            told = time.monotonic()
            running.process.send_signal(signal.SIGINT)
            code, said = running.ends()

            assert (code, state(store)) == (130, "paused"), said
            assert time.monotonic() - told < AT_ONCE_SECONDS
        until(lambda: not sleeping())
        server.steps.clear()


def sleeping() -> list[psutil.Process]:
    """The processes that the script has started."""
    return [process for process in psutil.process_iter(["cmdline"]) if "611.25" in (process.info["cmdline"] or ())]


def own_tool(home: Path) -> tuple[Path, Path]:
    """Write a tool; return where it leaves its marks, and what it waits for to go."""
    marks, busy, place = home / "marks", home / "busy", home / ".jarvis" / "tools"
    place.mkdir(parents=True)
    (place / "mark.py").write_text(OWN_TOOL.format(marks=str(marks), hangs=str(busy)))
    busy.touch()
    return marks, busy


def test_a_tool_of_the_users_own_that_was_interrupted_is_never_run_again(home: Path) -> None:
    marks, busy = own_tool(home)
    with slow_model(0.0, calls("mark")) as server:
        set_model(home, server)
        with agent(home) as running:
            until(lambda: marks.exists() and marks.read_text())
            running.process.kill()
        busy.unlink()
        answer = resumed(home)

    assert (answer["text"], marks.read_text()) == (ANSWER, "marked\n")
    assert UNKNOWN in json.dumps(server.requests[1]["messages"][-1])
    assert asked_again(server) == 0


def test_a_tool_of_the_users_own_that_hangs_does_not_keep_ctrl_c_from_ending(home: Path, store: Store) -> None:
    marks, _ = own_tool(home)
    with slow_model(0.0, calls("mark")) as server:
        set_model(home, server)
        with agent(home) as running:
            until(lambda: marks.exists() and marks.read_text())
            told = time.monotonic()
            running.process.send_signal(signal.SIGINT)
            code, said = running.ends()

    assert (code, state(store)) == (130, "paused"), said
    assert time.monotonic() - told < AT_ONCE_SECONDS


@pytest.mark.long
def test_callbacks_are_called_after_each_tool_and_once_although_the_command_was_killed(
    home: Path, server: ModelServer
) -> None:
    heard, place = home / "heard", home / "callbacks"
    place.mkdir()
    (place / "hear.py").write_text(CALLBACK.format(heard=str(heard)))
    (place / "broken.py").write_text("def after_tool_call_cb(agent): 1 / 0\n")
    settings = {"JARVIS_AGENT__AFTER_TOOL_CALL_CB_DIRS": str(place)}
    with agent(home, **settings) as running:
        until(has_heard(server, 4))
        running.process.kill()
    resumed(home, **settings)

    assert ROUNDS <= len(heard.read_text().splitlines()) <= ROUNDS + 1
    assert set(heard.read_text().splitlines()) == {"Jarvis"}


def test_a_store_without_room_pauses_the_run_which_goes_on_when_there_is_some(
    home: Path, store: Store, server: ModelServer
) -> None:
    with agent(home) as running:
        until(has_heard(server, 3))
        log = (home / "data" / "jarvis.db-wal").stat().st_size
        psutil.Process(running.process.pid).rlimit(psutil.RLIMIT_FSIZE, (log, log))
        code, said = running.ends()
    assert code == 2
    assert "cannot write" in said
    answer = resumed(home)

    assert answer["text"] == ANSWER
    assert len(server.requests) - asked_again(server) == ROUNDS + 1
    assert asked_again(server) <= 1
