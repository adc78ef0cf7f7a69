"""The configuration of MCP servers: settings, a variable, deprecated files, and what is refused in one line."""

import json
from pathlib import Path

import pytest

from jarvis_workers.agents.mcp_client.server_files import servers_or_files
from jarvis_workers.errors import SettingsError
from jarvis_workers.settings import load_settings, origins
from jarvis_workers.settings.mcp_servers import SERVERS_MAX, McpServer
from tests.support.settings_files import write_settings

STDIO = {"name": "files", "type": "stdio", "command": "serve", "args": ["-v"], "env": {"TOKEN": "hunter2"}}
ISSUES = {"name": "issues", "type": "streamable", "base_url": "http://h/mcp", "headers": {"Authorization": "hunter2"}}


def read(directory: Path, servers: object, **environ: str) -> tuple[McpServer, ...]:
    environ["JARVIS_DATA_DIR"] = str(directory / "data")
    write_settings(directory, {"mcp": servers})
    return load_settings(environ=environ, directory=directory).mcp


def test_servers_are_a_list_in_the_settings(tmp_path: Path) -> None:
    files, issues = read(tmp_path, [STDIO, ISSUES])

    assert (files.command, files.args, files.call_seconds) == ("serve", ("-v",), 120)
    assert (issues.type, issues.base_url) == ("streamable", "http://h/mcp")


@pytest.mark.parametrize("text", [json.dumps([STDIO]), "- {name: files, type: stdio, command: serve}"])
def test_the_variable_holds_yaml_or_json_and_wins_over_the_file(tmp_path: Path, text: str) -> None:
    assert [one.name for one in read(tmp_path, [ISSUES], JARVIS_MCP=text)] == ["files"]


def test_secrets_are_not_shown_and_reach_only_a_pipe(tmp_path: Path) -> None:
    servers = read(tmp_path, [STDIO, {**ISSUES, "base_url": "http://h/mcp?token=hunter2"}])

    environ = {"JARVIS_DATA_DIR": str(tmp_path / "data")}
    shown = str([one.value for one in origins(environ=environ, directory=tmp_path) if one.setting == "mcp"])
    assert "hunter2" not in shown + repr(servers)
    assert "files" in shown
    assert [McpServer.model_validate(one.facts()) for one in servers] == list(servers)
    assert servers[0].facts()["env"] == {"TOKEN": "hunter2"}


@pytest.mark.parametrize(
    ("servers", "says"),
    [
        ([{**STDIO, "comand": "x"}], '"mcp.0.comand" is not a setting of an MCP server (did you mean "command"?)'),
        ([{**STDIO, "zzz": "x"}], '"mcp.0.zzz" is not a setting of an MCP server; it has name, type, command'),
        ([STDIO, {"name": "b", "type": "stdio"}], '"mcp.1": server "b" is of type stdio, which needs command'),
        ([{"name": "b", "type": "sse"}], '"mcp.0": server "b" is of type sse, which needs base_url'),
        ([{**ISSUES, "args": ["x"]}], '"mcp.0": server "issues" is of type streamable, which has no args'),
        ([{**STDIO, "headers": {"A": "b"}}], '"mcp.0": server "files" is of type stdio, which has no headers'),
        ([{**STDIO, "type": "http"}], "\"mcp.0.type\" should be 'stdio', 'sse' or 'streamable'"),
        ([{**STDIO, "name": "a.b"}], '"mcp.0.name" should be 1 to 40 letters, digits, _ or -'),
        ([{"type": "stdio", "command": "x"}], '"mcp.0.name" is missing'),
        ([{**ISSUES, "base_url": "http://me:hunter2@h/"}], '"mcp.0.base_url" should be an address such as http://'),
        ([{**STDIO, "args": ["\0"]}], 'server "files" has a command, argument or variable that no process can have'),
        ([{**STDIO, "env": {"A=B": "c"}}], 'server "files" has a command, argument or variable that no process can'),
        ([{**STDIO, "call_seconds": 0}], '"mcp.0.call_seconds" should be greater than 0'),
        ([STDIO, STDIO], '"mcp": two servers are called "files"; rename one'),
        (STDIO, '"mcp": should be a list of servers, each with a name and a type'),
        ("hunter2", '"mcp": should be a list of servers, each with a name and a type'),
        ([3], '"mcp.0" should be a mapping of names to values'),
        ([{**STDIO, "name": str(number)} for number in range(51)], '"mcp": 51 servers, at most 50 are possible'),
    ],
)
def test_what_is_wrong_is_said_in_one_line_without_secrets(tmp_path: Path, servers: object, says: str) -> None:
    with pytest.raises(SettingsError) as problem:
        read(tmp_path, servers)

    message = str(problem.value)
    assert message.startswith("jarvis.yaml:1: ")
    assert says in message
    assert "\n" not in message
    assert "hunter2" not in message


def test_a_variable_that_is_no_yaml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r'^JARVIS_MCP: "mcp": should be .* in YAML or JSON \(line 2\)$'):
        read(tmp_path, [], JARVIS_MCP="- name: hunter2\n  }")


def test_a_file_that_is_too_long_is_not_read_in_part(tmp_path: Path) -> None:
    servers = "".join(f"- {{name: s{number}, type: stdio, command: {'c' * 1000}}}\n" for number in range(1_100))
    (tmp_path / "a.yaml").write_text(servers)
    messages: list[str] = []

    assert servers_or_files((), messages.append, tmp_path) == ()
    assert messages[1:] == [f"{tmp_path / 'a.yaml'}: longer than 1,000,000 characters"]


def test_files_with_too_many_servers_in_all_are_not_used(tmp_path: Path) -> None:
    for file in ("a", "b"):
        servers = [{**STDIO, "name": f"{file}{number}"} for number in range(SERVERS_MAX // 2 + 1)]
        (tmp_path / f"{file}.yaml").write_text(json.dumps(servers))
    messages: list[str] = []

    assert servers_or_files((), messages.append, tmp_path) == ()
    assert messages[-1].endswith("are possible; no server is used")


def test_files_are_a_deprecated_fall_back(tmp_path: Path) -> None:
    messages: list[str] = []
    configured = read(tmp_path, [{**STDIO, "name": "set"}])
    (tmp_path / "jarvis.yaml").unlink()
    (tmp_path / "a.yaml").write_text(json.dumps(STDIO))
    (tmp_path / "b.yaml").write_text(json.dumps([ISSUES, STDIO]))

    assert [one.name for one in servers_or_files((), messages.append, tmp_path)] == ["files", "issues"]
    assert messages == [
        f"MCP servers in {tmp_path} are deprecated and will be ignored; move them to mcp in jarvis.yaml",
        f'{tmp_path}: two servers are called "files"; the second is ignored',
    ]
    assert servers_or_files(configured, messages.append, tmp_path) is configured
    assert servers_or_files((), messages.append, tmp_path / "none") == ()
    assert len(messages) == 2


def test_a_file_that_cannot_be_used_is_told_and_the_others_count(tmp_path: Path) -> None:
    messages: list[str] = []
    texts = {"a": "name: x\nzzz: hunter2", "b": "[", "c": "", "d": json.dumps(STDIO)}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "e.yaml").mkdir()

    assert [one.name for one in servers_or_files((), messages.append, tmp_path)] == ["files"]
    told = [message.removeprefix(f"{tmp_path}/") for message in messages[1:]]
    assert told == [
        'a.yaml: "mcp.0.type" is missing',
        "b.yaml: should be a list of servers in YAML or JSON (line 1)",
        'c.yaml: "mcp" should be a list',
        "e.yaml cannot be read: Is a directory",
    ]
