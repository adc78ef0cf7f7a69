"""What an agent knows beyond a conversation: memories, and methodologies."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.assistant.analysis import add_analysis
from jarvis_workers.assistant.chat.memory_files import MemoryFiles, memory_files
from jarvis_workers.assistant.chat.methodology_files import MethodologyFiles, methodologies_for, open_methodologies
from jarvis_workers.assistant.definition_file import DefinitionFile
from jarvis_workers.assistant.memory.entry import MemoryDraft
from jarvis_workers.assistant.memory.saving import use_memory
from jarvis_workers.assistant.memory.tools import memory_tools
from jarvis_workers.assistant.methodology import save_methodology, with_methodologies
from jarvis_workers.settings import Settings

# What is kept of a turn.
TASK_CHARACTERS, ANSWER_CHARACTERS = 300, 1_000


@dataclass(frozen=True)
class Knowledge:
    """The memories, None if the settings turn them off; the methodologies, None if the agent saves none."""

    settings: Settings
    definition: DefinitionFile
    root: Path
    tell: Callable[[str], None]
    memories: MemoryFiles | None
    methodologies: MethodologyFiles | None

    def tools(self) -> list[Tool]:
        """Return the tools for memories and methodologies."""
        tools = memory_tools(self.memories) if self.memories else []
        return [*tools, *([save_methodology(self.methodologies)] if self.methodologies else [])]

    def equip(self, agent: Agent) -> list[Tool]:
        """Let the agent use its memories and analyze its tasks; return the hidden tools of its conversation."""
        if self.methodologies:
            add_analysis(agent)
        if self.memories is None:
            return []
        force = self.definition.force_save_memory or self.settings.agent.force_save_memory
        return use_memory(agent, self.memories, force_save=force)

    def add_methodologies(self, agent: Agent, task: str, text: str) -> Conversation[str]:
        """Return a task with the methodologies that fit what the person wrote."""
        if not self.definition.uses_methodology:
            return task
        notes = methodologies_for(self.settings, text, self.root, self.tell)
        return (yield from with_methodologies(agent, task, notes))

    def remember_turn(self, task: str, answer: str) -> None:
        """Keep the beginnings of a turn as a short-term memory, which stays when the history is summarized."""
        if self.memories and answer.strip():
            content = f"{task[:TASK_CHARACTERS]}\n\n{answer[:ANSWER_CHARACTERS]}"
            self.memories.add([MemoryDraft(type="short_term", tags=("turn",), content=content)])

    @property
    def counts(self) -> list[str]:
        """The number of saved memories of each level that has some."""
        folders = self.memories.folders.items() if self.memories else ()
        sizes = ((level, len(folder.ids())) for level, folder in folders)
        return [f"{level.partition('_')[0]} memories {size}" for level, size in sizes if size]


def open_knowledge(
    settings: Settings, definition: DefinitionFile, root: Path, tell: Callable[[str], None]
) -> Knowledge:
    """Open the memories and the methodologies of an agent on the tree at `root`."""
    analyzes = settings.agent.use_analysis if definition.use_analysis is None else definition.use_analysis
    return Knowledge(
        settings,
        definition,
        root,
        tell,
        memory_files(root, settings.data_dir, tell=tell) if settings.agent.memory else None,
        open_methodologies(None, settings.data_dir) if analyzes else None,
    )
