"""The system prompt of the assistant, in the order of seed 002.

Identity, tools, skills, safety, routed skill, environment, principles; and for background tasks a routine. What the
agent may remember is told with each task (`memory.saving`), since the tags in use change.
Texts of others (skills, the project's identity files) come marked by the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.assistant.autonomy import Level

PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class PromptParts:
    """The variable parts; an empty one is left out.

    `identity` is the definition's own prompt, `about` the identity files, `skills` the list of names and descriptions,
    `routed` the text of the skills for this turn, `environment` facts such as the directory and the date.
    """

    identity: str
    about: str = ""
    skills: str = ""
    routed: str = ""
    environment: str = ""
    routine: str = ""
    level: Level = "full"
    has_person: bool = True


def system_prompt(parts: PromptParts, tools: Sequence[Tool]) -> str:
    """Return the system prompt; the rules for untrusted text and for calls in text form follow it (`Agent`)."""
    return fill_from(PROMPTS, "assistant", parts=parts, tools=tools)
