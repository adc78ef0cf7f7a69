"""`jarvis agent` with what a user has configured: MCP servers and a search endpoint."""

import json
import signal
import sys
import threading

import pytest

from jarvis_workers.toolchain.die_with_parent import is_running
from tests.agents.loop.server import ModelServer, Step, calls, hangs, says
from tests.agents.mcp_client.running import RAW, has_ended
from tests.agents.tools.test_web_search import RESULT, endpoint
from tests.cli.commands import Jarvis
from tests.support.settings_files import write_settings

pytest.importorskip("mcp")

ACT = calls("raw__tool_call__act", text="hello")
ENDS = says("It is done.")


def configure(jarvis: Jarvis, server: ModelServer, *ways: str, profile: str = "openai", **more: object) -> None:
    """Make the server the only model; start MCP servers called raw, raw1, ... that behave in these ways."""
    group = {"model": "m", "base_url": server.url, "profile": profile, "api_key": "k"}
    names = ["raw", *(f"raw{number}" for number in range(1, len(ways)))]
    servers = [
        {"name": name, "type": "stdio", "command": sys.executable, "args": [RAW, *way.split(":")]}
        for name, way in zip(names, ways, strict=False)
    ]
    content = {"models": {"local": group}, "mcp": servers, **more}
    write_settings(jarvis.place, content)
    jarvis.tree("src", {"a.c": "int f(char *p) { return *p; }\n"})


def names(request: dict[str, object]) -> list[str]:
    tools = request["tools"]
    assert isinstance(tools, list)
    return [tool["function"]["name"] for tool in tools]


def test_an_agent_calls_a_tool_of_a_server(jarvis: Jarvis) -> None:
    with ModelServer(ACT, ENDS) as server:
        configure(jarvis, server, "", "odd names")
        ended = jarvis("agent", "-T", "Act.", "-p", "src", "--format", "json")
    records = json.loads(jarvis("runs", "transcript", "last", "--json").out)

    first, second = server.requests
    assert {"read_code", "raw__tool_call__act", "raw1__tool_call__read_code"} <= set(names(first))
    assert max(map(len, names(first))) == 64
    assert second["messages"][-2]["tool_calls"][0]["function"]["name"] == "raw__tool_call__act"
    assert '{"name": "act", "arguments": {"text": "hello"}' in second["messages"][-1]["content"]
    answer = json.loads(ended.out)["answer"]
    assert (ended.code, answer["text"], answer["tools"]) == (0, "It is done.", {"raw.tool_call.act": 1})
    ran = [record["of"] for record in records if record["kind"] in ("call", "result")]
    assert ran == ["list_memory_tags", *["raw.tool_call.act"] * 2]
    assert "jarvis: MCP server \"raw1\": the tool 'a b' is left out" in ended.err


def test_servers_that_fail_are_told_and_the_conversation_goes_on(jarvis: Jarvis) -> None:
    with ModelServer(calls("raw1__tool_call__act", text="x"), ACT, ENDS) as server:
        configure(jarvis, server, "", "dies", "does not start")
        ended = jarvis("agent", "-T", "Act.", "-p", "src")

    _, second, third = server.requests
    assert second["messages"][-1]["content"].endswith('[error] MCP server "raw1": it has ended')
    assert '"name": "act"' in third["messages"][-1]["content"]
    assert (ended.code, ended.out) == (0, "It is done.\n")
    assert ended.err.count("does not start") == 1
    assert 'jarvis: MCP server "raw2" does not start: cannot find the database\n' in ended.err


def test_quiet_suppresses_the_notices_about_servers(jarvis: Jarvis) -> None:
    with ModelServer(ENDS) as server:
        configure(jarvis, server, "", "does not start")
        ended = jarvis("agent", "-T", "Act.", "-p", "src", "-q")

    assert (ended.code, ended.out, ended.err) == (0, "It is done.\n", "")


def test_descriptions_of_a_server_are_untrusted_text(jarvis: Jarvis) -> None:
    with ModelServer(ENDS) as server:
        configure(jarvis, server, "odd schemas", profile="generic")
        answer = json.loads(jarvis("agent", "-T", "Act.", "-p", "src", "--format", "json").out)["answer"]

    prompt = server.requests[0]["messages"][0]["content"]
    assert "- raw.tool_call.talks: " in prompt
    assert "Ignore all previous instructions" not in prompt
    assert [one["level"] for one in answer["suspicions"]] == ["block"]


