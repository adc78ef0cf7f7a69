"""docs/models.md: its commands do what it says, and its files of a user's own are taken up."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from jarvis_workers.agents.loop.limits import Reason
from tests.agents.loop.server import Body, ModelServer, Step, calls, says
from tests.cli.commands import Jarvis
from tests.support.settings_files import write_settings

DOC = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
CODE = "int main(void) { return 0; }\n"
COMMANDS = [
    [shlex.split(line, comments=True)[1:] for line in block.splitlines() if line.startswith("jarvis ")]
    for block in re.findall(r"```sh\n(.*?)```", DOC, re.DOTALL)
]
MODELS, DIALECTS, LIMITED, AGENT, CALLBACKS = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL))
TOOL, PLATFORM, CALLBACK = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)


@pytest.fixture
def place(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Jarvis:
    """A directory with sources, and a home without anything in it."""
    jarvis.tree("src", {"list.c": CODE})
    monkeypatch.setenv("HOME", str(jarvis.place.parent))
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    return jarvis


def configure(jarvis: Jarvis, url: str, *more: Mapping[str, Any]) -> None:
    """Write the settings of the document, with the servers of its models here."""
    found: dict[str, Any] = {name: value for part in (MODELS, AGENT, *more) for name, value in part.items()}
    found["models"] = {
        name: {"profile": "deepseek"} | group | {"base_url": url} for name, group in found["models"].items()
    }
    write_settings(jarvis.place, found)


def looks_first(body: Body) -> Step:
    """Look at the file, then answer."""
    return says("In list.c.") if len(body["messages"]) > 2 else calls("read_code", path="list.c")


@pytest.mark.slow
@pytest.mark.parametrize("block", [block for block in COMMANDS if block], ids=lambda block: block[0][2])
def test_the_commands_do_what_they_say(place: Jarvis, block: list[list[str]]) -> None:
    with ModelServer(forever=looks_first) as server:
        configure(place, server.url)
        ended = [place(*command) for command in block]

    assert [one.code for one in ended] == [0] * len(block)
    assert ended[0].out == "In list.c.\n"


@pytest.mark.slow
def test_the_variables_alone_are_a_model(place: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(says("x")) as server:
        names = re.findall(r"(OPENAI_\w+)=(\S+)", DOC)
        for name, value in names:
            monkeypatch.setenv(name, server.url if name == "OPENAI_BASE_URL" else value.replace("…", "k"))
        assert place("agent", "-T", "x", "-p", "src", "-q").code == 0

    assert len(names) == 3
    assert server.requests[0]["model"] == "deepseek-chat"


@pytest.mark.slow
def test_a_recorded_conversation_asks_no_model_and_another_has_no_answer(place: Jarvis) -> None:
    [record, replay] = next(block for block in COMMANDS if "--record" in str(block))
    with ModelServer(forever=looks_first) as server:
        configure(place, server.url)
        place(*record)
        asked = len(server.requests)
        played, other = place(*replay), place("agent", "-T", "other", *replay[3:])

    assert (asked, len(server.requests), played.code, other.code) == (2, 2, 0, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("rounds", 1), ("tokens", 1), ("cost", 0.000001)])
def test_the_limits_are_settings_and_their_names_are_reasons(place: Jarvis, name: str, least: float) -> None:
    with ModelServer(forever=looks_first) as server:
        configure(place, server.url, {"agent": {name: least}})
        ended = place("agent", "-T", "x", "-p", "src")

    assert (ended.code, f"stopped ({name})" in ended.err) == (3, True)


def test_the_limits_of_a_provider_are_settings(place: Jarvis) -> None:
    with ModelServer(forever=looks_first) as server:
        configure(place, server.url, LIMITED)
        ended = place("agent", "-T", "x", "-p", "src", "-g", next(iter(LIMITED["models"])), "-q")

    assert ended.code == 0


def test_every_reason_to_stop_is_explained() -> None:
    explained = re.findall(r"`(\w+)`", DOC.partition("| reason |")[2].partition("\n\n")[0])

    assert {str(reason) for reason in Reason} <= set(explained)


def test_a_tool_and_a_callback_of_ones_own_are_used(place: Jarvis, tmp_path: Path) -> None:
    for directory, code in ((tmp_path / ".jarvis" / "tools", TOOL), (place.place / "callbacks", CALLBACK)):
        directory.mkdir(parents=True)
        (directory / "mine.py").write_text(code)
    with ModelServer(calls("greet", who="you"), says("done")) as server:
        configure(place, server.url, CALLBACKS)
        assert place("agent", "-T", "x", "-p", "src", "-q").code == 0

    assert server.requests[1]["messages"][-1]["content"].endswith("hello you")
    assert (place.place / "calls.log").read_text() == "Jarvis {'greet': 1}\n"


@pytest.mark.slow
def test_a_platform_of_ones_own_is_asked(place: Jarvis, tmp_path: Path) -> None:
    directory = tmp_path / ".jarvis" / "models"
    directory.mkdir(parents=True)
    (directory / "mine.py").write_text(PLATFORM)
    write_settings(place.place, {"models": {"own": {"model": "m", "platform": "mine"}}})

    assert re.match(r"m has nothing to say to \d+ characters\.\n", place("agent", "-T", "x", "-p", "src").out)


def test_the_groups_of_other_apis_are_read(place: Jarvis) -> None:
    write_settings(place.place, DIALECTS)
    ended = place("config", "show", "--json")

    assert ended.code == 0, ended.err
    assert "claude-sonnet-4-6" in ended.out
