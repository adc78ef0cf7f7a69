"""The options of a run of a team."""

from dataclasses import dataclass, field

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.assistant.team_definition import TeamDefinition


@dataclass(frozen=True, kw_only=True)
class TeamOptions(ConversationOptions):
    """Options of a run of a team: its task and its agents."""

    task: str = ""
    team: TeamDefinition = field(metadata={"read": TeamDefinition.model_validate})
