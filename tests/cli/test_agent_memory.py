"""The memories of `jarvis agent`: they are those of the project, in the results store."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.agents.loop.server import ModelServer, calls, says
from tests.cli.commands import Ended, Jarvis
from tests.support.settings_files import write_settings

FACT = {"memory_type": "project_long_term", "tags": ["build"], "content": "Use meson."}
SAVES = calls("save_memory", memories=[FACT])
ENDS = says("done")


def model(jarvis: Jarvis, server: ModelServer, **agent: object) -> None:
    group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
    write_settings(jarvis.place, {"models": {"local": group}, "agent": agent})


@pytest.fixture(autouse=True)
def tree(jarvis: Jarvis) -> Path:
    jarvis.tree("other", {"a.c": ""})
    return jarvis.tree("src", {"a.c": ""})


def ask(jarvis: Jarvis, task: str, path: str = "src", *more: object) -> Ended:
    return jarvis("agent", "-T", task, "-p", path, "-q", *more)


def stored(jarvis: Jarvis, path: str = "src") -> list[Any]:
    entries: list[Any] = json.loads(jarvis("memory", "list", "--stored", "-p", path, "--json").out)
    return [entry["content"] for entry in entries]


@pytest.mark.slow
def test_what_an_agent_saves_the_next_one_on_the_project_finds(jarvis: Jarvis) -> None:
    with ModelServer(SAVES, ENDS, calls("retrieve_memory", tags=["build"]), ENDS, ENDS) as server:
        model(jarvis, server)
        ended = [ask(jarvis, "First."), ask(jarvis, "Second."), ask(jarvis, "Third.", "other")]

    assert [one.code for one in ended] == [0, 0, 0]
    first, _, second, found, other = (request["messages"][-1]["content"] for request in server.requests)
    assert "save_memory" in first and "retrieve_memory" not in first and "global_long_term" not in first
    assert "retrieve_memory" not in other
    (mark,) = (line.removesuffix("build") for line in second.splitlines() if re.fullmatch(r"\Wbuild", line))
    assert found.splitlines()[-1] == f"{mark}Use meson."
    assert stored(jarvis) == ["Use meson."]
    assert stored(jarvis, "other") == []
    assert not (jarvis.place / "src/.jarvis").exists()


@pytest.mark.slow
def test_the_model_is_asked_to_save_at_the_end_if_the_settings_say_so(jarvis: Jarvis) -> None:
    with ModelServer(ENDS, SAVES) as server:
        model(jarvis, server, force_save_memory=True)
        ended = ask(jarvis, "First.")

    assert (ended.code, ended.out) == (0, "done\n")
    assert stored(jarvis) == ["Use meson."]


@pytest.mark.parametrize(("settings", "options"), [({"memory": False}, ()), ({}, ("--record", "answers"))])
def test_without_memory_an_agent_has_no_tools_for_it(
    jarvis: Jarvis, settings: dict[str, object], options: tuple[str, ...]
) -> None:
    with ModelServer(ENDS) as server:
        model(jarvis, server, **settings)
        ask(jarvis, "First.", "src", *options)

    assert "_memory" not in json.dumps(server.requests)


def test_stored_memories_can_be_exported_and_removed(jarvis: Jarvis) -> None:
    with ModelServer(SAVES, ENDS) as server:
        model(jarvis, server)
        ask(jarvis, "First.")
    exported = jarvis("memory", "export", "all.json", "--stored", "-p", "src")
    (entry,) = json.loads((jarvis.place / "all.json").read_text())
    removed = jarvis("memory", "remove", entry["id"], "--stored", "-p", "src")
    again = jarvis("memory", "remove", entry["id"], "--stored", "-p", "src")

    assert exported.out == "exported 1 memory to all.json\n"
    assert (removed.code, removed.out) == (0, "removed 1 memory\n")
    assert (again.code, again.out) == (3, "removed 0 memories\n")
    assert stored(jarvis) == []
    assert jarvis("memory", "import", "all.json", "-p", "src").out == "imported 1 memory\n"
