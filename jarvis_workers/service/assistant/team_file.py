"""Read the definition file of a team."""

from pathlib import Path

from pydantic import ValidationError

from jarvis_workers.assistant.team_definition import TeamDefinition, TeamMember
from jarvis_workers.errors import UsageError
from jarvis_workers.service.assistant.definitions import TEAM, built_in_definitions
from jarvis_workers.service.rules.yamlfiles import describe_problem, line_of, read_yaml, shown_path

MOST_BYTES = 1 << 20
BOTH_KEYS = frozenset({"agents", "agents_config"})


def read_team(file: Path) -> TeamDefinition:
    """Return the team of a YAML file, or the built-in one of this name. Raises UsageError, with file and line."""
    built_in = next((one for one in built_in_definitions() if one.kind == TEAM and one.name == str(file)), None)
    file = built_in.path if built_in and not file.exists() else file
    document = read_yaml(file, MOST_BYTES)
    if not isinstance(document, dict):
        raise UsageError(f"{shown_path(file)}: should have the keys agents and main_agent_name; see docs/team.md")
    if document.keys() >= BOTH_KEYS:
        raise UsageError(f"{shown_path(file)}: agents and agents_config name the same list; keep one of them")
    try:
        return TeamDefinition.model_validate(document)
    except ValidationError as error:
        says, position = describe_problem(error, TeamDefinition, TeamMember.model_fields)
        raise UsageError(f"{shown_path(file)}:{line_of(file, MOST_BYTES, position)}: {says}") from error
