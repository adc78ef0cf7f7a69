"""The options of a run of one agent."""

from dataclasses import dataclass

from jarvis_workers.conversations.options import ConversationOptions


@dataclass(frozen=True, kw_only=True)
class TaskOptions(ConversationOptions):
    """Options of a run of one agent: its task, its limits, and the project whose memories it has (empty: none).

    With `force_save_memory`, the model is asked to save memories at the end of the task.
    """

    task: str = ""
    project: str = ""
    force_save_memory: bool = False
