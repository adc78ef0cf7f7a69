"""Read the definition file of a team."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from jarvis_workers.assistant.chat.code_tools import unknown_tools
from jarvis_workers.assistant.chat.definitions import TEAM, built_in_definitions
from jarvis_workers.assistant.code.team_job import TEAM_TOOLS
from jarvis_workers.assistant.team_definition import TeamDefinition, TeamMember
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.settings.yamlfiles import describe_problem, line_of, read_yaml, shown_path

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

MOST_BYTES = 1 << 20
BOTH_KEYS = frozenset({"agents", "agents_config"})


def read_team(file: Path, settings: "Settings", tell: Callable[[str], None]) -> TeamDefinition:
    """Return the team of a YAML file, or the built-in one of this name. Raises UsageError, with file and line.

    The tools of its agents are checked as far as they are known here (code_tools.unknown_tools).
    """
    built_in = next((one for one in built_in_definitions() if one.kind == TEAM and one.name == str(file)), None)
    file = built_in.path if built_in and not file.exists() else file
    document = read_yaml(file, MOST_BYTES)
    if not isinstance(document, dict):
        raise UsageError(f"{shown_path(file)}: should have the keys agents and main_agent_name; see docs/team.md")
    if document.keys() >= BOTH_KEYS:
        raise UsageError(f"{shown_path(file)}: agents and agents_config name the same list; keep one of them")
    try:
        team = TeamDefinition.model_validate(document)
    except ValidationError as error:
        says, position = describe_problem(error, TeamDefinition, TeamMember.model_fields)
        raise UsageError(f"{shown_path(file)}:{line_of(file, MOST_BYTES, position)}: {says}") from error
    names = [name for member in team.agents for name in member.use_tools or ()]
    if problem := next(unknown_tools(settings, names, TEAM_TOOLS, tell), None):
        where, position = _place_of(team, problem.name, next(key for key in document if key in BOTH_KEYS))
        raise UsageError(f"{shown_path(file)}:{line_of(file, MOST_BYTES, position)}: agent {where}: {problem.says}")
    return team


def _place_of(team: TeamDefinition, tool: str, key: str) -> tuple[str, tuple[str | int, ...]]:
    """Return the name of the first agent with a tool, and the position of the tool in the file."""
    number, member = next((number, one) for number, one in enumerate(team.agents) if tool in (one.use_tools or ()))
    return plain(member.name), (key, number, "use_tools", (member.use_tools or ()).index(tool))
