"""The options of runs that have conversations."""

from dataclasses import dataclass, field
from typing import Annotated

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.option import AGENTS, Option
from jarvis_workers.pipeline.options import RunOptions


@dataclass(frozen=True, kw_only=True)
class ConversationOptions(RunOptions):
    """The model group, None for a run without conversations, and the limits of a conversation."""

    model_group: Annotated[
        str | None,
        Option(
            "--llm-group -g",
            "Model group of jarvis.yaml.",
            panel=AGENTS,
            metavar="GROUP",
            completion="groups",
        ),
    ] = None
    agent_limits: AgentLimits = field(default=AgentLimits(), metadata={"read": lambda value: AgentLimits(**value)})

    @property
    def group(self) -> str:
        """The name of the model group, empty if none is selected."""
        return self.model_group or ""
