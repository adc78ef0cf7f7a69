"""Servers that speak chat.completions: what is sent to each, what is read back, what it costs."""

import json
from dataclasses import replace
from typing import Any

import pytest

from jarvis_workers.errors import BrokenAnswer, ModelRefused, ModelUnavailable
from jarvis_workers.models.platforms.apis import APIS, decode
from jarvis_workers.models.platforms.costs import cost_of
from jarvis_workers.models.platforms.profiles import PROFILES, Prices, Profile, profile_for
from jarvis_workers.models.platforms.protocol import (
    PER_MESSAGE,
    Message,
    ModelRequest,
    Reply,
    TokenUsage,
    ToolCall,
    ToolSpec,
    estimate,
    estimate_request,
)
from jarvis_workers.models.platforms.registry import Compatible, Terms
from jarvis_workers.models.platforms.request import RequestWriter
from jarvis_workers.models.platforms.transport import RequestRefused, seconds_to_wait
from jarvis_workers.models.ratelimit.gate import LocalLimiter
from jarvis_workers.models.ratelimit.token_calibration import Calibration
from tests.agents.loop.arrange import ask, platform_of, slot
from tests.agents.loop.server import ModelServer, Step, fails, late, says

TOOLS = (ToolSpec("look", "Look.", {"type": "object", "properties": {}}),)
ASKED = ModelRequest(
    (
        Message("system", "Be careful."),
        Message("user", "Look."),
        Message("assistant", "", (ToolCall("c1", "look", "{}"),), reasoning="I should."),
        Message("tool", "seen", call_id="c1"),
    ),
    tools=TOOLS,
    schema={"type": "object"},
    turn=1,
)
ONE = ModelRequest((Message("user", "hello"),), seconds=5)


CHAT = [name for name, profile in PROFILES.items() if profile.api == "chat"]


@pytest.mark.parametrize("name", CHAT)
def test_what_each_profile_sends(name: str) -> None:
    profile = PROFILES[name]
    body = sent(ASKED, profile)

    assert list(body)[:3] == (
        ["model", "tools", "parallel_tool_calls"] if profile.parallel_switch else ["model", "tools", "messages"]
    )
    assert body[profile.max_tokens_field] == profile.answer_tokens
    assert ("temperature" in body, "seed" in body) == (profile.temperature is not None, profile.seed)
    assert body["messages"][3] == {"role": "tool", "content": "seen", "tool_call_id": "c1"}
    assert (profile.reasoning_field in body["messages"][2]) == (profile.reasoning != "none")
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


@pytest.mark.parametrize("reads_only", [True, False])
def test_parallel_calls_are_asked_for_only_if_a_tool_only_reads(*, reads_only: bool) -> None:
    request = replace(ASKED, tools=(*TOOLS, replace(TOOLS[0], name="read", reads_only=reads_only)))

    assert sent(request, PROFILES["openai"])["parallel_tool_calls"] == reads_only


def sent(request: ModelRequest, profile: Profile) -> dict[str, Any]:
    """What a server of this profile reads."""
    found: dict[str, Any] = json.loads(RequestWriter("m", profile).write(request).body)
    return found


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://api.anthropic.com", "anthropic"),
        ("https://api.deepseek.com", "deepseek"),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen"),
        ("https://open.bigmodel.cn/api/paas/v4", "glm"),
        ("https://api.moonshot.cn/v1", "kimi"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://127.0.0.1:8000/v1", "vllm"),
        ("http://localhost:8080", "llama.cpp"),
        ("http://localhost:1234", "generic"),
        ("https://models.example.com:8000/v1", "generic"),
        ("http://[bad", "generic"),
    ],
)
def test_an_address_has_a_likely_profile(address: str, name: str) -> None:
    assert profile_for(address) == name


def test_every_vote_is_a_request_of_its_own() -> None:
    vllm, deepseek = PROFILES["vllm"], PROFILES["deepseek"]
    votes = [ModelRequest(ASKED.messages, vote=vote) for vote in (0, 1)]
    keys = [RequestWriter("m", profile).write(vote).key for profile in (vllm, deepseek) for vote in votes]

    assert len({*keys, RequestWriter("n", vllm).write(votes[0]).key}) == 5
    assert sent(ModelRequest(ASKED.messages, vote=3), vllm)["seed"] == 10


