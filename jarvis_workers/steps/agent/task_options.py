"""The options of a run of one agent."""

from dataclasses import dataclass

from jarvis_workers.conversations.options import ConversationOptions


@dataclass(frozen=True, kw_only=True)
class TaskOptions(ConversationOptions):
    """The task of the agent."""

    task: str = ""
