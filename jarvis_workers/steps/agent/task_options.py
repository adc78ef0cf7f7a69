"""The options of a run of one agent."""

from dataclasses import dataclass

from jarvis_workers.conversations.options import ConversationOptions


@dataclass(frozen=True, kw_only=True)
class TaskOptions(ConversationOptions):
    """Options of a run of one agent: its task, and whether it may split the task into sub-tasks."""

    task: str = ""
    plan: bool = False
