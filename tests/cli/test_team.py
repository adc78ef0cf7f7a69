"""`jarvis team`: a team's answer, how it ends without one, and definitions that cannot be used."""

import json
from pathlib import Path
from typing import Any

import pytest

from jarvis_cli.main import run
from jarvis_workers.assistant.chat.team_file import read_team
from jarvis_workers.errors import UsageError
from jarvis_workers.settings import Settings
from tests.agents.loop.server import Body, ModelServer, Step, calls, says
from tests.assistant.teams import last, message, system
from tests.cli.commands import Jarvis
from tests.cli.test_agent import model

TEAM: dict[str, Any] = {
    "main_agent_name": "lead",
    "agents": [
        {"name": "lead", "system_prompt": "I am lead."},
        {"name": "reader", "description": "reads code", "system_prompt": "I am reader."},
        {"name": "writer", "system_prompt": "I am writer.", "use_tools": [], "summary_on_send": False},
    ],
}
ANSWER = "It is not safe: a.c:1."


@pytest.fixture
def tree(jarvis: Jarvis) -> Path:
    (jarvis.place / "team.yaml").write_text(json.dumps(TEAM))
    return jarvis.tree("src", {"a.c": "int f(char *p) { return *p; }\n"})


def team(jarvis: Jarvis, *more: object) -> tuple[int, str, str]:
    ended = jarvis("team", "-c", "team.yaml", "-T", "Is it safe?", "-p", "src", *more)
    return ended.code, ended.out, ended.err


def rounds() -> tuple[Step, ...]:
    """Return the answers with which lead, reader and writer pass the work around."""
    return (
        says(message("reader", "Read a.c.")).expecting(lambda body: "I am lead." in system(body)),
        says("Nothing so far."),
        calls("read_code", path="a.c").expecting(lambda body: "I am reader." in system(body)),
        says(message("writer", "p may be null.")).expecting(lambda body: "int f(char *p)" in last(body)),
        says("I have read a.c."),
        says(message("lead", ANSWER)).expecting(lambda body: "I have read a.c." in last(body)),
        says(ANSWER).expecting(lambda body: "from: writer" in last(body)),
    )


