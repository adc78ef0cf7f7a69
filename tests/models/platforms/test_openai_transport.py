"""The openai library as a wire: one client a process and address, keys by request, no tries of its own."""

import ast
import asyncio
import importlib.util
import inspect
import time
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from jarvis_workers.errors import BrokenAnswer, ModelUnavailable
from jarvis_workers.models.platforms import registry
from jarvis_workers.models.platforms.apis import decode
from jarvis_workers.models.platforms.profiles import PROFILES, Prices
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, ToolCall, ToolSpec
from jarvis_workers.models.platforms.registry import Clients, Compatible, Sdk, Terms
from jarvis_workers.models.platforms.transport import RequestRefused, Unreachable
from jarvis_workers.models.ratelimit.gate import LocalLimiter
from tests.agents.loop.arrange import ask, send
from tests.agents.loop.server import ModelServer, fails, hangs, late, never_ends, repeats_headers, says
from tests.support.servers import missing

HERE = "http://there/v1"
BODY = b'{"model":"m","messages":[{"role":"user","content":"hello"}]}'

# What is read of an error, and what the kernel takes meanwhile.
ENOUGH_BYTES = 24 << 20


@pytest.fixture(autouse=True)
def openai_is_there() -> None:
    """Without the library there is nothing to test."""
    if importlib.util.find_spec("openai") is None:
        missing("openai")


@pytest.fixture
def clients() -> Iterator[Clients]:
    """The clients of this process."""
    yield Clients()


def sdk(clients: Clients, server: ModelServer, key: str = "key") -> Sdk:
    return Sdk(clients, server.url, key=key, max_connections=10)


def test_keys_go_with_the_request_and_the_client_is_shared(clients: Clients) -> None:
    with ModelServer(says("a"), says("b"), says("c")) as server:
        for key in ("one", "two", "three"):
            send(sdk(clients, server, key), BODY, 30)

        assert [headers["authorization"] for headers in server.headers] == ["Bearer one", "Bearer two", "Bearer three"]


@pytest.mark.parametrize(("api", "sent"), [("chat", "Bearer one"), ("messages", None)])
def test_keys_of_the_environment_are_not_sent(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, api: str, sent: str | None
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "another")
    with ModelServer(says("a")) as server:
        send(Sdk(clients, server.url, key="one", max_connections=10, api=api), BODY, 30)

        assert server.headers[0].get("authorization") == sent


def test_names_of_the_library_are_public() -> None:
    tree = ast.parse(inspect.getsource(registry))
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in attributes if ast.unparse(node.value) == "openai"}

    assert used <= set(importlib.import_module("openai").__all__)
    foreign = (node.attr for node in attributes if ast.unparse(node.value) != "self")
    assert [name for name in foreign if name.startswith("_") and not name.endswith("__")] == []
    assert "DefaultAioHttpClient" in used


def test_each_loop_has_its_own_client(clients: Clients) -> None:
    async def client() -> object:
        one, again = await clients.of_loop(HERE, 10), await clients.of_loop(HERE, 10)
        assert one is again
        assert await clients.of_loop("http://other/v1", 10) is not one
        return one

    assert asyncio.run(client()) is not asyncio.run(client())


def test_the_client_of_a_loop_is_closed_when_the_loop_ends(clients: Clients) -> None:
    async def client() -> Any:
        found = await clients.of_loop(HERE, 10)
        assert not found.is_closed()
        return found

    assert asyncio.run(client()).is_closed()


def test_the_library_does_not_try_again_by_itself(clients: Clients) -> None:
    with ModelServer(fails(500), fails(429, retry_after="7")) as server:
        with pytest.raises(RequestRefused) as first:
            send(sdk(clients, server), BODY, 30)
        with pytest.raises(RequestRefused) as second:
            send(sdk(clients, server), BODY, 30)

    assert (first.value.status, first.value.again) == (500, None)
    assert (second.value.status, second.value.again) == (429, 7)


def test_a_redirect_takes_neither_key_nor_question_to_another_server(clients: Clients) -> None:
    with ModelServer() as other, ModelServer(fails(307, location=f"{other.url}/chat/completions")) as server:
        with pytest.raises(RequestRefused) as refused:
            send(sdk(clients, server), BODY, 30)
        assert (refused.value.status, other.requests) == (307, [])


