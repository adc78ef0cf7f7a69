"""A conversation outlives its process: no recorded answer is paid for twice, nothing is done twice."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, EventBus
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.transcript import UNKNOWN, Transcript, read_line
from jarvis_workers.errors import UsageError
from tests.agents.loop.arrange import Lines, Scripted, agent_of, call, drive, heard, look, platform_of, run, text
from tests.agents.loop.logfile import LogFile
from tests.agents.loop.mortal import do
from tests.agents.loop.server import ModelServer, Step, calls, says

# start, answer, call, result, answer, result, answer, call, result, answer
RECORDS = 10


def healthy(request: Mapping[str, Any]) -> Step:
    """The step of a conversation that does, looks, does again and ends."""
    steps = (calls("do", at="one"), calls("look", at="x"), calls("do", at="two"), says("the end"))
    return steps[sum(message["role"] == "assistant" for message in request["messages"])]


def killed(home: Path, url: str, moment: str, number: int) -> int:
    """Converse in a process that dies; return its exit code."""
    arguments = [str(home / "log"), url, str(home / "effects"), moment, str(number)]
    return subprocess.run([sys.executable, "-m", "tests.agents.loop.mortal", *arguments]).returncode


def resumed(home: Path, url: str) -> str:
    """Take the conversation up; return how it ends."""
    agent = agent_of(do(home / "effects"), look([]))
    return run(agent, platform_of(url), log=LogFile(home / "log")).text


@pytest.mark.sample(1)
@pytest.mark.timing
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("number", range(1, RECORDS + 1))
def test_killed_at_any_record_it_goes_on_where_it_was(tmp_path: Path, moment: str, number: int) -> None:
    with ModelServer(forever=healthy) as server:
        ended = killed(tmp_path, server.url, moment, number)
        recorded = [read_line(line) for line in LogFile(tmp_path / "log").lines()]
        paid = sum(record is not None and record["kind"] == "answer" for record in recorded)
        before = len(server.requests)
        said = resumed(tmp_path, server.url)

    assert (ended, said) == (-signal.SIGKILL, "the end")
    assert len(server.requests) - before == 4 - paid
    assert before - paid <= 1
    assert (tmp_path / "effects").read_text().splitlines() in (["one", "two"], ["two"], ["one"])
    once = (tmp_path / "effects").read_text().splitlines()
    assert len(set(once)) == len(once)


def test_what_was_interrupted_is_told_to_the_model_and_not_done_again() -> None:
    log, seen = Lines(), []
    run(agent_of(look(seen, repeatable=False)), Scripted(call("look"), text("done")), log=log)
    assert [json.loads(line[13:])["kind"] for line in log.all] == ["start", "answer", "call", "result", "answer"]

    again = Scripted(text("done"))
    run(agent_of(look(seen, repeatable=False)), again, log=Lines(log.all[:3]))

    assert seen == [""]
    assert UNKNOWN in again.requests[0].messages[-1].content


def test_what_may_be_repeated_is_repeated() -> None:
    log, seen = Lines(), []
    run(agent_of(look(seen)), Scripted(call("look"), text("done")), log=log)

    run(agent_of(look(seen)), Scripted(text("done")), log=Lines(log.all[:2]))

    assert seen == ["", ""]


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_line_that_was_not_written_whole_was_never_written(tmp_path: Path, cut: int) -> None:
    log = LogFile(tmp_path / "log")
    run(agent_of(look([])), Scripted(call("look"), text("done")), log=log)
    content = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(content[:-cut])

    result = run(agent_of(look([])), Scripted(text("again")), log=log)

    assert result.text == "again"
    assert len(log.lines()) == 4


def test_a_conversation_that_has_ended_is_told_without_asking_anybody() -> None:
    log = Lines()
    first = run(agent_of(look([])), Scripted(call("look"), text("done")), log=log)

    assert run(agent_of(look([])), Scripted(), log=log) == first


def test_listeners_hear_only_what_is_new() -> None:
    log = Lines()
    run(agent_of(look([])), Scripted(call("look"), call("look", '{"at": "b"}'), text("done")), log=log)
    bus = EventBus()
    told = heard(bus, AFTER_TOOL_CALL)

    run(agent_of(look([])), Scripted(text("done")), log=Lines(log.all[:4]), bus=bus)

    assert len(told) == 1


def test_another_conversation_does_not_take_up_a_transcript() -> None:
    log = Lines()
    run(agent_of(), Scripted(text("done")), log=log)

    with pytest.raises(UsageError, match="agent was 'Jarvis' and is now 'Other'"):
        run(agent_of(name="Other"), Scripted(), log=log)
    with pytest.raises(UsageError, match="does not match the conversation"):
        run(agent_of(), Scripted(), log=log, task="Something else.")


def test_an_upload_is_not_repeated() -> None:
    class Files:
        count = 0

        def upload(self, text: str) -> bool:
            self.count += 1
            return True

    files, log = Files(), Lines()
    for platform in (Scripted(call("look"), text("done")), Scripted()):
        agent = agent_of(look([]), limits=AgentLimits(compact_rounds=1))
        world = AgentWorld(platform, agent.tools, Transcript(log, {}), files=files)
        assert drive(run_task(agent, "Do it."), world).text == "done"

    assert files.count == 1


def test_the_asyncio_driver_records_and_takes_up_the_same(tmp_path: Path) -> None:
    effects, log = tmp_path / "effects", LogFile(tmp_path / "log")
    for platform in (Scripted(call("do", '{"at": "x"}'), text("done")), Scripted()):
        agent = agent_of(do(effects))
        world = AgentWorld(platform, agent.tools, Transcript(log, {}))
        assert asyncio.run(drive_async(run_task(agent, "Do it."), world)).text == "done"

    assert effects.read_text() == "x\n"
    assert [json.loads(line[13:])["kind"] for line in log.lines()] == ["start", "answer", "call", "result", "answer"]


def test_a_call_that_is_recorded_last_is_not_run_again_when_taken_up() -> None:
    first, second = Lines(), Lines()
    run(agent_of(look([], repeatable=False)), Scripted(call("look"), text("done")), log=first)
    second.all = first.all[:3]

    run(agent_of(look([], repeatable=False)), Scripted(text("one")), log=second)

    assert run(agent_of(look([], repeatable=False)), Scripted(), log=second).text == "one"
