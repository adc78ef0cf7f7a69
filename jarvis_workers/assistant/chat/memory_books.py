"""The memories that a command is about: files of a user, or those in the results store of agents that ran as jobs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jarvis_workers.assistant.chat.memory_files import MemoryFiles, memory_files
from jarvis_workers.assistant.memory.entry import MemoryBook
from jarvis_workers.assistant.store.stored_memory import StoredMemory
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.sources import project_name
from jarvis_workers.runs.wiring import store_of
from jarvis_workers.settings import Settings


def files_of(settings: Settings, path: str, tell: Callable[[str], None]) -> MemoryFiles:
    """Open the memories of a project directory and of the user. Raises UsageError if there is no such directory."""
    if not Path(path).is_dir():
        raise UsageError(f"-p {path}: no such directory")
    return memory_files(Path(path), settings.data_dir, tell=tell)


@contextmanager
def open_book(settings: Settings, path: str, *, stored: bool, tell: Callable[[str], None]) -> Iterator[MemoryBook]:
    """Open memories as files, or the `stored` ones of a project, which may be a URL."""
    if not stored:
        yield files_of(settings, path, tell)
        return
    with store_of(settings, tell=tell) as store:
        yield StoredMemory(store, project_name(path))
