"""Memories in the store: by project, each once, newest first."""

from collections.abc import Sequence

from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.assistant.memory.entry import MemoryDraft, MemoryEntry, MemoryType
from jarvis_workers.assistant.memory.tools import memory_tools
from jarvis_workers.assistant.store import memories
from jarvis_workers.assistant.store.stored_memory import StoredMemory
from jarvis_workers.store.engine import Store

TYPES: tuple[MemoryType, ...] = ("project_long_term",)


def draft(content: str, *tags: str) -> MemoryDraft:
    return MemoryDraft(type="project_long_term", tags=tags or ("t",), content=content)


def contents(entries: Sequence[MemoryEntry]) -> list[str]:
    return [entry.content for entry in entries]


def read(store: Store, project: str) -> list[str]:
    return contents(list(StoredMemory(store, project).read(TYPES)))


def test_a_project_has_its_own_memories_newest_first(store: Store) -> None:
    mine, other = StoredMemory(store, "/mine\udcff"), StoredMemory(store, "https://host/other.git")
    began = store.now()
    mine.add([draft("1"), draft("2\0 内")])
    mine.add([draft("3")])
    other.add([draft("4")])

    entries = list(mine.read(TYPES))
    assert contents(entries) == ["3", "2\0 内", "1"]
    assert began - 1 <= entries[-1].created_at.timestamp() <= store.now() + 1
    assert read(store, "https://host/other.git") == ["4"]
    assert list(mine.read(["global_long_term", "short_term"])) == []


def test_an_equal_memory_is_saved_once(store: Store) -> None:
    book = StoredMemory(store, "/equal")
    for _ in range(2):
        book.add([draft("same", "a", "b"), draft("same", "b", "a"), draft("same", "c")])

    assert sorted(entry.tags[0] for entry in book.read(TYPES)) in (["a", "c"], ["b", "c"])


def test_pages_join_without_gaps(store: Store) -> None:
    number = 2 * memories.PAGE + 1
    StoredMemory(store, "/pages").add([draft(str(one)) for one in range(number)])

    assert read(store, "/pages") == [str(one) for one in reversed(range(number))]


def test_memories_are_removed_by_id_in_their_project_only(store: Store) -> None:
    book = StoredMemory(store, "/removed")
    first, second = book.add([draft("1"), draft("2")])

    assert StoredMemory(store, "/elsewhere").remove([first.id], TYPES) == 0
    assert book.remove([first.id], ["global_long_term"]) == 0
    assert book.remove([first.id, "../x", "'; DROP TABLE memory"], TYPES) == 1
    assert contents(list(book.read(TYPES))) == [second.content]


def test_a_job_has_no_other_level(store: Store) -> None:
    box = Toolbox(memory_tools(StoredMemory(store, "/levels")))
    memory = {"memory_type": "global_long_term", "tags": ["t"], "content": "c"}

    outcome = box.run("save_memory", {"memories": [memory]})

    assert outcome.stderr == "global_long_term is not available here, but project_long_term; nothing was done"
    assert box.run("retrieve_memory", {}).stdout == "no memory matches"
