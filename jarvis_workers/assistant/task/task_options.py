"""The options of a run of one agent."""

from dataclasses import dataclass

from jarvis_workers.agents.conversations.options import ConversationOptions


@dataclass(frozen=True, kw_only=True)
class TaskOptions(ConversationOptions):
    """Options of a run of one agent: its task, and whether it may split the task into sub-tasks.

    The agent has the memories of `project` (empty: none) and gets the text `methodologies`. With `force_save_memory`,
    the model is asked to save memories at the end of the task; with `use_analysis`, to analyze the task.
    """

    task: str = ""
    plan: bool = False
    project: str = ""
    force_save_memory: bool = False
    methodologies: str = ""
    use_analysis: bool = False