@pytest.mark.parametrize("name", PROFILES)
def test_what_is_written_does_not_depend_on_what_was_written_before(name: str) -> None:
    profile, said = PROFILES[name], ASKED.messages
    requests = [
        ModelRequest(said[:2], TOOLS, turn=1),
        ModelRequest(said, TOOLS, turn=1),
        ModelRequest((*said, Message("user", "Sum up.")), TOOLS, turn=1),
        ModelRequest((*said, Message("user", "More.")), TOOLS, turn=4),
        ModelRequest((said[0], Message("user", "Go on.")), TOOLS, turn=1, vote=2),
        ModelRequest(said[:1]),
        ASKED,
    ]
    writer = RequestWriter("m", profile)

    assert [writer.write(request) for request in requests] == [
        RequestWriter("m", profile).write(one) for one in requests
    ]


def test_half_a_surrogate_pair_can_be_sent() -> None:
    body = sent(ModelRequest((Message("user", "a\udc80b"),)), PROFILES["generic"])

    assert body["messages"][0]["content"] == "a?b"


def answer(**about: Any) -> bytes:
    choice = {
        "message": {"content": "hello", **about.pop("message", {})},
        "finish_reason": "stop",
        **about.pop("choice", {}),
    }
    return json.dumps({"choices": [choice], **about}).encode()


def test_an_answer_is_read_with_all_that_it_brings() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    reply = decode(answer(message={"reasoning_content": "hm"}, usage=usage, model="m-1"))

    assert reply == Reply("hello", reasoning="hm", finish="stop", usage=TokenUsage(10, 5, 8, 3), model="m-1")
    assert decode(answer(message={"reasoning": "hm"})).reasoning == "hm"
    assert decode(answer(usage={"prompt_tokens": 9, "prompt_cache_hit_tokens": 4})).usage == TokenUsage(9, 0, 4)
    assert decode(answer(message={"content": [{"type": "text", "text": "a"}, {"text": "b"}, 3]})).content == "ab"


def test_what_is_missing_is_missing_in_the_reply() -> None:
    reply = decode(answer(message={"content": None}, choice={"finish_reason": None}, usage=None))

    assert (reply.content, reply.finish, reply.usage, reply.is_whole) == ("", None, TokenUsage(), False)


def test_calls_are_read_as_they_were_written() -> None:
    def made(*functions: Any) -> tuple[ToolCall, ...]:
        return decode(answer(message={"tool_calls": [{"id": None, "function": one} for one in functions]})).calls

    assert made({"name": "look", "arguments": "{not json"}) == (ToolCall("call_0", "look", "{not json"),)
    assert made({"name": "look", "arguments": {"a": 1}}, {"name": "b"}) == (
        ToolCall("call_0", "look", '{"a": 1}'),
        ToolCall("call_1", "b", "null"),
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"choices": []}',
        b'{"choices": {}}',
        b'{"choices": [3]}',
        b'{"choices": [{"message": "hello"}]}',
        b'{"choices": [{"message": {"tool_calls": {}}}]}',
        b'{"choices": [{"message": {"tool_calls": [1]}}]}',
        b'{"error": {"message": "overloaded"}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_what_is_no_answer_is_broken(body: bytes, api: str) -> None:
    with pytest.raises(BrokenAnswer):
        decode(body, api)


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("messages", b'{"type": "error", "error": {"message": "overloaded"}}'),
        ("messages", b'{"content": "text"}'),
        ("messages", b'{"content": [3]}'),
        ("responses", b'{"status": "failed", "error": {"message": "overloaded"}, "output": []}'),
        ("responses", b'{"output": [3]}'),
        ("responses", b'{"output": [{"type": "message", "content": "text"}]}'),
    ],
)
def test_what_is_no_answer_of_its_api_is_broken(api: str, body: bytes) -> None:
    with pytest.raises(BrokenAnswer):
        decode(body, api)


def test_a_reply_knows_its_cost() -> None:
    with ModelServer(says("hello")) as server:
        reply = ask(platform_of(server.url, prices=Prices(input=2, output=10)), ONE)

    assert reply.cost == pytest.approx((100 * 2 + 20 * 10) / 1e6)
    assert reply.model == "scripted"
    assert cost_of(TokenUsage(100, 10, 60), Prices(input=10, cached=1, output=20)) == pytest.approx(660 / 1e6)
    assert cost_of(TokenUsage(100, 10, 60), Prices(input=0)) == 0.0
    assert cost_of(TokenUsage(100, 10, 60), Prices()) is None
    assert cost_of(TokenUsage(100, 10, 60), Prices(input=10)) == pytest.approx(0.001)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])
