"""Every profile against a server that speaks its dialect: tools, usage, rate limits, cut streams and refusals."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.loop.text_tool_call import tags
from jarvis_workers.errors import ModelRefused, ModelUnavailable
from jarvis_workers.models.platforms.answer_cache import AnswerFolder, CachedPlatform
from jarvis_workers.models.platforms.profiles import PROFILES, Prices
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Reply, TokenUsage
from tests.agents.loop.arrange import MARKS, agent_of, ask, look, platform_of, run
from tests.agents.loop.server import ModelServer, Step, calls, cuts, fails, repeats_headers, says

DIALECT_OF = {name: "filtered" for name in PROFILES} | {
    "openai": "openai",
    "openai-responses": "responses",
    "anthropic": "messages",
    "vllm": "vllm",
    "llama.cpp": "llama.cpp",
}
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
ONE = ModelRequest((Message("user", "hello"),), seconds=20, retries=1)
CACHED = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60}}
PRICES = Prices(input=10, cached=1, output=20)
THOUGHT = "It is in a.c."
SIGNED = {"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"}
HIDDEN = {"type": "redacted_thinking", "data": "aGlkZGVu"}
ENCRYPTED = {"type": "reasoning", "id": "rs_1", "encrypted_content": "bG9j", "summary": [{"text": THOUGHT}]}
EXTRA = {
    "anthropic": {"thinking": [SIGNED, HIDDEN]},
    "openai-responses": {"reasoning": [ENCRYPTED]},
    "vllm": {"reasoning": THOUGHT},
    "ollama": {"reasoning": THOUGHT},
}


def server_of(name: str, *steps: Step) -> ModelServer:
    return ModelServer(*steps, dialect=DIALECT_OF[name])


def with_thought(name: str, step: Step) -> Step:
    return replace(step, extra=EXTRA.get(name, {"reasoning_content": THOUGHT}))


def both(name: str, step: Step, **about: Any) -> list[Reply]:
    """Return an answer in one piece, and the same streamed, without times."""
    pieces: list[str | None] = []
    with server_of(name, step, step) as server:
        platform = platform_of(server.url, profile=PROFILES[name], **about)
        replies = [ask(platform, one) for one in (ONE, replace(ONE, on_text=pieces.append))]
    assert server.paths == [PATHS[PROFILES[name].api]] * 2
    if not replies[0].is_refused:
        assert "".join(piece or "" for piece in pieces) == replies[0].content
    return [replace(reply, seconds=0.0) for reply in replies]


@pytest.mark.parametrize("name", PROFILES)
def test_tools_are_called_and_their_results_sent_back(name: str) -> None:
    seen: list[str] = []
    start, end = tags(MARKS.nonce)
    written = f'{start}\n{{"name": "look", "arguments": {{"at": "a.c"}}}}\n{end}'
    first = says(written) if PROFILES[name].tools == "text" else with_thought(name, calls("look", at="a.c"))
    with server_of(name, first, says("done")) as server:
        result = run(agent_of(look(seen), profile=PROFILES[name]), platform_of(server.url, profile=PROFILES[name]))

    assert (result.text, seen, result.asks) == ("done", ["a.c"], 2)
    assert "A.C" in json.dumps(server.requests[1])
    keeps = PROFILES[name].reasoning != "none"
    assert (json.dumps(THOUGHT)[1:-1] in json.dumps(server.requests[1])) == keeps


@pytest.mark.parametrize("name", PROFILES)
def test_usage_is_read_and_cached_tokens_have_their_price(name: str) -> None:
    whole, streamed = both(name, with_thought(name, says("an answer", usage=CACHED)), prices=PRICES)

    assert whole.usage == TokenUsage(100, 20, 60)
    assert whole.cost == pytest.approx((40 * 10 + 60 * 1 + 20 * 20) / 1e6)
    assert (whole.content, whole.finish, whole.reasoning) == ("an answer", "stop", THOUGHT)
    if PROFILES[name].stream_usage or PROFILES[name].api != "chat":
        assert whole == streamed
    else:
        assert streamed.usage.total > 0 and streamed.content == whole.content


@pytest.mark.parametrize("name", PROFILES)
def test_a_429_is_retried(name: str) -> None:
    with server_of(name, fails(429, retry_after="0"), says("hello")) as server:
        reply = ask(platform_of(server.url, profile=PROFILES[name]), ONE)

    assert (reply.content, reply.tries) == ("hello", 2)


@pytest.mark.parametrize("name", PROFILES)
def test_a_cut_stream_is_no_answer(name: str) -> None:
    pieces: list[str | None] = []
    request = replace(ONE, retries=0, on_text=pieces.append)
    with server_of(name, cuts(), says("so far", finish="none"), says("so far", finish="length")) as server:
        platform = platform_of(server.url, profile=PROFILES[name])
        with pytest.raises(ModelUnavailable):
            ask(platform, request)
        endless, longer = ask(platform, request), ask(platform, request)

    assert pieces[0] == "half"
    assert (endless.content, endless.finish, endless.is_whole) == ("so far", None, False)
    assert (longer.content, longer.finish, longer.is_whole) == ("so far", "length", False)


@pytest.mark.parametrize("name", PROFILES)
def test_a_refusal_is_no_answer_and_is_not_cached(name: str, tmp_path: Path) -> None:
    refusal = says("I cannot help with that.", finish="refusal")
    whole, streamed = both(name, refusal)
    with server_of(name, refusal) as server:
        ask(CachedPlatform(platform_of(server.url, profile=PROFILES[name]), AnswerFolder(tmp_path)), ONE)

    assert whole.is_refused and streamed.is_refused and not whole.is_whole
    assert whole.content == "I cannot help with that."
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_is_said_to_the_model_and_runs_nothing() -> None:
    seen: list[str] = []
    agent = agent_of(look(seen))
    with ModelServer(replace(calls("look", at="a"), finish="content_filter"), says("done")) as server:
        assert run(agent, platform_of(server.url)).text == "done"

    assert seen == []
    assert "it is a refusal (content_filter)" in server.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(("name", "step"), [("anthropic", SIGNED), ("openai-responses", ENCRYPTED)])
def test_reasoning_is_sent_back_unchanged_within_a_turn_only(name: str, step: dict[str, Any]) -> None:
    agent = agent_of(look([]), profile=PROFILES[name])
    with server_of(name, *[with_thought(name, calls("look", at=at)) for at in "ab"], says("x"), says("y")) as server:
        platform = platform_of(server.url, profile=PROFILES[name])
        run(agent, platform)
        run(agent, platform, task="More.")

    sent = [json.dumps(request) for request in server.requests]
    kept = json.dumps({field: value for field, value in step.items() if field != "id"})
    assert [text.count(kept) for text in sent] == [0, 1, 2, 0]
    assert "rs_1" not in "".join(sent)


def test_anthropic_gets_blocks_and_marks_for_its_prompt_cache() -> None:
    profile = PROFILES["anthropic"]
    steps = [with_thought("anthropic", calls("look", at=at)) for at in "ab"]
    with server_of("anthropic", *steps, says("done")) as server:
        run(agent_of(look([]), profile=profile), platform_of(server.url, profile=profile))

    first, _, last = server.requests
    mark = {"type": "ephemeral"}
    assert [block["cache_control"] for block in first["system"]] == [mark]
    assert first["tools"][0]["input_schema"]["properties"]["at"]
    assert first["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert [message["role"] for message in last["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in last["messages"][1]["content"]] == ["thinking", "redacted_thinking", "tool_use"]
    assert last["messages"][1]["content"][2]["input"] == {"at": "a"}
    result = {"type": "tool_result", "tool_use_id": "toolu_1_0", "content": "B", "cache_control": mark}
    assert last["messages"][4]["content"] == [result]
    marked = [block for message in last["messages"] for block in message["content"] if "cache_control" in block]
    assert marked == [result]
    for one, other in pairwise(server.requests):
        unmarked = [json.loads(json.dumps(request["messages"])) for request in (one, other)]
        for message in (*unmarked[0], *unmarked[1]):
            message["content"][-1].pop("cache_control", None)
        assert unmarked[1][: len(unmarked[0])] == unmarked[0]


def test_tokens_written_to_a_prompt_cache_have_their_price() -> None:
    usage = {**CACHED, "cache_creation_input_tokens": 30}
    reply, _ = both("anthropic", says("x", usage=usage), prices=PRICES)
    dear, _ = both("anthropic", says("x", usage=usage), prices=Prices(input=10, cached=1, output=20, cache_write=100))

    assert reply.usage == TokenUsage(100, 20, 60, cache_writes=30)
    assert reply.cost == pytest.approx((10 * 10 + 60 * 1 + 30 * 12.5 + 20 * 20) / 1e6)
    assert dear.cost - reply.cost == pytest.approx(30 * 87.5 / 1e6)


def test_the_responses_api_stores_nothing_at_the_provider() -> None:
    profile = PROFILES["openai-responses"]
    with server_of("openai-responses", with_thought("openai-responses", calls("look", at="a")), says("x")) as server:
        run(agent_of(look([]), profile=profile), platform_of(server.url, profile=profile))

    body = server.requests[1]
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert body["tools"][0]["name"] == "look" and body["tools"][0]["strict"] is False
    kinds = [item.get("type") or item["role"] for item in body["input"]]
    assert kinds == ["system", "user", "reasoning", "function_call", "function_call_output"]
    assert body["input"][4] == {"type": "function_call_output", "call_id": "call_0_0", "output": "A"}


@pytest.mark.parametrize("name", ["openai", "openai-responses", "anthropic"])
def test_the_library_sends_each_api_its_own_key_header(name: str) -> None:
    with server_of(name, says("a"), repeats_headers(401)) as server:
        platform = platform_of(server.url, profile=PROFILES[name], wire="sdk")
        assert ask(platform, ONE).content == "a"
        with pytest.raises(ModelRefused, match="401"):
            ask(platform, ONE)

    sent = [(headers.get("authorization"), headers.get("x-api-key")) for headers in server.headers]
    assert sent == [(None, "key") if name == "anthropic" else ("Bearer key", None)] * 2
    assert server.headers[0].get("anthropic-version") == ("2023-06-01" if name == "anthropic" else None)
    assert server.paths == [PATHS[PROFILES[name].api]] * 2
