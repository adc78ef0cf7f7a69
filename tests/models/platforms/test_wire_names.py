"""Names of tools towards a provider: short, without dots, and different for different tools."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.protocol import (
    ALLOWED,
    Message,
    ModelRequest,
    ToolCall,
    ToolSpec,
    own_names,
    wire_name,
)
from jarvis_workers.models.platforms.request import RequestWriter
from tests.agents.loop.arrange import NATIVE, TEXT, Scripted, agent_of, look, platform_of, run, text
from tests.agents.loop.server import ModelServer, calls, says

LONG = f"files.tool_call.{'t' * 80}"
NAMES = st.text(alphabet="ab_.-", min_size=1, max_size=12) | st.text(min_size=1, max_size=80)


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("read_code", "read_code"),
        ("my__tool", "my__tool_"),
        ("a.b", "a__b"),
        ("a__b", "a__b_"),
        ("files.tool_call.read", "files__tool_call__read"),
        ("files.resource.get_resource", "files__resource__get_resource"),
        (LONG, f"files__tool_call__{'t' * 37}_"),
        ("a.tool_call.b__c", "a__tool_call__b__c_"),
    ],
)
def test_dots_become_two_underscores_and_the_rest_a_hash(name: str, wire: str) -> None:
    assert wire_name(name) == wire or (wire.endswith("_") and wire_name(name)[:-8] == wire)


@settings(max_examples=30, deadline=None)
@given(st.sets(NAMES, max_size=8))
def test_names_are_allowed_different_and_found_again(names: set[str]) -> None:
    wires = {wire_name(name) for name in names}
    tools = [ToolSpec(name, "", {}) for name in names]
    found = own_names([ToolCall("1", wire_name(name), "{}") for name in names], tools)

    assert len(wires) == len(names)
    assert all(map(ALLOWED.fullmatch, wires))
    assert {one.name for one in found} == names


def test_a_name_that_no_tool_has_stays_as_it_is() -> None:
    assert own_names([ToolCall("1", "a__b", "{}")], [ToolSpec("c", "", {})]) == (ToolCall("1", "a__b", "{}"),)


def test_a_request_has_the_names_of_the_provider_in_tools_and_in_calls() -> None:
    asks = ModelRequest(
        (Message("user", "go"), Message("assistant", "", (ToolCall("1", LONG, "{}"),))), (ToolSpec(LONG, "", {}),)
    )
    body: dict[str, Any] = json.loads(RequestWriter("m", Profile()).write(asks).body)

    names = body["tools"][0]["function"]["name"], body["messages"][1]["tool_calls"][0]["function"]["name"]
    assert names == (wire_name(LONG), wire_name(LONG))


def test_a_native_call_of_the_provider_s_name_runs_the_tool() -> None:
    seen: list[str] = []
    with ModelServer(calls(wire_name(LONG), at="here"), says("done")) as server:
        agent = agent_of(look(seen, name=LONG), profile=NATIVE)
        result = run(agent, platform_of(server.url))

    assert (seen, dict(result.tools)) == (["here"], {LONG: 1})
    sent_back = server.requests[1]["messages"][2]["tool_calls"][0]["function"]["name"]
    assert sent_back == wire_name(LONG)


def test_a_text_call_has_the_name_with_dots() -> None:
    seen: list[str] = []
    agent = agent_of(look(seen, name=LONG), profile=TEXT)
    start, end = agent.call_tags or ("", "")
    block = f'{start}\n{{"name": "{LONG}", "arguments": {{"at": "here"}}}}\n{end}'
    run(agent, Scripted(text(block), text("done")))

    assert seen == ["here"]
    assert LONG in agent.session.messages[0].content
