"""Answers are asked for once: kept by all that they depend on, recorded and played again."""

import asyncio
from pathlib import Path

import pytest

from jarvis_workers.errors import ModelUnavailable, UsageError
from jarvis_workers.platforms.answer_cache import AnswerFolder, CachedPlatform
from jarvis_workers.platforms.protocol import Message, ModelRequest, Reply, TokenUsage, ToolCall
from tests.agents.arrange import Kept, Scripted, call, text

ONE = ModelRequest((Message("user", "hello"),))
FULL = Reply(
    "hi", (ToolCall("c", "look", '{"at": "ü"}'),), "hm", "tool_calls", TokenUsage(1, 2, 3, 4), 0.5, 2.0, 2, "m"
)


def test_answer_cache_asks_nothing_twice() -> None:
    answers, platform = Kept(), Scripted(FULL)

    first = CachedPlatform(platform, answers).ask(ONE)
    second = CachedPlatform(Scripted(), answers).ask(ONE)
    third = asyncio.run(CachedPlatform(Scripted(), answers).ask_async(ONE))

    assert first == FULL
    assert second == third == FULL.remembered()
    assert (second.cost, second.seconds, second.tries, second.usage) == (0, 0, 0, TokenUsage(1, 2, 3, 4))


def test_what_follows_an_unknown_question_is_not_looked_up() -> None:
    answers = Kept()
    CachedPlatform(Scripted(FULL), answers).ask(ONE)
    new, platform = ModelRequest((Message("user", "new"),)), Scripted(text("a"), text("b"))

    remembering = CachedPlatform(platform, answers)
    said = [remembering.ask(new).content, asyncio.run(remembering.ask_async(ONE)).content]

    assert said == ["a", "b"]


def test_who_listens_hears_what_is_remembered() -> None:
    answers, heard = Kept(), []
    CachedPlatform(Scripted(FULL), answers).ask(ONE)

    CachedPlatform(Scripted(), answers).ask(ONE, heard.append)

    assert heard == ["hi"]


def test_answer_cache_key_has_request_model_and_vote() -> None:
    answers = Kept()
    platform = Scripted(*[text("x")] * 4)

    for request in (ONE, ModelRequest((Message("user", "other"),)), ModelRequest(ONE.messages, vote=1), ONE):
        CachedPlatform(platform, answers).ask(request)
    platform.model = "another"
    asyncio.run(CachedPlatform(platform, answers).ask_async(ONE))

    assert len(platform.requests) == 4


@pytest.mark.parametrize(
    "reply",
    [
        text("cut", finish="length"),
        text("no end", finish=None),
        text(" "),
        call("look", "{"),
        call("look", "[]"),
        call("look", "[" * 9_999),
    ],
)
def test_what_is_not_whole_is_not_remembered(reply: Reply) -> None:
    answers = Kept()

    CachedPlatform(Scripted(reply), answers).ask(ONE)

    assert answers.all == {}


def test_a_conversation_is_recorded_to_a_folder_and_played_from_it(tmp_path: Path) -> None:
    folder = AnswerFolder(tmp_path / "records")
    CachedPlatform(Scripted(FULL), folder).ask(ONE)
    folder.put("x", "first")
    folder.put("x", "second")

    played = CachedPlatform(Scripted(), folder, offline=True)

    assert played.ask(ONE) == FULL.remembered()
    assert folder.find("x") == "first"
    with pytest.raises(ModelUnavailable, match="no recorded answer"):
        played.ask(ModelRequest((Message("user", "other"),)))


def test_a_record_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()

    with pytest.raises(UsageError, match="cannot be read"):
        AnswerFolder(tmp_path).find("x")