@pytest.mark.timing
def test_a_server_that_hangs_is_left_in_time(clients: Clients) -> None:
    began = time.monotonic()
    with ModelServer(forever=lambda _: hangs()) as server, pytest.raises(Unreachable):
        send(sdk(clients, server), BODY, 0.3)

    # It would hang for ever; the library may have to be imported first, beside others.
    assert time.monotonic() - began < 30


def test_where_nobody_listens_that_is_what_is_told(clients: Clients) -> None:
    wire = Sdk(clients, "http://127.0.0.1:9/v1", key="key", max_connections=10)

    with pytest.raises(Unreachable, match="Connect call failed"):
        send(wire, BODY, 30)


def test_what_the_library_does_not_know_arrives_all_the_same(clients: Clients) -> None:
    request = ModelRequest(
        (
            Message("user", "hello"),
            Message("assistant", "", (ToolCall("c", "look", "{}"),), reasoning="hm"),
            Message("tool", "seen", call_id="c"),
        ),
        tools=(ToolSpec("look", "Look.", {"type": "object", "properties": {}}),),
    )
    profile = PROFILES["deepseek"]
    with ModelServer(says("x")) as server:
        terms = Terms(profile, Prices())
        platform = Compatible("openai", "m", wire=sdk(clients, server), gate=LocalLimiter(5), terms=terms)
        ask(platform, request)

        assert server.requests[0]["messages"][1]["reasoning_content"] == "hm"


def test_time_runs_out_while_the_server_takes_its_own(clients: Clients) -> None:
    with ModelServer(forever=lambda _: late(1, says("x"))) as server:
        terms = Terms(PROFILES["openai"], Prices())
        platform = Compatible("openai", "m", wire=sdk(clients, server), gate=LocalLimiter(5), terms=terms)
        with pytest.raises(ModelUnavailable):
            ask(platform, ModelRequest((Message("user", "x"),), seconds=0.2))


def test_an_answer_that_does_not_end_is_left(clients: Clients) -> None:
    huge = says("x" * (17 << 20))
    with ModelServer(huge, says("after")) as server:
        wire = sdk(clients, server)
        with pytest.raises(Unreachable, match="larger than 16 MB"):
            send(wire, BODY, 30)
        assert decode(send(wire, BODY, 30)).content == "after"


def test_an_error_whose_body_never_ends_is_left_with_its_status(clients: Clients) -> None:
    with ModelServer(never_ends(500, retry_after="7"), says("after")) as server:
        wire = sdk(clients, server)
        with pytest.raises(RequestRefused) as error:
            send(wire, BODY, 30)
        assert (error.value.status, error.value.again) == (500, 7.0)
        assert decode(send(wire, BODY, 30)).content == "after"
        assert server.sent < ENOUGH_BYTES


SECRET = "my/very+own=key"


@pytest.mark.parametrize("status", [401, 500])
def test_what_a_server_says_is_told_without_the_key(clients: Clients, status: int) -> None:
    with ModelServer(repeats_headers(status)) as server:
        with pytest.raises(RequestRefused) as error:
            send(sdk(clients, server, SECRET), BODY, 30)
        told = "".join(traceback.format_exception(error.value))

    assert SECRET not in told, told
    assert "sent: " in told


def test_a_key_in_an_answer_is_taken_out(clients: Clients) -> None:
    content = f"you are {SECRET}"
    with ModelServer(says(content)) as server:
        assert decode(send(sdk(clients, server, SECRET), BODY, 30)).content == "you are ***"


def test_a_word_too_short_to_be_a_secret_stays(clients: Clients) -> None:
    with ModelServer(says("there is none")) as server:
        assert decode(send(sdk(clients, server, "none"), BODY, 30)).content == "there is none"


def test_what_looks_like_a_key_is_not_quoted() -> None:
    for text in ("<p>Bearer abcdefgh</p>", "no such key: sk-abc_defg-h1"):
        with pytest.raises(BrokenAnswer, match=r"\*\*\*") as error:
            decode(text.encode())
        assert "abc" not in str(error.value)
    with pytest.raises(BrokenAnswer, match="risk-assessment"):
        decode(b"risk-assessment")
