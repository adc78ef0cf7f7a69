"""MCP servers in real processes: their tools, what they answer, and how they fail."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_workers import extras
from jarvis_workers.agents.mcp_client.servers import McpServers, open_servers
from jarvis_workers.agents.tools.tool import BadCall, Tool, Toolbox, ToolOutcome
from jarvis_workers.settings.mcp_servers import McpServer
from tests.agents.loop.arrange import look
from tests.agents.mcp_client.running import has_ended, raw, serve

pytest.importorskip("mcp")

ACT, TEXT = "raw.tool_call.act", {"text": "x"}
MEMORY_MB = 60


@pytest.fixture(scope="module", params=["stdio", "sse", "streamable", "json"])
def box(request: pytest.FixtureRequest) -> Iterator[Toolbox]:
    """The tools of one server for each transport."""
    messages: list[str] = []
    with serve(request.param) as server, open_servers([server], messages.append) as tools:
        assert messages == []
        yield Toolbox(tools)


def opened(server: McpServer, name: str = ACT) -> ToolOutcome:
    """Return the outcome of one call of one server."""
    with open_servers([server], print) as tools:
        return Toolbox(tools).run(name, TEXT)


@pytest.mark.slow
def test_tools_and_resources_have_the_name_of_their_server(box: Toolbox) -> None:
    assert box.names == (
        *("sdk.tool_call.echo", "sdk.tool_call.fail", "sdk.tool_call.die", "sdk.tool_call.large"),
        *("sdk.resource.get_resource_list", "sdk.resource.get_resource"),
    )
    echo = box.find("sdk.tool_call.echo")
    assert (echo.description, echo.brings_foreign, echo.repeatable) == ("Repeat a text.", True, False)


@pytest.mark.slow
def test_a_call_returns_what_the_server_answers(box: Toolbox) -> None:
    assert box.run("sdk.tool_call.echo", {"text": "hello"}) == ToolOutcome(stdout="echo: hello")
    failure = box.run("sdk.tool_call.fail", {})
    assert failure == ToolOutcome("failed", stderr="Error executing tool fail: the disk is full")


@pytest.mark.slow
def test_resources_are_listed_and_read_by_their_uri(box: Toolbox) -> None:
    listing = box.run("sdk.resource.get_resource_list", {})
    unknown = box.run("sdk.resource.get_resource", {"uri": "memo://two"})

    assert listing.stdout == "memo://one (text/plain): memo The only memo."
    assert box.run("sdk.resource.get_resource", {"uri": "memo://one"}).stdout == "remember the milk"
    assert (unknown.state, unknown.stderr) == ("error", 'MCP server "sdk": Unknown resource: memo://two')


@pytest.mark.slow
def test_arguments_are_checked_before_the_server_gets_them(box: Toolbox) -> None:
    for arguments, says in (("{}", "text is missing"), ('{"text": 1}', "text should be of type string")):
        with pytest.raises(BadCall, match=says):
            box.read("sdk.tool_call.echo", arguments)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "sse", "streamable", "json"])
def test_an_answer_of_100_mb_is_an_error_and_takes_little_memory(transport: str) -> None:
    with serve(transport) as server, open_servers([server], print) as tools:
        before = peak_after_reset()
        outcome = Toolbox(tools).run("sdk.tool_call.large", {})

    assert outcome.state == "error"
    assert "more than 8 MB" in outcome.stderr or "exceeded the" in outcome.stderr
    assert peak_mb() - before < MEMORY_MB


def peak_after_reset() -> float:
    """Reset the peak of this process's memory, and return it in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_mb()


def peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "sse", "streamable", "json"])
def test_a_server_that_dies_in_the_middle_fails_its_calls_and_no_others(transport: str) -> None:
    with serve(transport) as server, open_servers([server, raw()], print) as tools:
        dying, later = (Toolbox(tools).run(f"sdk.tool_call.{name}", TEXT) for name in ("die", "echo"))
        other = Toolbox(tools).run(ACT, TEXT)

    assert [one.state for one in (dying, later, other)] == ["error", "error", "done"]
    assert all(one.stderr.startswith('MCP server "sdk": ') and "\n" not in one.stderr for one in (dying, later))


@pytest.mark.slow
def test_servers_that_do_not_start_are_told_in_one_line_each_and_the_others_go_on() -> None:
    messages: list[str] = []
    servers = [
        McpServer(name="missing", type="stdio", command="/no/such/program"),
        raw("does not start", name="dead"),
        raw("silent", name="silent", start_seconds=0.2),
        McpServer(name="away", type="streamable", base_url="http://127.0.0.1:1/mcp"),
        McpServer(name="off", type="sse", base_url="http://127.0.0.1:1/sse"),
        raw(),
    ]
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}/mcp"
        servers.append(McpServer(name="mute", type="streamable", base_url=url, start_seconds=0.2))
        servers.append(McpServer(name="still", type="sse", base_url=url, start_seconds=0.2))
        with open_servers(servers, messages.append) as tools:
            assert Toolbox(tools).run(ACT, TEXT).success

    assert messages == [
        'MCP server "missing" does not start: /no/such/program: No such file or directory',
        'MCP server "dead" does not start: cannot find the database',
        'MCP server "silent" does not start: it did not answer in time',
        'MCP server "away" does not start: All connection attempts failed',
        'MCP server "off" does not start: All connection attempts failed',
        'MCP server "mute" does not start: it did not answer in time',
        'MCP server "still" does not start: it did not answer in time',
    ]


