"""The memories of a user: short-term ones of this process, and files in the project and in the data directory."""

import heapq
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from jarvis_workers.assistant.chat.memory_folder import MemoryFolder, Tell
from jarvis_workers.assistant.memory.entry import MEMORY_TYPES, MemoryDraft, MemoryEntry, MemoryType, entry_of
from jarvis_workers.private_files import make_private_directory
from jarvis_workers.runs.jarvis_directory import make_directory

# The oldest short-term entries are dropped.
SHORT_TERM_MAX = 1_000


class MemoryFiles:
    """A book (`assistant.memory.entry`) whose long-term levels are folders. `clock` is in microseconds since 1970."""

    types: Sequence[MemoryType] = MEMORY_TYPES

    def __init__(self, folders: Sequence[MemoryFolder], clock: Callable[[], int]) -> None:
        self.folders = {folder.level: folder for folder in folders}
        self._clock = clock
        self._short_term: dict[str, MemoryEntry] = {}

    def read(self, types: Collection[MemoryType]) -> Iterator[MemoryEntry]:
        levels = [self._entries(level) for level in self.types if level in types]
        return heapq.merge(*levels, key=lambda entry: entry.id, reverse=True)

    def add(self, drafts: Sequence[MemoryDraft]) -> list[MemoryEntry]:
        return [self._add(draft) for draft in drafts]

    def remove(self, ids: Collection[str], types: Collection[MemoryType]) -> int:
        folders = [self.folders[level] for level in self.types if level in types and level in self.folders]
        removed = sum(folder.remove(one) for folder in folders for one in ids)
        if "short_term" in types:
            removed += sum(self._short_term.pop(one, None) is not None for one in ids)
        return removed

    def _entries(self, level: MemoryType) -> Iterator[MemoryEntry]:
        if level in self.folders:
            return self.folders[level].entries()
        return reversed(list(self._short_term.values()))

    def _add(self, draft: MemoryDraft) -> MemoryEntry:
        if folder := self.folders.get(draft.type):
            return folder.add(draft, self._clock())
        at = self._clock()
        while (entry := entry_of(draft, at)).id in self._short_term:
            at += 1
        self._short_term[entry.id] = entry
        if len(self._short_term) > SHORT_TERM_MAX:
            del self._short_term[next(iter(self._short_term))]
        return entry


def memory_files(
    root: Path, data: Path, *, tell: Tell, clock: Callable[[], int] = lambda: time.time_ns() // 1_000
) -> MemoryFiles:
    """Open the memories of the project at `root`, and those of all projects in the data directory.

    `tell` gets a line for each damaged file.
    """
    project, own = root / ".jarvis" / "memory", data / "memory" / "global_long_term"
    folders = (
        MemoryFolder(
            "project_long_term", project, lambda: make_directory(project, own=True), tell, (project.parent, project)
        ),
        MemoryFolder("global_long_term", own, lambda: make_private_directory(own), tell),
    )
    return MemoryFiles(folders, clock)
