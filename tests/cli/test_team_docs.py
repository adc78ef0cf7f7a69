"""docs/team.md and docs/methodologies.md: their files and commands do what they say."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from jarvis_workers.assistant.methodology import Methodology
from jarvis_workers.assistant.send_message import read_message
from jarvis_workers.assistant.team_definition import TeamDefinition, TeamMember
from jarvis_workers.settings import Settings
from tests.agents.loop.server import ModelServer, says
from tests.cli.commands import Jarvis
from tests.cli.test_agent import model

DOCS = Path(__file__).parents[2] / "docs"
TEAM, METHODOLOGIES = ((DOCS / name).read_text() for name in ("team.md", "methodologies.md"))


def blocks(doc: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", doc, re.DOTALL)


def test_the_keys_of_the_document_are_those_of_a_team() -> None:
    keys = set(re.findall(r"^\| `(\w+)`", TEAM, re.MULTILINE))

    assert keys | {"in_multi_agent"} == {*TeamDefinition.model_fields, *TeamMember.model_fields}
    (block,) = re.findall(r"```\n(<SEND_MESSAGE>.*?)```", TEAM, re.DOTALL)
    assert read_message(block, {"reader": ""}).content.startswith("Which functions")


@pytest.mark.slow
def test_the_commands_of_the_document_run_its_team(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    (jarvis.place / "team.yaml").write_text(blocks(TEAM, "yaml")[0])
    command = shlex.split(blocks(TEAM, "sh")[0].splitlines()[0])[1:]
    jarvis.tree("lib", {"a.c": "int a;\n"})
    with ModelServer(says("There is none.")) as server:
        model(jarvis, server)
        assert jarvis(*command).out == "There is none.\n"


def test_the_files_of_the_document_are_valid(jarvis: Jarvis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.model_validate(yaml.safe_load(blocks(METHODOLOGIES, "yaml")[0]))
    note = Methodology.model_validate_json(blocks(METHODOLOGIES, "json")[0])
    command = shlex.split(blocks(METHODOLOGIES, "sh")[0].splitlines()[0], comments=True)[1:]
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "central.git"], check=True)
    monkeypatch.setenv("JARVIS_CENTRAL_REPO", f"file://{tmp_path}/central.git")
    (tmp_path / "data" / "methodologies").mkdir()
    (tmp_path / "data" / "methodologies" / "a.json").write_text(json.dumps(note.model_dump()))

    assert (settings.central_tools, settings.agent.use_analysis) == (("lookup",), True)
    assert jarvis(*command).out == "methodologies/a.json\n"
