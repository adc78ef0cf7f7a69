"""When a conversation is summed up, and what it is after that; and that until then it only grows."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import make_marks
from jarvis_workers.models.platforms.answer_cache import CachedPlatform
from jarvis_workers.models.platforms.profiles import PROFILES, Profile
from jarvis_workers.models.platforms.protocol import ModelRequest, Reply, TokenUsage
from jarvis_workers.models.platforms.request import RequestWriter
from tests.agents.loop.arrange import (
    MARKS,
    NATIVE,
    TEXT,
    Kept,
    Scripted,
    agent_of,
    call,
    drive,
    look,
    platform_of,
    run,
    text,
)
from tests.agents.loop.server import ModelServer, calls, says

ROUNDS = 12
FREE = AgentLimits(tool_calls=1_000, rounds=1_000)


def looks(count: int, reasoning: str | None = None, prompt: int = 0) -> list[Reply]:
    """Calls that are all different; the server reports so many tokens of each request."""
    used = TokenUsage(prompt, 20)
    return [call("look", f'{{"at": "{number}"}}', reasoning=reasoning, usage=used) for number in range(count)]


def summarized(limits: AgentLimits, count: int, profile: Profile = NATIVE, says: str = "x") -> tuple[Agent, Scripted]:
    """Let an agent look so often; the one request for a summary is answered."""
    agent = agent_of(look([], lambda _: says), profile=profile, limits=limits)
    platform = Scripted(*looks(count), text("What is known."), text("done"))
    run(agent, platform)
    return agent, platform


def bodies(requests: Sequence[ModelRequest], profile: Profile) -> list[str]:
    """What is sent, without the end, which is the same for all."""
    return [RequestWriter("m", profile).write(request).body.decode().rpartition("],")[0] for request in requests]


def test_after_twenty_rounds_a_summary_takes_the_place_of_what_was_said() -> None:
    agent, platform = summarized(FREE, 20)

    asked, after = platform.requests[20], platform.requests[21]
    assert agent.compactions == 1
    assert "about to be cleared" in asked.messages[-1].content
    assert [message.role for message in after.messages] == ["system", "user"]
    assert after.messages[0] == platform.requests[0].messages[0]
    assert after.messages[1].content.startswith(f"{agent_of().opening}\n\nDo it.")
    assert f"{MARKS.line}What is known." in after.messages[1].content
    assert after.tools == asked.tools == platform.requests[0].tools


def test_after_fifty_messages_it_is_summed_up() -> None:
    agent, _ = summarized(AgentLimits(tool_calls=99, rounds=99, compact_rounds=99), 25)

    assert agent.compactions == 1


def test_at_four_fifths_of_the_window_it_is_summed_up() -> None:
    narrow = NATIVE.model_copy(update={"context": 1_000})

    agent, _ = summarized(FREE, 4, narrow, says="word " * 180)

    assert agent.compactions == 1
    assert agent.session.tokens < 800


def test_what_the_server_reports_corrects_the_estimate() -> None:
    narrow = NATIVE.model_copy(update={"context": 4_000})
    agent = agent_of(look([], lambda _: "word " * 180), profile=narrow, limits=FREE)

    run(agent, Scripted(*looks(5, prompt=3_000), text("What is known."), text("done")))

    assert agent.compactions == 1


@pytest.mark.parametrize("profile", [NATIVE, TEXT])
def test_a_call_instead_of_a_summary_is_refused_once(profile: Profile) -> None:
    agent = agent_of(look([]), profile=profile, limits=FREE)
    start, end = f"<TOOL_CALL {MARKS.nonce}>", f"</TOOL_CALL {MARKS.nonce}>"
    asks = [f'{{"name": "look", "arguments": {{"at": "{number}"}}}}' for number in range(21)]
    answers = looks(21) if profile is NATIVE else [text(f"I look.\n{start}\n{ask}\n{end}") for ask in asks]
    platform = Scripted(*answers, text("What is known."), text("done"))

    assert run(agent, platform).compactions == 1
    asked, again, after = platform.requests[20:]
    assert "it contains a tool call" in again.messages[-1].content
    assert again.messages[-1].content.startswith(asked.messages[-1].content)
    assert (again.messages[:-1], again.tools) == (asked.messages[:-1], asked.tools)
    assert f"{MARKS.line}What is known." in after.messages[1].content


@pytest.mark.parametrize("answer", [text(""), text("x", finish="length"), call("look", '{"at": "21"}')])
def test_a_summary_that_does_not_come_leaves_an_excerpt_of_the_history(answer: Reply) -> None:
    agent = agent_of(look([], lambda _: "p is null in a.c:7" + " x" * 200), limits=FREE)
    platform = Scripted(*looks(20), answer, answer, text("done"))

    assert run(agent, platform).compactions == 1
    (_, after) = platform.requests[-1].messages
    assert "there is no summary; this is an excerpt" in after.content
    assert f"{MARKS.line}tool: " in after.content and "a.c:7" in after.content
    assert after.content.count("Do it.") == 1
    assert len(after.content) < 30_000


class Files:
    """A place for files that takes them, or does not."""

    def __init__(self, *, works: bool) -> None:
        self.kept, self.works = "", works

    def upload(self, text: str) -> bool:
        self.kept = text
        return self.works


def test_where_files_are_kept_the_conversation_goes_there() -> None:
    files, agent = Files(works=True), agent_of(look([]), limits=FREE)
    platform = Scripted(*looks(20), text("done"))

    drive(run_task(agent, "Do it."), AgentWorld(platform, agent.tools, files=files))

    assert f"## user\n{agent_of().opening}\n\nDo it." in files.kept
    assert "the uploaded file contains it" in platform.requests[-1].messages[1].content


def test_an_upload_that_fails_leaves_a_summary() -> None:
    agent = agent_of(look([]), limits=FREE)
    platform = Scripted(*looks(20), text("What is known."), text("done"))

    drive(run_task(agent, "Do it."), AgentWorld(platform, agent.tools, files=Files(works=False)))

    assert agent.compactions == 1
    assert f"{MARKS.line}What is known." in platform.requests[-1].messages[1].content


def test_what_was_forgotten_may_be_looked_at_again() -> None:
    agent = agent_of(look([]), limits=AgentLimits(tool_calls=99, compact_rounds=2))
    platform = Scripted(
        call("look"), call("look"), text("known"), call("look"), call("look"), text("known"), text("done")
    )

    assert run(agent, platform).tools == {"look": 4}


def test_a_compaction_is_no_sliding_window() -> None:
    agent = agent_of(look([]), limits=FREE)
    platform = Scripted(*looks(20), text("known"), *looks(20), text("known, and more"), text("done"))

    result = run(agent, platform)

    lengths = [len(request.messages) for request in platform.requests]
    assert result.compactions == 2
    assert [place for place in range(1, len(lengths)) if lengths[place] < lengths[place - 1]] == [21, 42]


@pytest.mark.parametrize("profile", [NATIVE, TEXT, PROFILES["openai"], PROFILES["vllm"]])
def test_each_request_begins_with_the_one_before_byte_for_byte(profile: Profile) -> None:
    agent = agent_of(look([]), profile=profile, limits=FREE, need_summary=True)
    if profile is TEXT:
        start, end = f"<TOOL_CALL {MARKS.nonce}>", f"</TOOL_CALL {MARKS.nonce}>"
        replies = [text(f'{start}\n{{"name": "look", "arguments": {{"at": "{at}"}}}}\n{end}') for at in range(ROUNDS)]
    else:
        replies = looks(ROUNDS, reasoning="I wonder.")
    platform = Scripted(*replies, text(""), text("done"), text("summary"))

    run(agent, platform)

    sent = bodies(platform.requests, profile)
    assert len(sent) == ROUNDS + 3
    for before, after in pairwise(sent):
        assert after.startswith(before)


def test_thoughts_of_an_earlier_turn_are_cleared_where_the_profile_says_so() -> None:
    def sent(profile: Profile) -> list[str]:
        agent = agent_of(look([]), profile=profile)
        platform = Scripted(*looks(1, "old thought"), text("one"), *looks(1, "new thought"), text("two"))
        run(agent, platform)
        run(agent, platform, task="Again.")
        return bodies(platform.requests[-1:], profile)

    [none], [turn], [every] = (sent(NATIVE.model_copy(update={"reasoning": way})) for way in ("none", "turn", "all"))

    assert ("old thought" in none, "new thought" in none) == (False, False)
    assert ("old thought" in turn, "new thought" in turn) == (False, True)
    assert ("old thought" in every, "new thought" in every) == (True, True)
    assert '"reasoning_content"' in turn


def test_the_same_conversation_again_asks_the_server_nothing() -> None:
    answers = Kept()
    steps = [calls("look", at=str(number)) for number in range(ROUNDS)]
    with ModelServer(*steps, says("done")) as server:
        results = []
        for _ in range(2):
            platform = CachedPlatform(platform_of(server.url), answers)
            results.append(run(agent_of(look([]), limits=FREE), platform))
        asked = len(server.requests)

    assert asked == ROUNDS + 1
    assert results[0].text == results[1].text == "done"
    assert results[1].cost == 0


def test_what_differs_between_conversations_is_in_the_first_message_and_not_in_the_system_prompt() -> None:
    one, other = Scripted(text("done")), Scripted(text("done"))
    run(agent_of(), one)
    run(agent_of(marks=make_marks(b"secret", "another")), other)

    (first, *ours), (second, *theirs) = (platform.requests[0].messages for platform in (one, other))
    assert first == second
    assert ours != theirs
    assert MARKS.line in ours[0].content
    assert MARKS.canary in ours[0].content
