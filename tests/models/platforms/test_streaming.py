"""Streamed answers: the text while it arrives, and the same reply as in one piece, over real HTTP."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.errors import BrokenAnswer, ModelUnavailable
from jarvis_workers.models.platforms.answer_cache import AnswerFolder, CachedPlatform
from jarvis_workers.models.platforms.apis import AnswerStream
from jarvis_workers.models.platforms.profiles import PROFILES, Prices
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Reply
from jarvis_workers.models.platforms.request import RequestWriter, streamed
from tests.agents.loop.arrange import ask, platform_of
from tests.agents.loop.server import ModelServer, Step, cuts, fails, says

ONE = ModelRequest((Message("user", "hello"),), seconds=20, retries=1)
WIRES = ["plain", "sdk"]
STEPS = {
    "text": says("an answer of\n  some words \n"),
    "thoughts": says("yes", extra={"reasoning_content": "it is so"}),
    "call": Step(content="I look.", calls=(("look", '{"at": "a.c"}'),)),
    "calls": Step(content=None, calls=(("look", "{}"), ("see", '{"at": "b"}'))),
    "length": says("so far", finish="length"),
    "no end": says("so far", finish="none"),
}


def stream(server: ModelServer, request: ModelRequest = ONE, wire: str = "plain") -> tuple[Reply, list[str | None]]:
    """Ask for a streamed answer; return it with the pieces of its text."""
    pieces: list[str | None] = []
    platform = platform_of(server.url, wire=wire, prices=Prices(input=1.0, output=1.0))
    return ask(platform, replace(request, on_text=pieces.append)), pieces


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", STEPS)
def test_a_streamed_answer_equals_the_same_in_one_piece(name: str, wire: str) -> None:
    with ModelServer(STEPS[name], STEPS[name]) as server:
        whole = ask(platform_of(server.url, prices=Prices(input=1.0, output=1.0)), ONE)
        reply, pieces = stream(server, wire=wire)

    ids = [replace(call, id="") for call in reply.calls], [replace(call, id="") for call in whole.calls]
    assert ids[0] == ids[1] and all(call.id for call in reply.calls)
    assert replace(reply, calls=(), seconds=0.0) == replace(whole, calls=(), seconds=0.0)
    assert "".join(piece or "" for piece in pieces) == whole.content
    assert len(pieces) == len(whole.content.split()) + whole.content.endswith("\n")
    assert ["stream" in request for request in server.requests] == [False, True]


def test_a_stream_without_a_finish_is_a_truncated_answer() -> None:
    with ModelServer(STEPS["no end"]) as server:
        reply, _ = stream(server)

    assert (reply.content, reply.finish, reply.is_whole) == ("so far", None, False)


@pytest.mark.parametrize("wire", WIRES)
def test_a_cut_stream_is_asked_for_again_and_its_text_begins_again(wire: str) -> None:
    with ModelServer(cuts("one two three four"), says("five six")) as server:
        reply, pieces = stream(server, wire=wire)

    assert (reply.content, reply.tries) == ("five six", 2)
    assert pieces[:2] == ["one", " two"] and pieces[pieces.index(None) :] == [None, "five", " six"]


def test_a_stream_that_is_always_cut_is_an_unavailable_model() -> None:
    with ModelServer(cuts(), cuts()) as server, pytest.raises(ModelUnavailable, match="asked 2 times"):
        stream(server)


def test_an_error_before_the_stream_passes_no_text_on() -> None:
    with ModelServer(fails(500), says("yes")) as server:
        assert stream(server)[1] == ["yes"]


def test_usage_is_requested_only_from_servers_that_have_it() -> None:
    bodies = [
        json.loads(streamed(RequestWriter("m", PROFILES[name]).write(ONE).body, PROFILES[name]))
        for name in ("openai", "generic")
    ]

    assert [body.get("stream_options") for body in bodies] == [{"include_usage": True}, None]


def test_a_server_that_does_not_stream_is_understood() -> None:
    with ModelServer(Step(content="all at once", misbehaves="whole")) as server:
        reply, pieces = stream(server)

    assert (reply.content, pieces) == ("all at once", ["all at once"])


def test_streaming_is_no_part_of_a_request() -> None:
    writer = RequestWriter("m", PROFILES["openai"])

    assert replace(ONE, on_text=print) == ONE
    assert writer.write(replace(ONE, on_text=print)).key == RequestWriter("m", PROFILES["openai"]).write(ONE).key


def test_a_cached_answer_is_delivered_at_once(tmp_path: Path) -> None:
    pieces: list[str | None] = []
    with ModelServer(says("an answer")) as server:
        for _ in range(2):
            platform = CachedPlatform(platform_of(server.url), AnswerFolder(tmp_path))
            ask(platform, replace(ONE, on_text=pieces.append))

    assert pieces == ["an", " answer", "an answer"]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([b"data: {"], "is not JSON"),
        ([b"data: [1]"], "unexpected format"),
        ([b'data: {"choices": 1}'], "unexpected format"),
        ([b'data: {"error": {"message": "overloaded"}}'], "overloaded"),
        (
            [b'data: {"choices": [{"delta": {"tool_calls": [{"index": %d}]}}]}' % n for n in range(200)],
            "128 tool calls",
        ),
    ],
)
def test_a_stream_that_cannot_be_read_is_a_broken_answer(lines: list[bytes], problem: str) -> None:
    answer = AnswerStream(lambda _: None)
    with pytest.raises(BrokenAnswer, match=problem):
        for line in lines:
            answer.add(line)


@pytest.mark.parametrize(
    ("api", "line", "problem"),
    [
        ("chat", b'error: {"code":500,"message":"no memory"}', "no memory"),
        ("chat", b'data: {"object":"error","message":"too long","code":400}', "too long"),
        (
            "messages",
            b'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
            "Overloaded",
        ),
        ("messages", b'data: {"type":"content_block_start","content_block":3}', "unexpected format"),
        ("messages", b'data: {"type":"message_delta","delta":{},"usage":[1]}', "unexpected format"),
        ("responses", b'data: {"type":"error","code":"server_error","message":"oops"}', "oops"),
        ("responses", b'data: {"type":"response.output_item.done","item":"x"}', "unexpected format"),
    ],
)
def test_an_error_within_a_stream_is_a_broken_answer(api: str, line: bytes, problem: str) -> None:
    with pytest.raises(BrokenAnswer, match=problem):
        AnswerStream(lambda _: None, api).add(line)


@pytest.mark.parametrize(
    ("api", "event", "problem"),
    [
        ("messages", {"type": "content_block_start", "content_block": {"type": "text"}}, "512 content blocks"),
        ("responses", {"type": "response.output_item.done", "item": {"type": "message"}}, "512 items"),
    ],
)
def test_a_stream_has_a_bounded_number_of_parts(api: str, event: dict[str, object], problem: str) -> None:
    answer = AnswerStream(lambda _: None, api)
    with pytest.raises(BrokenAnswer, match=problem):
        for index in range(1000):
            answer.add(b"data: " + json.dumps({**event, "index": index}).encode())


def test_a_response_that_failed_is_a_broken_answer() -> None:
    answer = AnswerStream(lambda _: None, "responses")
    answer.add(b'data: {"type":"response.failed","response":{"status":"failed","error":{"message":"no capacity"}}}')

    with pytest.raises(BrokenAnswer, match="no capacity"):
        answer.read(b"")
