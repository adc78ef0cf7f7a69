"""Conversations of a process over a real store and a real server: what they keep, and what can go wrong with it."""

import asyncio
import gc
import json
import os
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.runtime import ANSWER, AgentRuntime
from jarvis_workers.agents.conversations.task_job import TaskWork
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.transcript import read_line
from jarvis_workers.assistant.task.converse import converse
from jarvis_workers.assistant.task.task_options import TaskOptions
from jarvis_workers.errors import StepFailed
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store import runs, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit
from tests.agents.loop.server import FAULTS, Body, ModelServer, Step, calls, says
from tests.store.arrange import taken_up, talking

LOOKS, ENDS = calls("read_code", path="a.c"), says("the end")
HALF_A_PAIR = "\ud800 half"
MOST_TOKENS = 1_000_000_000
OWN_TOOL = """
class Own:
    name, description, parameters = "own", "Do.", {}
    def execute(self, arguments):
        return "done"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without tools of its user's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def snapshot(tmp_path: Path, blobs: DirectoryBlobs) -> str:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("int a;\n")
    return pack(tmp_path / "tree", Selection(None), blobs).id


Open = Callable[[ModelServer], AgentRuntime]


@pytest.fixture
def open_talks(tmp_path: Path, store_url: str, open_stores: Callable[..., Store]) -> Iterator[Open]:
    """Open what the conversations of a process share, with one server as their model."""
    opened: list[AgentRuntime] = []

    def open_one(server: ModelServer) -> AgentRuntime:
        group = ModelGroup(model="m", base_url=server.url, profile="openai")
        means = AgentSetup(Providers({}), {"local": group}, tmp_path / "sources")
        opened.append(AgentRuntime(open_stores(store_url, durable=True, connections=3), means))
        return opened[-1]

    yield open_one
    for shared in opened:
        shared.close()


def work(store: Store, job: Claimed, snapshot: str, *, task: str = "Look.", **limits: int) -> TaskWork[TaskOptions]:
    """What a conversation is to do, from where it is."""
    with store.read() as session:
        told = transcripts.lines(session, job.id)
    options = TaskOptions(task=task, model_group="local", agent_limits=replace(AgentLimits(), **limits))
    return TaskWork(job, options, "about", snapshot, told)


def said(commit: Commit) -> dict[str, object]:
    found: dict[str, object] = json.loads(dict(commit.artifacts)[ANSWER])
    return found


def kinds(store: Store, job: Claimed) -> list[str]:
    with store.read() as session:
        return [record["kind"] for record in map(read_line, transcripts.lines(session, job.id)) if record]


def test_answers_lines_and_what_they_took_are_in_the_store(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str
) -> None:
    job = talking(store)
    with ModelServer(LOOKS, ENDS) as server:
        commit = asyncio.run(converse(work(store, job, snapshot), blobs, open_talks(server)))

    assert (said(commit)["state"], said(commit)["text"], commit.not_checked) == ("done", "the end", ())
    assert kinds(store, job) == ["start", "answer", "result", "answer"]
    with store.read() as session:
        taken = transcripts.total(session, job.run_id)
    assert (taken.calls, taken.remembered, taken.prompt, taken.completion) == (2, 0, 200, 40)


def test_a_conversation_that_is_taken_up_asks_only_what_is_not_recorded(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str
) -> None:
    job = talking(store)
    with ModelServer(LOOKS, FAULTS["401"], ENDS) as server:
        shared = open_talks(server)
        first = asyncio.run(converse(work(store, job, snapshot), blobs, shared))
        again = asyncio.run(converse(work(store, taken_up(store, job), snapshot), blobs, shared))

    assert (said(first)["stopped"] is None, said(again)["text"]) == (False, "the end")
    assert len(server.requests) == 3


def test_answers_that_could_not_be_used_are_forgotten_and_those_before_a_limit_are_not(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str
) -> None:
    unknown = calls("no_such_tool")
    with ModelServer(LOOKS, *[unknown] * 3, LOOKS, ENDS) as server:
        shared = open_talks(server)
        jobs = [talking(store) for _ in range(4)]
        limits: list[dict[str, int]] = [{}, {"tokens": 100}, {}, {}]
        commits = [
            asyncio.run(converse(work(store, job, snapshot, **limit), blobs, shared))
            for job, limit in zip(jobs, limits, strict=True)
        ]

    stops = [json.dumps(said(commit)["stopped"]) for commit in commits]
    assert ["malformed" in stops[0], "tokens" in stops[1], *stops[2:]] == [True, True, "null", "null"]
    assert len(server.requests) == 6
    assert kinds(store, jobs[0]) == ["start", "answer", "result", *["answer"] * 3]


@pytest.mark.parametrize(
    "hostile",
    [
        Step(content=HALF_A_PAIR, extra={"reasoning_content": HALF_A_PAIR}),
        Step(content=HALF_A_PAIR, usage={"prompt_tokens": 10**30, "completion_tokens": 10**30, "total_tokens": 0}),
    ],
)
def test_an_answer_that_no_store_can_take_as_it_is_is_kept_all_the_same(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str, hostile: Step
) -> None:
    job, other = talking(store), talking(store)
    with ModelServer(hostile) as server:
        shared = open_talks(server)
        commit = asyncio.run(converse(work(store, job, snapshot), blobs, shared))
        again = asyncio.run(converse(work(store, other, snapshot), blobs, shared))

    assert said(commit)["text"] == said(again)["text"] == HALF_A_PAIR
    assert len(server.requests) == 1
    with store.read() as session:
        assert transcripts.total(session, job.run_id).prompt in (100, MOST_TOKENS)


@pytest.mark.timing
def test_a_run_that_was_removed_takes_nobody_elses_lines_along(store: Store, open_talks: Open) -> None:
    gone, there = talking(store), talking(store)
    with store.write() as session:
        runs.finish(session, gone.run_id, "cancelled")
        assert runs.remove(session, gone.run_id)
    with ModelServer() as server:
        journal = open_talks(server).records.journal

        async def append() -> None:
            for job in (gone, there):
                journal.append(transcripts.TranscriptLine(job.id, job.fence, 0, b"one"))
            await journal.wait()

        asyncio.run(append())

    with store.read() as session:
        assert [transcripts.lines(session, job.id) for job in (gone, there)] == [[], [b"one"]]


def test_with_other_tools_a_conversation_begins_again(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str, home: Path
) -> None:
    job = talking(store)
    with ModelServer(LOOKS, FAULTS["401"], says("anew")) as server:
        shared = open_talks(server)
        asyncio.run(converse(work(store, job, snapshot), blobs, shared))
        add_own_tool(home)
        anew = asyncio.run(converse(work(store, taken_up(store, job), snapshot), blobs, shared))

    assert said(anew)["text"] == "anew"
    assert "own" in json.dumps(server.requests[2]["tools"])
    assert kinds(store, job) == ["start", "answer"]


def test_it_does_not_begin_again_where_something_could_be_done_twice(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str, home: Path
) -> None:
    job, tool = talking(store), add_own_tool(home)
    with ModelServer(calls("own"), FAULTS["401"]) as server:
        shared = open_talks(server)
        asyncio.run(converse(work(store, job, snapshot), blobs, shared))
        tool.unlink()
        with pytest.raises(StepFailed, match="a tool has run that must not run twice"):
            asyncio.run(converse(work(store, taken_up(store, job), snapshot), blobs, shared))


def add_own_tool(home: Path) -> Path:
    place = home / ".jarvis" / "tools" / "own.py"
    place.parent.mkdir(parents=True)
    place.write_text(OWN_TOOL)
    return place


def test_a_script_that_cannot_be_run_is_told_to_the_model(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str
) -> None:
    before = set(psutil.Process().children())
    with ModelServer(calls("execute_script", script_content="ls"), ENDS) as server:
        shared = open_talks(server)
        for starter in set(psutil.Process().children()) - before:
            starter.kill()
        commit = asyncio.run(converse(work(store, talking(store), snapshot), blobs, shared))

    assert said(commit)["text"] == "the end"
    assert "[error]" in server.requests[1]["messages"][-1]["content"]


def test_scripts_read_the_sources_and_cannot_change_them(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str, home: Path
) -> None:
    script = calls("execute_script", script_content="cat a.c; echo x > a.c; echo x > b.c; rm -f a.c; ls")
    with ModelServer(script, ENDS) as server:
        asyncio.run(converse(work(store, talking(store), snapshot), blobs, open_talks(server)))

    seen = server.requests[1]["messages"][-1]["content"]
    assert "int a;" in seen
    assert "b.c\n" not in seen
    assert os.listdir(home / "sources" / snapshot) == ["a.c"]  # noqa: PTH208
    assert (home / "sources" / snapshot / "a.c").read_text() == "int a;\n"


@pytest.mark.slow
@pytest.mark.sample(1)
def test_ten_conversations_outlast_storms_of_too_many_requests(
    store: Store, open_talks: Open, blobs: DirectoryBlobs, snapshot: str
) -> None:
    storms, seen = {*range(1, 11), 30}, {"requests": 0, "refused": 0}

    def step(request: Body) -> Step:
        seen["requests"] += 1
        if seen["requests"] in storms:
            seen["refused"] += 1
            return FAULTS["429"]
        rounds = sum(message["role"] == "assistant" for message in request["messages"])
        return says("the end") if rounds == 3 else calls("search_code", pattern=f"word{rounds}")

    with ModelServer(forever=step) as server:
        shared = open_talks(server)
        all_of_them = [
            converse(work(store, talking(store), snapshot, task=f"Task {number}.", retries=20), blobs, shared)
            for number in range(10)
        ]

        async def together() -> list[Commit]:
            return await asyncio.gather(*all_of_them)

        commits = asyncio.run(together())

    assert [said(commit)["text"] for commit in commits] == ["the end"] * 10
    assert seen["refused"] == len(storms)
    assert seen["requests"] - seen["refused"] == 40


def test_a_group_that_is_not_here_is_named_with_those_that_are(store: Store, open_talks: Open) -> None:
    with (
        ModelServer() as server,
        pytest.raises(StepFailed, match='no model group "fast"; available: local'),
        open_talks(server).open(talking(store), "fast", "about"),
    ):
        pass


def test_what_a_conversation_held_is_free_as_soon_as_it_is_over(store: Store, open_talks: Open) -> None:
    gc.disable()
    try:
        with ModelServer() as server, open_talks(server).open(talking(store), "local", "about") as talk:
            held = weakref.ref(talk.platform)
        assert held() is None
    finally:
        gc.enable()
