"""docs/agents.md: its commands do what it says."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.agents.loop.server import Body, ModelServer, Step, calls, says
from tests.cli.commands import Jarvis
from tests.cli.test_prove import LONG, TREE
from tests.support.judging import judge
from tests.support.proving import to_show
from tests.support.reading_files import is_reading, reported
from tests.support.settings_files import write_settings

DOC = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
COMMANDS = [
    shlex.split(line, comments=True)[1:]
    for block in re.findall(r"```sh\n(.*?)```", DOC, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("jarvis ")
]
EXAMPLE_ID = "C3fa81b"


def answer(body: Body) -> Step:
    """Confirm what is asked about, prove it, and answer questions."""
    text, tools = str(body["messages"]), str(body.get("tools", ""))
    if to_show(body):
        return calls("run_proof", way="program", target="prog" if "the build made" in text else "main.c", files=[LONG])
    if is_reading(body):
        return reported(body, [])
    if "patch" in tools or "The question:" in text:
        return says("Nothing checks it.")
    return judge(body, "confirmed")


@pytest.fixture
def place(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Jarvis:
    jarvis.tree("src", TREE)
    monkeypatch.delenv("JARVIS_AGENT__READ")
    monkeypatch.setenv("HOME", str(jarvis.place.parent))
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    return jarvis


@pytest.mark.slow
def test_the_commands_do_what_the_page_says(place: Jarvis) -> None:
    codes = dict[str, int]()
    with ModelServer(forever=answer) as server:
        for words in COMMANDS:
            finding = _finding(place) if EXAMPLE_ID in str(words) else ""
            group = ["-g", "small"] if words[1:2] and words[1] in ("fix", "ask", "dispute") else []
            ended = place(*(word.replace(EXAMPLE_ID, finding) for word in words), *group)
            codes[" ".join(words)] = ended.code
            if words[:2] == ["config", "init"]:
                _redirect(place.place / "jarvis.yaml", server.url)
            if "--mark" in words:
                assert place("sec", "triage", "--undo").code == 0
            assert "Traceback" not in ended.err
            assert ended.code != 2, (words, ended.err)

    expected = {"sec reproduce": 1, "sec fix": 1}
    assert {words: code for words, code in codes.items() if code != expected.get(" ".join(words.split()[:2]), 0)} == {}


def test_the_verdicts_and_exposures_of_the_page_are_those_of_the_product() -> None:
    verdicts = re.findall(r"^\| `(\w+)` \|", DOC, re.MULTILINE)

    assert verdicts == ["proved", "confirmed", "review", "undecided", "dismissed"]
    assert all(f"`{one}` (" in DOC for one in ("remote", "file", "local", "self", "oom", "platform"))


def _redirect(file: Path, url: str) -> None:
    """Let the model of the page, and two groups, be at an address."""
    settings = yaml.safe_load(file.read_text())
    (group,) = settings["models"].values()
    here = {**group, "base_url": url, "profile": "openai", "prices": {"input": 1, "output": 1}}
    settings["models"] |= dict.fromkeys([*settings["models"], "small", "large"], here)
    write_settings(file.parent, settings)


def _finding(place: Jarvis) -> str:
    """Return the id of the finding of the newest scan, which a question may follow."""
    proved, listed = (
        place("sec", "triage", "last", "--list", *more).out for more in (["--status", "proved"], ["--all"])
    )
    listed = proved if "C" in proved else listed
    return re.findall(r"C[0-9a-f]{6}", listed)[0]
