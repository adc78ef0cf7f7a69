"""The runtime of a dry run: requests are counted, none is sent, and the store of the answers stays as it is."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.agents.conversations.counting_runtime import CountingRuntime, FirstRequest, RequestCounts
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.runtime import JobConversation
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Definition
from jarvis_workers.agents.loop.limits import Reason
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import make_marks
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.protocol import Reply, record_of
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.models.platforms.request import RequestWriter
from jarvis_workers.sec.judge.cost_model import first_request
from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import StoredAnswer
from tests.store.arrange import talking

TASKS = ("Look.", "Look again.")


@pytest.fixture
def answers(sqlite_url: str, open_stores: Callable[..., Store]) -> Store:
    """The store of a user."""
    return open_stores(sqlite_url)


@pytest.fixture
def setup(tmp_path: Path) -> AgentSetup:
    group = ModelGroup(model="m", base_url="http://127.0.0.1:9/v1", profile="openai")
    return AgentSetup(Providers({}), {"local": group}, tmp_path / "sources")


@pytest.fixture
def scratch(tmp_path: Path, sqlite_template: Path, open_stores: Callable[..., Store]) -> Callable[[], Store]:
    place = tmp_path / "scratch.db"
    place.write_bytes(sqlite_template.read_bytes())
    return lambda: open_stores(f"sqlite:///{place}")


def agent_of(talk: JobConversation) -> Agent:
    return Agent(Definition("Be careful."), Toolbox(), profile=talk.platform.profile, marks=talk.marks)


def count(
    answers: Store, scratch: Callable[[], Store], setup: AgentSetup, *ended: str
) -> tuple[str, list[FirstRequest]]:
    """Lead a conversation of two tasks without a model; return what stopped it, and the requests."""
    counts = RequestCounts()
    runtime = CountingRuntime(scratch(), answers, setup, counts, ended)

    async def converse(talk: JobConversation, agent: Agent) -> None:
        for task in TASKS:
            await talk.lead(run_task(agent, task), agent, {})
        await talk.forget()

    try:
        with runtime.open(talking(scratch()), "local", "about") as talk, pytest.raises(AgentStopped) as stop:
            asyncio.run(converse(talk, agent_of(talk)))
    finally:
        runtime.close()
    return stop.value.reason, counts.of_stage("scan")


def cache_first_answer(answers: Store, setup: AgentSetup) -> None:
    """Cache the answer to the request of the first task in a store."""
    with answers.write() as session:
        marks = make_marks(transcripts.secret(session), "about")
    profile = setup.groups["local"].quirks
    request = first_request(
        run_task(Agent(Definition("Be careful."), Toolbox(), profile=profile, marks=marks), TASKS[0])
    )
    assert request
    text = json.dumps(record_of(Reply("There.", model="m", finish="stop")))
    with answers.write() as session:
        transcripts.save(session, [StoredAnswer(RequestWriter("m", profile).write(request).key, text)])


def test_a_request_is_counted_and_ends_the_conversation_unsent(
    answers: Store, scratch: Callable[[], Store], setup: AgentSetup
) -> None:
    stopped, (request,) = count(answers, scratch, setup)

    assert (stopped, request.is_cached) == (Reason.UNAVAILABLE, False)
    assert request.tokens > len(TASKS[0])


def test_cached_answers_lead_to_the_first_request_without_one(
    answers: Store, scratch: Callable[[], Store], setup: AgentSetup
) -> None:
    """Unless the stage ends with its first request; and no answer is forgotten."""
    _, (first,) = count(answers, scratch, setup)
    cache_first_answer(answers, setup)

    for _ in range(2):
        _, (second,) = count(answers, scratch, setup)
        assert not second.is_cached
        assert second.tokens > first.tokens
    assert count(answers, scratch, setup, "scan") == (
        Reason.UNAVAILABLE,
        [FirstRequest(first.tokens, is_cached=True)],
    )
