"""Let a model merge a group of entries into one, given between <merged_memory> tags or by a JSON schema.

Entries that look like instructions to a model are not merged: masked lines would be lost with the old entries.
"""

from typing import cast

from pydantic import BaseModel, ConfigDict

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm, Way
from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.assistant.memory.entry import Content, Tags
from jarvis_workers.assistant.memory.grouping import MemoryGroup
from jarvis_workers.assistant.memory.guidance import FOLDER
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.profiles import Profile

TAG = "merged_memory"


class MergedMemory(BaseModel):
    """The text and the tags of a merged entry, as the model gives them."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)
    content: Content
    tags: Tags


class MergedForm(ReportForm):
    """The form of the answer: by schema where the model has schemas, otherwise between tags; never by a tool."""

    def __init__(self) -> None:
        super().__init__(MergedMemory, tag=TAG)

    def way(self, profile: Profile, *, has_tools: bool) -> Way:
        return "schema" if profile.schemas == "json_schema" else "tags"


def merge_group(agent: Agent, group: MemoryGroup) -> Conversation[MergedMemory]:
    """Return the merged memory; `agent` has a MergedForm. Raises AgentStopped, and UsageError for a suspicious text."""
    question = _question(agent.guard, group)
    masked = [suspicion for suspicion in agent.guard.suspicions if suspicion.level == "block"]
    if masked:
        raise UsageError(f"looks like an instruction to a model ({masked[0].rule}), and is not merged; read it first")
    result = yield from run_task(agent, question)
    return cast(MergedMemory, result.report)


def _question(guard: Guard, group: MemoryGroup) -> str:
    texts = [
        (f"{entry.changed_at:%Y-%m-%d %H:%M}", guard.admit(f"tags: {', '.join(entry.tags)}\n{entry.content}"))
        for entry in group.entries
    ]
    return fill_from(FOLDER, "merge", texts=texts)