@pytest.mark.slow
def test_a_team_passes_work_around_and_answers(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(*rounds()) as server:
        model(jarvis, server)
        code, out, err = team(jarvis)
    answer = json.loads(jarvis("runs", "report", "last", "--format", "json").out)["answer"]

    assert (code, out) == (0, f"{ANSWER}\n")
    assert "done; answered by lead after 3 messages; 7 answers" in err
    assert answer["hops"] == [
        {"from": "lead", "to": "reader"},
        {"from": "reader", "to": "writer"},
        {"from": "writer", "to": "lead"},
    ]
    assert (answer["answered_by"], answer["tools"], answer["rounds"]) == ("lead", {"read_code": 1}, 7)
    assert jarvis("runs", "report", "last").out == f"{ANSWER}\n"
    assert "team stage" in jarvis("runs", "show", "last").out


@pytest.mark.slow
def test_the_same_task_for_the_same_team_asks_the_model_nothing(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(*rounds()) as server:
        model(jarvis, server)
        assert [team(jarvis, "-q")[:2] for _ in range(2)] == [(0, f"{ANSWER}\n")] * 2


@pytest.mark.slow
def test_a_team_without_an_answer_says_why(jarvis: Jarvis, tree: Path) -> None:
    def passes_on(request: Body) -> Step:
        if "Summarize for it" in last(request):
            return says("Nothing.")
        return says(message("reader" if "I am lead." in system(request) else "lead", "What do you think?"))

    with ModelServer(forever=passes_on) as server:
        model(jarvis, server)
        code, out, err = team(jarvis)

    assert (code, out) == (3, "")
    assert "stopped (repeated): lead sent reader the same message 4 times" in err


@pytest.mark.parametrize(
    ("definition", "says_why"),
    [
        ("agents: []\nmain_agent_name: lead\nagent: 1\n", 'team.yaml:3: unknown key "agent" (did you mean "agents"?)'),
        (
            "agents:\n- name: a\n  promt: x\n- name: b\nmain_agent_name: a\n",
            'team.yaml:3: unknown key "agents.0.promt"',
        ),
        ("agents:\n- name: a\n- name: a\nmain_agent_name: a\n", 'two agents are called "a"'),
        ("agents:\n- name: a\n- name: b\nmain_agent_name: c\n", 'there is no agent "c" among a, b'),
        ("agents:\n- name: a\n- name: b\n", '"main_agent_name" is missing'),
        ("agents:\n- name: a\nmain_agent_name: a\n", '"a" is the only agent, and has nobody to send to'),
        ("main_agent_name: a\n", '"agents" is missing'),
        ("agents: []\nagents_config: []\nmain_agent_name: a\n", "agents and agents_config name the same list"),
        ("agents:\n- name: 7\n- name: b\nmain_agent_name: b\n", 'team.yaml:2: "agents.0.name" is 7'),
        ("agents:\n- name: a\n- name: b\nmain_agent_name: a\nmax_hops: 0\n", 'team.yaml:5: "max_hops" is 0'),
        ('agents:\n- name: "a\\e[2J"\n- name: b\nmain_agent_name: b\n', '"agents.0.name" is'),
        ('agents:\n- name: a\n  system_prompt: "\\0"\n- name: b\nmain_agent_name: b\n', '"agents.0.system_prompt" is'),
        ("- name: a\n", "should have the keys agents and main_agent_name"),
        ("agents: [\n", "team.yaml:2:"),
        ("a: &a [x]\nb: *a\n", "YAML aliases are not allowed"),
    ],
)
def test_a_definition_that_cannot_be_used_is_one_line(
    jarvis: Jarvis, tree: Path, definition: str, says_why: str
) -> None:
    (jarvis.place / "team.yaml").write_text(definition)
    with ModelServer() as server:
        model(jarvis, server)
        ended = jarvis("team", "-c", "team.yaml", "-T", "Is it safe?", "-p", "src")

    assert ended.code == 2
    assert ended.line.startswith("jarvis: team.yaml")
    assert says_why in ended.line


ODD_TOOLS = """\
main_agent_name: lead
agents_config:
  - name: lead
  - name: reader
    use_tools: [read_code,
      {tool}]
"""


def test_a_tool_that_nobody_has_is_found_before_the_run(jarvis: Jarvis, tree: Path) -> None:
    (jarvis.place / "team.yaml").write_text(ODD_TOOLS.format(tool="read_cod"))
    with ModelServer() as server:
        model(jarvis, server)
        ended = jarvis("team", "-c", "team.yaml", "-T", "Is it safe?", "-p", "src")

    available = "read_code, search_code, execute_script"
    assert ended.code == 2
    assert ended.line == f'jarvis: team.yaml:6: agent reader: unknown tool "read_cod"; available tools: {available}'
    assert "no runs" in jarvis("runs", "list").out + jarvis("runs", "list").err


def test_on_a_cluster_only_tools_of_other_agents_are_found_before_the_run(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, broker_url="redis://127.0.0.1:1/0")
    file = tmp_path / "team.yaml"
    file.write_text(ODD_TOOLS.format(tool="of_a_worker"))
    team = read_team(file, settings, pytest.fail)
    file.write_text(ODD_TOOLS.format(tool="patch"))
    with pytest.raises(UsageError, match=r"team.yaml:6: agent reader: unknown tool .patch.*, and those of the workers"):
        read_team(file, settings, pytest.fail)

    assert team.agents[1].use_tools == ("read_code", "of_a_worker")


@pytest.mark.slow
def test_a_tool_that_no_worker_has_is_named(jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool of the user that is gone when the run begins."""
    own = jarvis.place / "home" / ".jarvis" / "tools"
    own.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(jarvis.place / "home"))
    (jarvis.place / "team.yaml").write_text(ODD_TOOLS.format(tool="gone"))
    (own / "gone.py").write_text(
        "import os\nos.unlink(__file__)\n"
        "class Gone:\n name = 'gone'\n description = ''\n parameters = {}\n def execute(self, arguments): ..."
    )
    with ModelServer() as server:
        model(jarvis, server)
        code, _, err = team(jarvis)

    assert code == 3
    assert 'agent reader: unknown tool "gone"' in jarvis("runs", "show", "last", "--json").out + err


def test_a_team_file_must_be_given(jarvis: Jarvis, tree: Path) -> None:
    assert "Missing option '--config'" in jarvis("team", "-T", "Is it safe?").line
    assert "nothing.yaml: cannot be read: No such file" in jarvis("team", "-T", "x", "-c", "nothing.yaml").line


def test_a_built_in_team_is_given_by_its_name(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(says("Nothing to change.")) as server:
        model(jarvis, server)
        ended = jarvis("team", "-c", "review", "-T", "Review f.", "-p", "src", "-q")

    assert (ended.code, ended.out) == (0, "Nothing to change.\n")
    assert "You propose a small change" in server.requests[0]["messages"][0]["content"]


def test_the_alias_is_the_same_command(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(says(ANSWER)) as server:
        model(jarvis, server)
        assert run(["-c", "team.yaml", "-i", "Is it safe?", "-p", "src", "-q"], command="team") == 0