def test_a_refusal_is_no_reason_to_retry(status: int) -> None:
    with ModelServer(fails(status)) as server, pytest.raises(ModelRefused, match=f"responded with {status}"):
        ask(platform_of(server.url), ONE)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_temporary_error_is_a_reason_to_retry(status: int) -> None:
    with ModelServer(fails(status, retry_after="0"), says("hello")) as server:
        reply = ask(platform_of(server.url), ONE)

    assert (reply.content, reply.tries) == ("hello", 2)


def test_retry_ends_after_the_allowed_number() -> None:
    with (
        ModelServer(*[fails(500, retry_after="0")] * 3) as server,
        pytest.raises(ModelUnavailable, match="asked 3 times"),
    ):
        ask(platform_of(server.url), ModelRequest(ONE.messages, seconds=60, retries=2))


def test_no_retry_begins_without_time_for_its_answer() -> None:
    with ModelServer(fails(429, retry_after="3600")) as server, pytest.raises(ModelUnavailable, match="429"):
        ask(platform_of(server.url), ONE)


def test_retry_after_of_a_server_is_waited_for() -> None:
    with ModelServer(fails(429, retry_after_ms="300"), says("hello")) as server:
        reply = ask(platform_of(server.url), ONE)

    assert 0.3 <= reply.seconds < 60


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_to_wait(headers) == seconds


def test_a_request_without_a_slot_ends_by_timeout() -> None:
    gate = LocalLimiter(1)
    with ModelServer() as server, slot(gate, 1):
        platform = Compatible("openai", "m", wire=_never(), gate=gate, terms=Terms(PROFILES["openai"], Prices()))
        with pytest.raises(ModelUnavailable, match="too many concurrent requests"):
            ask(platform, ModelRequest(ONE.messages, seconds=0.1))
        assert server.requests == []


def _never() -> Any:
    class Never:
        async def send_async(self, body: bytes, seconds: float, on_line: object = None) -> bytes:
            raise RequestRefused(500, "never")

    return Never()


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": -900, "completion_tokens": -5}, {"prompt_tokens": "many"}])
def test_tokens_that_a_server_does_not_report_are_estimated(usage: dict[str, Any]) -> None:
    with ModelServer(says("an answer of some words", usage=usage)) as server:
        platform = platform_of(server.url, prices=Prices(input=1.0, output=2.0))
        reply = ask(platform, ONE)

    assert reply.usage == TokenUsage(estimate_request(ONE), PER_MESSAGE + estimate("an answer of some words"))
    assert reply.cost == (reply.usage.prompt + 2 * reply.usage.completion) / 1_000_000 > 0


def test_the_scripted_server_fails_a_step_that_is_not_used() -> None:
    with pytest.raises(AssertionError, match="1 steps were not used"), ModelServer(says("never")):
        pass


def test_the_scripted_server_fails_a_request_too_many_and_one_not_expected() -> None:
    with pytest.raises(AssertionError, match="one too many"), ModelServer() as server, pytest.raises(ModelRefused):
        ask(platform_of(server.url), ONE)
    picky = says("x").expecting(lambda body: body["model"] == "other")
    with pytest.raises(AssertionError, match="not what was expected"), ModelServer(picky) as server:
        ask(platform_of(server.url), ONE)


def test_a_late_answer_is_an_answer() -> None:
    with ModelServer(late(0.3, says("hello"))) as server:
        assert ask(platform_of(server.url), ONE).seconds >= 0.3


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("static int copy_header(const char *src, size_t len) {", 13),
        ("    return memcpy(dst, src, sizeof(*dst));\n", 13),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("检查长度是否超过缓冲区的大小", 14),
        ("0x7fffffff 1234567890", 10),
    ],
)
def test_tokens_are_estimated_within_a_third(text: str, tokens: int) -> None:
    assert 0.66 * tokens <= estimate(text) <= 1.5 * tokens


def test_a_megabyte_is_estimated_fast_and_in_proportion() -> None:
    text = "int x = 1;\n" * 100

    assert estimate(text * 10) == pytest.approx(10 * estimate(text), rel=0.01)
    assert estimate("") == 0


def test_reports_correct_the_estimate() -> None:
    learned = Calibration()
    for _ in range(20):
        learned = learned.learn(1_000, 1_500)

    assert learned.tokens(100) == pytest.approx(150, abs=2)
    assert learned.learn(10, 1_000) == learned.learn(1_000, 0) == learned
    assert Calibration().learn(1_000, 10**9).ratio < 2


def test_steps_may_bring_what_servers_bring() -> None:
    with ModelServer(Step("hello", extra={"reasoning_content": "hm"})) as server:
        assert ask(platform_of(server.url), ONE).reasoning == "hm"
