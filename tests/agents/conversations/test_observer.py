"""An observer is told of what a conversation does: once, and without any text of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.agents.conversations.observer import (
    JobExecution,
    ObservedCall,
    ObservedTools,
    Observer,
    Observers,
    ToolExecution,
    observe_throttling,
)
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.conversations.task_job import TaskWork
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.assistant.task.converse import converse
from jarvis_workers.assistant.task.task_options import TaskOptions
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.models.ratelimit.gate import in_process
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed
from tests.agents.loop.arrange import look
from tests.agents.loop.server import ModelServer, calls, fails, says
from tests.store.arrange import talking

THROTTLED = fails(429, retry_after="0.01")


class Recorder(Observer):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def job_ended(self, execution: JobExecution) -> None:
        self.seen.append(execution)

    def conversation_opened(self, job: Claimed) -> None:
        self.seen.append(("opened", job.id))

    def conversation_closed(self, job: Claimed) -> None:
        self.seen.append(("closed", job.id))

    def model_called(self, call: ObservedCall) -> None:
        self.seen.append(call)

    def throttled(self, model: str) -> None:
        self.seen.append(("throttled", model))

    def tool_called(self, execution: ToolExecution) -> None:
        self.seen.append(execution)


@pytest.fixture
def store(sqlite_url: str, open_stores: Callable[..., Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("HOME", str(tmp_path))
    return open_stores(sqlite_url, durable=True)


@pytest.fixture
def snapshot(tmp_path: Path, blobs: DirectoryBlobs) -> str:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("int a;\n")
    return pack(tmp_path / "tree", Selection(None), blobs).id


def talk(
    store: Store,
    blobs: DirectoryBlobs,
    snapshot: str,
    server: ModelServer,
    observer: Observer,
    *,
    task: str = "Look.",
) -> Claimed:
    """Let a job converse, and return it."""
    group = ModelGroup(model="m", base_url=server.url, profile="openai")
    providers = Providers({}, limiter=observe_throttling(in_process, observer))
    shared = AgentRuntime(store, AgentSetup(providers, {"local": group}, blobs.root, observer=observer))
    job = talking(store)
    options = TaskOptions(task=task, model_group="local", agent_limits=AgentLimits())
    try:
        asyncio.run(converse(TaskWork(job, options, "about", snapshot, []), blobs, shared))
    finally:
        shared.close()
    return job


def test_calls_tools_and_refusals_are_told_in_order(store: Store, blobs: DirectoryBlobs, snapshot: str) -> None:
    recorder = Recorder()
    with ModelServer(THROTTLED, calls("read_code", path="a.c"), says("the end")) as server:
        job = talk(store, blobs, snapshot, server, Observers([recorder, Observer()]))

    opened, refused, first, tool, second, closed = recorder.seen
    assert (opened, refused, closed) == (("opened", job.id), ("throttled", "m"), ("closed", job.id))
    assert isinstance(tool, ToolExecution)
    assert (tool.tool, tool.state, tool.job.id) == ("read_code", "done", job.id)
    for call, finish in ((first, "tool_calls"), (second, "stop")):
        assert isinstance(call, ObservedCall)
        assert (call.outcome, call.model, call.finish, call.usage.prompt) == ("answered", "m", finish, 100)


def test_cached_answers_and_failures_are_told_apart(store: Store, blobs: DirectoryBlobs, snapshot: str) -> None:
    first, again, refused = Recorder(), Recorder(), Recorder()
    with ModelServer(says("the end")) as server:
        talk(store, blobs, snapshot, server, first)
        talk(store, blobs, snapshot, server, again)
    with ModelServer(fails(401)) as server:
        talk(store, blobs, snapshot, server, refused, task="Look again.")

    outcomes = [call.outcome for one in (first, again, refused) for call in one.seen if isinstance(call, ObservedCall)]
    assert outcomes == ["answered", "cached", "failed"]


def test_a_call_that_is_repeated_for_its_effect_is_not_told_again() -> None:
    seen: list[str] = []
    job = Claimed(1, "r", "converse", "converse", "agent", 1, "a task", "{}", 0, 0)
    tools = ObservedTools(Toolbox([look(seen)]), job, recorder := Recorder())

    outcomes = tools.run("look", {"at": "x"}), tools.repeat("look", {"at": "x"})

    assert outcomes[0] == outcomes[1]
    assert (seen, len(recorder.seen)) == (["x", "x"], 1)
