"""A file of the user that cannot be used is told in one line, with its path and the cause."""

import json
from pathlib import Path

import pytest

from jarvis_workers import telemetry
from jarvis_workers.assistant.chat.definitions import predefined_tasks
from tests.agents.loop.server import ModelServer, calls, says
from tests.cli.commands import Jarvis
from tests.support.settings_files import write_settings

TOOL = "class T:\n    name = 'mine'\n    description = 'x'\n    parameters = {}\n"
PLATFORM = "class P:\n    def chat(self, message):\n        return ''\n"
# Files of the home directory, of the data directory and of the project, with what is wrong about them.
BROKEN = {
    "home/.jarvis/tools/a.py": ("import nothinghere\n", "No module named 'nothinghere'"),
    "home/.jarvis/tools/b.py": ("x = 1\n", "it has no class with name, description, parameters, execute"),
    "home/.jarvis/tools/c.py": (
        TOOL + "    def execute(self, a): ...\n    def __init__(self): 1 / 0\n",
        "division by zero",
    ),
    "home/.jarvis/tools/d.py": (
        TOOL + "    def execute(self, a): ...\n    protocol_version = '7'\n",
        "needs a name, parameters",
    ),
    "home/.jarvis/tools/e.py": ("def f(:\n", "SyntaxError"),
    "home/.jarvis/models/a.py": (PLATFORM, "P has no set_system_prompt, set_model_name"),
    "home/.jarvis/models/b.py": ("raise SystemExit(3)\n", "SystemExit: 3"),
    "place/callbacks/a.py": ("x = 1\n", "it has no function after_tool_call_cb"),
    "place/callbacks/b.py": ("def get_after_tool_call_cb():\n    raise ValueError('no')\n", "ValueError: no"),
    "data/methodologies/a.json": ("{", "Invalid JSON"),
    "place/.jarvis/skills/a/SKILL.md": ("no head\n", "SKILL.md should begin with"),
}


@pytest.fixture
def place(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Jarvis:
    monkeypatch.setenv("HOME", str(jarvis.place.parent / "home"))
    jarvis.tree("src", {"a.c": "int f(void);\n"})
    return jarvis


def configure(jarvis: Jarvis, server: ModelServer) -> None:
    group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
    write_settings(jarvis.place, {"models": {"m": group}, "agent": {"after_tool_call_cb_dirs": ["callbacks"]}})


@pytest.mark.parametrize("name", BROKEN)
def test_each_broken_file_is_one_line_in_a_conversation(place: Jarvis, name: str) -> None:
    content, cause = BROKEN[name]
    file: Path = place.place.parent / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    with ModelServer(says("done")) as server:
        configure(place, server)
        ended = place("agent", "-T", "x", "--routine", "r")

    told = [line for line in ended.err.splitlines() if "left out: " in line]
    assert (ended.code, len(told)) == (0, 1), ended.err
    assert file.parent.name if "skills" in name else file.name in told[0]
    assert cause in told[0]


def test_the_first_line_of_a_conversation_counts_what_is_left_out(place: Jarvis) -> None:
    for name in ("home/.jarvis/tools/a.py", "home/.jarvis/tools/e.py"):
        file = place.place.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(BROKEN[name][0])
    with ModelServer(says("done")) as server:
        configure(place, server)
        ended = place("agent", "-T", "x", "--routine", "r")

    assert ", 2 left out, " in ended.err


@pytest.mark.parametrize(
    "name", [name for name in BROKEN if "/tools/" in name or "/models/" in name or "callbacks" in name]
)
@pytest.mark.slow
def test_a_task_tells_them_too_and_so_does_its_report(place: Jarvis, name: str) -> None:
    content, cause = BROKEN[name]
    file = place.place.parent / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    with ModelServer(says("done")) as server:
        configure(place, server)
        ended = place("agent", "-T", "x", "-p", "src", "-q", "--format", "json")

    told = [line for line in ended.err.splitlines() if "left out: " in line]
    answer = json.loads(ended.out)["answer"]
    assert (ended.code, len(told), answer["state"]) == (0, 1, "done"), ended.err
    (listed,) = [line for line in place("runs", "show", "last").out.splitlines() if line.startswith("left out ")]
    for line in (told[0], listed, *answer["run"]["left_out"]):
        assert file.name in line and cause in line
    assert len(answer["run"]["left_out"]) == 1


JOBS = {
    "sec": ("sec", "agent", "src", "-g", "m", "-q"),
    "c2rust": ("c2rust", "lib-replace", "-p", "src", "-g", "m", "-q"),
}


@pytest.mark.slow
@pytest.mark.parametrize("domain", JOBS)
@pytest.mark.parametrize("name", ["home/.jarvis/models/b.py", "place/callbacks/a.py", "place/callbacks/b.py"])
def test_jobs_of_every_domain_record_what_they_left_out(place: Jarvis, domain: str, name: str) -> None:
    content, cause = BROKEN[name]
    file = place.place.parent / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    place.tree("src", {"a.c": 'void g(char *a) { char b[8]; strcpy(b, a); }\nint main(void) { g(""); return 0; }\n'})
    with ModelServer(forever=says("I do not know.")) as server:
        configure(place, server)
        if domain == "c2rust":
            assert place("c2rust", "scan", "-p", "src", "-q").code == 0
        ended = place(*JOBS[domain])

    assert "Traceback" not in ended.err and server.requests, ended.err
    (listed,) = [line for line in place("runs", "show", "last").out.splitlines() if line.startswith("left out ")]
    assert file.name in listed and cause in listed


def test_a_callback_that_fails_is_in_the_report(place: Jarvis) -> None:
    place.tree("callbacks", {"a.py": "def after_tool_call_cb(agent):\n    raise ValueError('no such table')\n"})
    call = calls("read_code", path="a.c")
    with ModelServer(call, call, says("done")) as server:
        configure(place, server)
        ended = place("agent", "-T", "x", "-p", "src", "-q", "--format", "json")

    assert ended.code == 0, ended.err
    (line,) = json.loads(ended.out)["answer"]["run"]["left_out"]
    assert line == "a listener of AFTER_TOOL_CALL failed: ValueError: no such table"
    assert f"left out      {line}\n" in place("runs", "show", "last").out


@pytest.mark.parametrize("name", ["data/tasks.yaml", "place/.jarvis/tasks.yaml"])
@pytest.mark.parametrize("content", ["[1\n", "- x\n", None])
def test_tasks_that_cannot_be_read_end_no_conversation(tmp_path: Path, name: str, content: str | None) -> None:
    file, lines = tmp_path / name, list[str]()
    file.parent.mkdir(parents=True)
    if content is None:
        file.mkdir()
    else:
        file.write_text(content)
    with telemetry.notices(lines.append):
        assert predefined_tasks(tmp_path / "data", tmp_path / "place") == []
        assert predefined_tasks(tmp_path / "data", tmp_path / "place") == []

    (line,) = lines
    assert line.startswith(f"left out: {file}: ")
