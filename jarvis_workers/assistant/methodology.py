"""Methodologies: notes on how problems of a type are solved, which agents save and later agents read.

A note may come from a model that has read untrusted text, from a source tree or from a shared repository. Therefore
all of them enter a prompt as marked untrusted text, and within a bound.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Protocol

from pydantic import StringConstraints

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Upload
from jarvis_workers.agents.loop.loop import join_prompts
from jarvis_workers.agents.loop.prompts import fill, fill_from
from jarvis_workers.agents.loop.transcript import read_line
from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.assistant.send_message import PROMPTS
from jarvis_workers.errors import JarvisError

SAVE_METHODOLOGY = "save_methodology"
CONTENT_MAX = 16_000
# The results store cannot hold NUL characters.
WITHOUT_NUL = r"\A[^\x00]*\z"
# What a prompt contains: the most methodologies, and characters of all and of each.
MOST, CHARACTERS, CHARACTERS_EACH = 8, 16_000, 4_000
WORD, IDEOGRAPHS = re.compile(r"[a-z0-9_]{4,}"), re.compile("[\u4e00-\u9fff]{2,}")


class Methodology(ToolArguments):
    """How problems of a type are solved."""

    problem_type: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=WITHOUT_NUL)
    ]
    content: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=CONTENT_MAX, pattern=WITHOUT_NUL)
    ]


class MethodologyBook(Protocol):
    """The methodologies of a user."""

    def read(self) -> Sequence[Methodology]:
        """Return all methodologies."""

    def add(self, methodology: Methodology) -> None:
        """Save a methodology; it replaces an earlier one with the same problem type. Raises JarvisError."""


class LearnedMethodologies:
    """A book in memory, which a conversation commits; it begins with what an interrupted one has saved."""

    def __init__(self, transcript: Iterable[bytes]) -> None:
        self._saved: dict[str, Methodology] = {}
        for record in filter(None, map(read_line, transcript)):
            if record["kind"] == "result" and record["of"] == SAVE_METHODOLOGY and record["outcome"]["state"] == "done":
                self.add(Methodology.model_validate(record["arguments"]))

    def read(self) -> Sequence[Methodology]:
        return tuple(self._saved.values())

    def add(self, methodology: Methodology) -> None:
        self._saved[methodology.problem_type] = methodology

    def encode(self) -> list[dict[str, str]]:
        """Return the methodologies for JSON."""
        return [methodology.model_dump() for methodology in self._saved.values()]


def save_methodology(book: MethodologyBook) -> Tool:
    """Return the tool that saves a methodology."""

    def save(methodology: Methodology) -> ToolOutcome:
        try:
            book.add(methodology)
        except JarvisError as error:
            raise ToolFailed(str(error)) from error
        return ToolOutcome(stdout=f"saved for problems of the type {methodology.problem_type!r}")

    return typed(
        Methodology,
        save,
        name=SAVE_METHODOLOGY,
        description="Save how problems of a type are solved, for later tasks; replaces the earlier one of the type.",
    )


def choose_methodologies(methodologies: Iterable[Methodology], task: str) -> str:
    """Return the text of the methodologies that have most words in common with the task, within the bounds."""
    words = _words(task)
    ranked = sorted(
        ((len(words & _words(f"{one.problem_type} {one.content}")), one) for one in methodologies),
        key=lambda pair: (-pair[0], pair[1].problem_type),
    )
    parts, length = list[str](), 0
    for score, one in ranked[:MOST]:
        part = f"## {one.problem_type}\n{one.content[:CHARACTERS_EACH]}"
        length += len(part)
        if score and length <= CHARACTERS:
            parts.append(part)
    return "\n\n".join(parts)


def with_methodologies(agent: Agent, task: str, methodologies: str) -> Conversation[str]:
    """Return the task with methodologies: uploaded where the provider stores files, else in the text."""
    if not methodologies:
        return task
    notes = fill_from(PROMPTS, "methodologies", notes=agent.guard.admit(methodologies))
    uploaded: bool = yield Upload(notes)
    return join_prompts(task, fill("uploaded_notes") if uploaded else notes)


def _words(text: str) -> set[str]:
    """Return the words of a text of four letters or more, and pairs of ideographs."""
    pairs = {run[at : at + 2] for run in IDEOGRAPHS.findall(text) for at in range(len(run) - 1)}
    return pairs | set(WORD.findall(text.lower()))