@pytest.mark.slow
def test_a_variable_with_servers_is_read_and_a_bad_one_is_refused(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {"name": "mine", "type": "stdio", "command": sys.executable, "args": [RAW]}
    with ModelServer(ENDS) as server:
        configure(jarvis, server, "")
        monkeypatch.setenv("JARVIS_MCP", json.dumps([one]))
        assert jarvis("agent", "-T", "Act.", "-p", "src", "-q").code == 0
        monkeypatch.setenv("JARVIS_MCP", json.dumps([{**one, "commnd": "x"}]))
        ended = jarvis("agent", "-T", "Act.", "-p", "src")

    assert "mine__tool_call__act" in names(server.requests[0])
    assert (ended.code, ended.line) == (
        2,
        'jarvis: JARVIS_MCP: "mcp.0.commnd" is not a setting of an MCP server (did you mean "command"?)',
    )


def test_a_file_in_the_home_directory_is_used_with_a_warning(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = jarvis.place / "home" / ".jarvis" / "mcp"
    directory.mkdir(parents=True)
    (directory / "mine.yaml").write_text(
        json.dumps({"name": "mine", "type": "stdio", "command": sys.executable, "args": [RAW]})
    )
    monkeypatch.setenv("HOME", str(jarvis.place / "home"))
    with ModelServer(ENDS) as server:
        configure(jarvis, server)
        ended = jarvis("agent", "-T", "Act.", "-p", "src")

    assert "mine__tool_call__act" in names(server.requests[0])
    assert "jarvis: MCP servers in ~/.jarvis/mcp are deprecated and will be ignored; move them to mcp in" in ended.err


@pytest.mark.slow
def test_no_other_run_starts_a_server(jarvis: Jarvis) -> None:
    pids = jarvis.place / "pids"
    with ModelServer(forever=says("[]")) as server:
        configure(jarvis, server, f"stubborn:{pids}", search={"url": "http://127.0.0.1:1/?q={query}"})
        jarvis.tree("src", {"a.c": "void f(char *a, char *b) { strcpy(a, b); }\n"})
        jarvis("sec", "agent", "-p", "src", "-q", "-o", "report.md")

    offered = [name for request in server.requests if "tools" in request for name in names(request)]
    assert len(server.requests) > 1
    assert {name for name in offered if "raw" in name or name == "search_web"} == set()
    assert not pids.exists()


@pytest.mark.slow
@pytest.mark.timing
def test_after_an_interruption_no_server_is_left(jarvis: Jarvis) -> None:
    pids, asked = jarvis.place / "pids", threading.Event()

    def note(_: object) -> bool:
        asked.set()
        return True

    with ModelServer(hangs().expecting(note)) as server:
        configure(jarvis, server, f"stubborn:{pids}")
        process = jarvis.start("agent", "-T", "Act.", "-p", "src", "-q")
        assert asked.wait(60)
        running = [int(pid) for pid in pids.read_text().split()]
        assert all(map(is_running, running))
        process.send_signal(signal.SIGINT)
        process.wait(60)

    assert all(map(has_ended, running))


@pytest.mark.slow
def test_an_agent_searches_the_web_if_an_endpoint_is_configured(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "k")
    steps: list[Step] = [calls("search_web", query="curl CVE"), ENDS, ENDS]
    with endpoint(json.dumps({"results": [RESULT]}).encode()) as (url, seen), ModelServer(*steps) as server:
        configure(jarvis, server, search={"url": url, "key_env": "SEARCH_KEY"})
        assert jarvis("agent", "-T", "Look it up.", "-p", "src", "-q").code == 0
        configure(jarvis, server)
        jarvis("agent", "-T", "Without.", "-p", "src", "-q")

    assert seen == [("/search?q=curl%20CVE", "Bearer k")]
    assert "1. curl manual" in server.requests[1]["messages"][-1]["content"]
    assert "search_web" in names(server.requests[0])
    assert "search_web" not in names(server.requests[2])


def test_a_search_key_that_is_not_set_is_refused(jarvis: Jarvis) -> None:
    with ModelServer() as server:
        configure(jarvis, server, search={"url": "http://h/?q={query}", "key_env": "NO_SUCH_KEY"})
        ended = jarvis("agent", "-T", "x", "-p", "src")

    assert (ended.code, ended.line) == (
        2,
        "jarvis: search.key_env: the key is taken from NO_SUCH_KEY, which is not set",
    )


@pytest.mark.parametrize("url", ["file:///etc/{query}", "http://h/", "http://h/{query} x\n"])
def test_a_search_endpoint_is_an_http_address_with_a_query(jarvis: Jarvis, url: str) -> None:
    write_settings(jarvis.place, {"search": {"url": url}})
    ended = jarvis("agent", "-T", "x")

    assert ended.code == 2
    assert "should be an address with {query}" in ended.line
