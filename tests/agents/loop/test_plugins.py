"""Users' own tools and platforms: adapted, called once, and unable to harm anything but themselves."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.loop.own_platforms import own_platforms
from jarvis_workers.agents.loop.own_tools import own_tools
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import ModelUnavailable
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Platform
from jarvis_workers.models.platforms.registry import Providers
from tests.agents.loop.arrange import MARKS, TEXT, Scripted, agent_of, ask, call, run, text

TOOL = """
class Greet:
    name = "greet"
    description = "Greet somebody."
    parameters = {{
        "type": "object",
        "properties": {{"who": {{"type": "string"}}, "times": {{"type": "integer"}}}},
        "required": ["who"],
    }}
    {version}
    def execute(self, {given}):
        {does}
"""
V1 = {"version": "", "given": "arguments"}
V2 = {"version": 'protocol_version = "2.0"', "given": "arguments, agent"}
SAYS = 'return {"success": True, "stdout": f"hello {arguments[\'who\']}", "stderr": ""}'


def tools(home: Path, code: str, name: str = "greet.py") -> Toolbox:
    (home / name).write_text(code)
    return Toolbox(own_tools([home], lambda: "the agent"))


@pytest.mark.parametrize("version", [V1, V2])
def test_a_tool_is_called_by_its_protocol(tmp_path: Path, version: dict[str, str]) -> None:
    box = tools(tmp_path, TOOL.format(**version, does=SAYS))

    outcome = box.run("greet", {"who": "you"})

    assert (outcome.success, outcome.stdout) == (True, "hello you")
    assert not box.find("greet").repeatable
    assert box.find("greet").brings_foreign


def test_the_first_protocol_finds_the_agent_among_the_arguments(tmp_path: Path) -> None:
    says = 'return {"success": True, "stdout": str(arguments["agent"])}'

    assert tools(tmp_path, TOOL.format(**V1, does=says)).run("greet", {"who": "x"}).stdout == "the agent"


@pytest.mark.parametrize("version", [V1, V2])
@pytest.mark.parametrize(
    "error", ["TypeError('execute() takes 2 arguments')", "KeyError('agent')", "SystemError('no')"]
)
def test_a_tool_that_raises_is_never_run_twice(tmp_path: Path, version: dict[str, str], error: str) -> None:
    counts = f"open({str(tmp_path / 'count')!r}, 'a').write('x'); raise {error}"

    outcome = tools(tmp_path, TOOL.format(**version, does=counts)).run("greet", {"who": "x"})

    assert outcome.state == "error"
    assert "greet failed" in outcome.stderr
    assert (tmp_path / "count").read_text() == "x"


@pytest.mark.parametrize(
    ("does", "state", "stdout"),
    [
        ('return {"success": False, "stdout": "half", "stderr": "no"}', "failed", "half"),
        ('return {"success": True}', "done", ""),
        ('return "just text"', "done", "just text"),
        ("return None", "done", "None"),
    ],
)
def test_what_a_tool_returns_is_read(tmp_path: Path, does: str, state: str, stdout: str) -> None:
    outcome = tools(tmp_path, TOOL.format(**V2, does=does)).run("greet", {"who": "x"})

    assert (outcome.state, outcome.stdout) == (state, stdout)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "who is missing"),
        ({"who": 1}, "of type string"),
        ({"who": "x", "times": True}, "of type integer"),
        ({"who": "x", "y": 1}, "unknown argument 'y'"),
    ],
)
def test_arguments_are_checked_against_the_schema(tmp_path: Path, arguments: dict[str, Any], says: str) -> None:
    assert says in tools(tmp_path, TOOL.format(**V2, does=SAYS)).run("greet", arguments).stderr


def test_what_is_wrong_with_one_file_does_not_hurt_the_others(tmp_path: Path) -> None:
    broken = {
        "a.py": "import nothing_like_this",
        "b.py": "x = 1",
        "c.py": TOOL.format(version='protocol_version = "3.0"', given="arguments", does=SAYS),
        "d.py": TOOL.format(version="def check(self): return False", given="arguments", does=SAYS),
        "e.py": TOOL.format(version="def check(self): 1 / 0", given="arguments", does=SAYS),
        "g.py": "raise SystemExit",
        "f.py": TOOL.format(version="def __init__(self): 1 / 0", given="arguments", does=SAYS),
    }
    for name, code in broken.items():
        (tmp_path / name).write_text(code)

    assert tools(tmp_path, TOOL.format(**V2, does=SAYS)).names == ("greet",)


def test_an_agent_uses_a_tool_of_its_user(tmp_path: Path) -> None:
    box = tools(tmp_path, TOOL.format(**V2, does=SAYS))
    platform = Scripted(call("greet", '{"who": "you"}'), text("done"))

    result = run(agent_of(*box.tools), platform)

    assert result.tools == {"greet": 1}
    assert platform.requests[1].messages[-1].content == f"{MARKS.line}hello you"


PLATFORM = """
class Mine:
    def set_model_name(self, name): self.model = name
    def set_system_prompt(self, text): self.system = text
    def reset(self): pass
    def name(self): return self.model
    @classmethod
    def platform_name(cls): return "mine"
    def chat(self, message):
        {does}
"""


def platforms(home: Path, does: str) -> Providers:
    (home / "mine.py").write_text(PLATFORM.format(does=does))
    return Providers({}, dict(own_platforms([home])))


def opened(home: Path, does: str) -> Platform:
    return platforms(home, does).open(ModelGroup(model="m", platform="mine"))


def test_a_platform_of_the_users_own_answers_a_whole_conversation(tmp_path: Path) -> None:
    platform = opened(tmp_path, 'yield from (self.model, " ", self.system, "|", message)')
    said = (Message("system", "S"), Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    request = ModelRequest(said)

    reply = ask(platform, request)

    assert reply.content == "m S|[user]\none\n\n[assistant]\ntwo\n\n[user]\nthree"
    assert reply.usage.prompt > 0


def test_an_agent_works_on_a_platform_of_the_users_own(tmp_path: Path) -> None:
    platform = opened(tmp_path, "return 'answer to ' + message.split(chr(10))[2]")

    assert run(agent_of(profile=TEXT), platform).text == "answer to Do it."


def test_a_platform_that_raises_does_not_answer(tmp_path: Path) -> None:
    platform = opened(tmp_path, "raise RuntimeError('no net')")

    with pytest.raises(ModelUnavailable, match="platform mine failed: RuntimeError: no net"):
        ask(platform, ModelRequest((Message("user", "x"),)))


@pytest.mark.timing
def test_a_platform_that_takes_too_long_does_not_answer(tmp_path: Path) -> None:
    platform = opened(tmp_path, "import threading; threading.Event().wait(1)")

    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.05 s"):
        asyncio.run(platform.ask_async(ModelRequest((Message("user", "x"),), seconds=0.05)))


def test_a_platform_with_missing_methods_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "half.py").write_text("class Half:\n    def chat(self, message): return ''\n")

    assert dict(own_platforms([tmp_path])) == {}
    [told] = caplog.records
    assert told.getMessage() == "left out"
    missing = "Half has no set_system_prompt, set_model_name, reset, name, platform_name"
    assert vars(told)["facts"]["says"].startswith(missing)
