"""The options of a run of one agent."""

from dataclasses import dataclass

from jarvis_workers.conversations.options import ConversationOptions


@dataclass(frozen=True, kw_only=True)
class TaskOptions(ConversationOptions):
    """Options of a run of one agent: its task, and whether it may split the task into sub-tasks.

    The agent gets the text `methodologies`; with `use_analysis` it analyzes the task at its end.
    """

    task: str = ""
    plan: bool = False
    methodologies: str = ""
    use_analysis: bool = False
