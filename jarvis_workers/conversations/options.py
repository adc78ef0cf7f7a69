"""The options of runs that have conversations."""

from dataclasses import dataclass, field

from jarvis_workers.agent.limits import AgentLimits
from jarvis_workers.pipeline.options import RunOptions


@dataclass(frozen=True, kw_only=True)
class ConversationOptions(RunOptions):
    """The model group, None for a run without conversations, and the limits of a conversation."""

    model_group: str | None = None
    agent_limits: AgentLimits = field(default=AgentLimits(), metadata={"read": lambda value: AgentLimits(**value)})

    @property
    def group(self) -> str:
        """The name of the model group, empty if none is selected."""
        return self.model_group or ""