def test_a_call_without_an_answer_ends_at_its_limit() -> None:
    outcome = opened(raw("hangs", call_seconds=0.2))

    assert outcome == ToolOutcome("error", stderr='MCP server "raw": it did not answer in time')


def test_a_message_that_is_too_long_ends_the_connection() -> None:
    assert opened(raw("large")).stderr == 'MCP server "raw": it sent a message of more than 8 MB'


def test_the_tools_are_those_of_the_start_and_calls_of_vanished_ones_fail() -> None:
    with open_servers([raw("changes")], print) as tools:
        box = Toolbox(tools)
        first, second = box.run(ACT, TEXT), box.run(ACT, TEXT)

    assert first.success
    assert second == ToolOutcome("error", stderr='MCP server "raw": Unknown tool: act')


def test_a_server_gets_no_variables_but_those_of_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "JARVIS_STORE_URL", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")
    variables = json.loads(opened(raw(env={"TOKEN": "t"})).stdout)["environment"]

    assert {"TOKEN", "PATH"} <= set(variables)
    assert {name for name in variables if "KEY" in name or name.startswith("JARVIS_")} == set()


def test_no_tool_of_a_server_replaces_one_of_this_program() -> None:
    messages: list[str] = []
    seen: list[str] = []
    with open_servers([raw("odd names")], messages.append) as tools:
        box = Toolbox([look(seen, name="read_code"), *tools])
        box.run("read_code", {"at": "a.c"})

    assert seen == ["a.c"]
    assert box.names == ("read_code", "raw.tool_call.read_code", f"raw.tool_call.{'t' * 100}", "raw.tool_call.twice")
    rule = "its name should be 1 to 128 letters, digits, _, - or ."
    faults = (("'a b'", rule), ("'n\\\\n# System'", rule), ("'twice'", "its name occurs twice"))
    assert messages == [f'MCP server "raw": the tool {name} is left out: {fault}' for name, fault in faults]


def test_schemas_that_cannot_be_passed_on_are_left_out() -> None:
    messages: list[str] = []
    with open_servers([raw("odd schemas")], messages.append) as tools:
        names = [tool.name.rpartition(".")[2] for tool in tools]
        read = tools[0].read({"a": [1], "b": None})

    assert (names, read) == (["open", "talks"], {"a": [1], "b": None})
    assert [message.partition("left out: ")[2] for message in messages] == [
        "its schema is longer than 20000 characters",
        "its schema has a key that is no name",
    ]
    assert len(tools[1].description) == 2000


@pytest.mark.slow
def test_closing_ends_pending_calls_and_a_server_that_ignores_it(tmp_path: Path) -> None:
    running = McpServers([raw("stubborn", str(tmp_path / "pids"))], print)
    (act, _) = running.open()
    outcomes: list[ToolOutcome] = []
    caller = threading.Thread(target=lambda: outcomes.append(Toolbox([act]).run(ACT, TEXT)))
    caller.start()
    running.close()
    caller.join()
    running.join()

    assert outcomes[0].state == "error"
    assert all(has_ended(int(pid)) for pid in (tmp_path / "pids").read_text().split())
    assert opened_after(act).stderr == 'MCP server "raw": the conversation has ended'


def opened_after(act: Tool) -> ToolOutcome:
    return Toolbox([act]).run(ACT, TEXT)


def test_servers_that_are_closed_before_they_are_open_do_not_start(tmp_path: Path) -> None:
    running = McpServers([raw("stubborn", str(tmp_path / "pids"))], print)
    running.close()

    assert running.open() == []
    assert not (tmp_path / "pids").exists()


def test_closing_while_servers_start_does_not_wait_for_them() -> None:
    running = McpServers([raw("silent", start_seconds=60)], print)
    opening = threading.Thread(target=running.open)
    began, threads = time.monotonic(), mcp_threads()
    opening.start()
    running.close()
    opening.join()
    running.join()

    assert time.monotonic() - began < 30
    assert mcp_threads() == threads


def mcp_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "mcp"]


def test_without_the_extra_the_servers_are_left_out_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    monkeypatch.setitem(extras.MODULES, "assistant", ("no_such_module",))
    with open_servers([raw()], messages.append) as tools:
        assert tools == []

    (message,) = messages
    assert message.startswith("the MCP servers are not used: MCP needs no_such_module, which is not installed; ")


def test_without_servers_nothing_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    threads = mcp_threads()
    with open_servers([], print) as tools:
        assert tools == []
        assert mcp_threads() == threads


def test_a_server_whose_list_does_not_end_is_told_and_not_used() -> None:
    messages: list[str] = []
    with open_servers([raw("endless pages")], messages.append) as tools:
        assert tools == []

    assert len(messages) == 1 and "it lists more than 10 pages" in messages[0]
