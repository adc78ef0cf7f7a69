"""Answers are asked for once: kept by all that they depend on, recorded and played again."""

from pathlib import Path

import pytest

from jarvis_workers.errors import ModelUnavailable, UsageError
from jarvis_workers.models.platforms.answer_cache import AnswerFolder, CachedPlatform
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Reply, TokenUsage, ToolCall
from tests.agents.loop.arrange import Kept, Scripted, ask, call, text

ONE = ModelRequest((Message("user", "hello"),))
FULL = Reply(
    "hi", (ToolCall("c", "look", '{"at": "ü"}'),), "hm", "tool_calls", TokenUsage(1, 2, 3, 4), 0.5, 2.0, 2, "m"
)


def test_answer_cache_asks_nothing_twice() -> None:
    answers, platform = Kept(), Scripted(FULL)

    first = ask(CachedPlatform(platform, answers), ONE)
    second = ask(CachedPlatform(Scripted(), answers), ONE)

    assert first == FULL
    assert second == FULL.remembered()
    assert (second.cost, second.seconds, second.tries, second.usage) == (0, 0, 0, TokenUsage(1, 2, 3, 4))


def test_what_follows_an_unknown_question_is_not_looked_up() -> None:
    answers = Kept()
    ask(CachedPlatform(Scripted(FULL), answers), ONE)
    new, platform = ModelRequest((Message("user", "new"),)), Scripted(text("a"), text("b"))

    remembering = CachedPlatform(platform, answers)
    said = [ask(remembering, new).content, ask(remembering, ONE).content]

    assert said == ["a", "b"]


def test_answer_cache_key_has_request_model_and_vote() -> None:
    answers = Kept()
    platform = Scripted(*[text("x")] * 4)

    for request in (ONE, ModelRequest((Message("user", "other"),)), ModelRequest(ONE.messages, vote=1), ONE):
        ask(CachedPlatform(platform, answers), request)
    platform.model = "another"
    ask(CachedPlatform(platform, answers), ONE)

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

    ask(CachedPlatform(Scripted(reply), answers), ONE)

    assert answers.all == {}


def test_a_conversation_is_recorded_to_a_folder_and_played_from_it(tmp_path: Path) -> None:
    folder = AnswerFolder(tmp_path / "records")
    ask(CachedPlatform(Scripted(FULL), folder), ONE)
    folder.put("x", "first")
    folder.put("x", "second")

    played = CachedPlatform(Scripted(), folder, offline=True)

    assert ask(played, ONE) == FULL.remembered()
    assert folder.find("x") == "first"
    with pytest.raises(ModelUnavailable, match="no recorded answer"):
        ask(played, ModelRequest((Message("user", "other"),)))


def test_a_record_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()

    with pytest.raises(UsageError, match="cannot be read"):
        AnswerFolder(tmp_path).find("x")
