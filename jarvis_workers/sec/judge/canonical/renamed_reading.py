"""The tool read_code in the view without words."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from jarvis_workers.agents.loop.effects import Conversation, RunTool, Want, intercept
from jarvis_workers.agents.tools.reading import read_code
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.sec.judge.reading_tools import READ
from jarvis_workers.sec.judge.slices import CodeIndex, PlacedTree

RENAMED = "read_renamed_code"

T = TypeVar("T")


def reads_renamed(talk: Conversation[T]) -> Conversation[T]:
    """Forward a conversation; what it reads are files with replaced names."""

    def perform(want: Want) -> Conversation[Any]:
        return (yield replace(want, name=RENAMED) if isinstance(want, RunTool) and want.name == READ else want)

    return intercept(talk, perform)


def of_renamed_code(index: Callable[[], CodeIndex]) -> Tool:
    """Return the tool that `reads_renamed` calls; it runs again if a conversation is resumed, as it gives names."""
    return replace(read_code(_Files(index)), name=RENAMED, replayed=True)


class _Files:
    """The files of an index that may not exist yet."""

    def __init__(self, index: Callable[[], CodeIndex]) -> None:
        self._index = index

    def read(self, path: str) -> bytes:
        return PlacedTree(self._index()).read(path)

    def paths(self) -> Iterator[str]:
        return PlacedTree(self._index()).paths()
