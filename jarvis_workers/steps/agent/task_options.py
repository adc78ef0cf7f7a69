"""The options of a run of one agent."""

from dataclasses import dataclass

from jarvis_workers.conversations.options import ConversationOptions


@dataclass(frozen=True, kw_only=True)
class TaskOptions(ConversationOptions):
    """What the agent is asked to do."""

    task: str = ""
