"""Organizing memories loses none, whatever happens meanwhile."""

import sys
from pathlib import Path

import pytest

from jarvis_workers.assistant.chat.memory_files import MemoryFiles, memory_files
from jarvis_workers.assistant.chat.memory_organizer import OrganizedMemories, organize, overlapping
from jarvis_workers.assistant.memory.entry import LONG_TERM, MemoryDraft, MemoryGroup, MemoryType
from jarvis_workers.assistant.memory.saving import MergedMemory

MERGED = MergedMemory(content="merged", tags=("a", "b"))
PROJECT: MemoryType = "project_long_term"


@pytest.fixture
def book(tmp_path: Path) -> MemoryFiles:
    """Two memories of the project that overlap, and two of the user."""
    book = memory_files(tmp_path / "project", tmp_path / "data", tell=pytest.fail)
    book.add([MemoryDraft(type=level, tags=("a", "b"), content=text) for level in LONG_TERM for text in ("1", "2")])
    return book


def contents(book: MemoryFiles) -> list[str]:
    return sorted(entry.content for entry in book.read([PROJECT]))


def organized(book: MemoryFiles, *, gone: bool = False) -> OrganizedMemories:
    def answer(group: MemoryGroup) -> MergedMemory:
        if gone:
            book.remove([group.ids[0]], [PROJECT])
        return MERGED

    return organize(book, list(overlapping(book, [PROJECT], 2)), answer)


def test_the_merged_entry_is_saved_before_the_old_ones_are_removed(book: MemoryFiles) -> None:
    steps: list[str] = []
    watching = [True]
    sys.addaudithook(
        lambda event, _: steps.append(event) if watching[0] and event in ("os.link", "os.remove") else None
    )
    result = organized(book)
    watching[0] = False

    assert contents(book) == ["merged"]
    assert (len(result.merged), result.replaced, result.failures) == (1, 2, [])
    # A temporary file is linked to its name and removed, then the two old files are.
    assert steps == ["os.link", "os.remove", "os.remove", "os.remove"]


def test_an_entry_that_is_removed_meanwhile_does_not_come_back(book: MemoryFiles) -> None:
    result = organized(book, gone=True)

    assert contents(book) == ["2"]
    assert result.merged == []
    assert "was removed meanwhile; the others were not merged" in result.failures[0]


def test_only_the_levels_that_are_named_are_organized(book: MemoryFiles) -> None:
    organized(book)

    assert len(list(book.read(["global_long_term"]))) == 2
    assert [group.entries[0].type for group in overlapping(book, LONG_TERM, 2)] == ["global_long_term"]
