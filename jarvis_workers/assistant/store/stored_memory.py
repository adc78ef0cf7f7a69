"""The memories of an agent that runs as a job: those of its project, in the results store.

A job may run on any machine and resume on another, so it has neither memories of its process nor those of a user.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from jarvis_workers.assistant.memory.entry import MemoryDraft, MemoryEntry, MemoryType
from jarvis_workers.assistant.store import memories
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.store.engine import Store


class StoredMemory:
    """A book (`assistant.memory.entry`) over the results store; it waits while the store is unavailable."""

    types: Sequence[MemoryType] = ("project_long_term",)

    def __init__(self, store: Store, project: str) -> None:
        self._store, self._project = store, project

    def read(self, types: Collection[MemoryType]) -> Iterator[MemoryEntry]:
        before: memories.PagePosition | None = None
        while "project_long_term" in types:
            page = retry_store(partial(self._page, before))
            yield from (entry for _, entry in page)
            if len(page) < memories.PAGE:
                return
            before = page[-1][0]

    def add(self, drafts: Sequence[MemoryDraft]) -> list[MemoryEntry]:
        def save() -> list[MemoryEntry]:
            with self._store.write() as session:
                return memories.add(session, self._project, drafts)

        return retry_store(save)

    def remove(self, ids: Collection[str], types: Collection[MemoryType]) -> int:
        def forget() -> int:
            with self._store.write() as session:
                return memories.remove(session, self._project, ids)

        return retry_store(forget) if "project_long_term" in types else 0

    def _page(self, before: memories.PagePosition | None) -> list[tuple[memories.PagePosition, MemoryEntry]]:
        with self._store.read() as session:
            return memories.page(session, self._project, before)
