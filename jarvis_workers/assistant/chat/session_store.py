"""Session files in .jarvis/ of the working directory; only their owner may read them.

A file with other permissions is not restored: it may have come with a repository.
"""

import secrets
from collections.abc import Callable
from pathlib import Path

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.assistant.session_file import (
    SavedSession,
    read_session,
    restore_session,
    save_session,
    session_name,
)
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.protocol import Platform
from jarvis_workers.private_files import PRIVATE, read_private, touch_private
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.jarvis_directory import make_jarvis_directory
from jarvis_workers.words import ENGLISH

BYTES_MAX = 64 << 20
FOLDER = ".jarvis"


class SessionStore:
    """The file of the session of an agent, by its name and its platform; `id` identifies the session."""

    def __init__(self, root: Path, name: str, platform: Platform) -> None:
        self._root, self._platform = root, platform
        self.path = root / FOLDER / session_name(name, platform.name, platform.model)
        self.id = secrets.token_hex(16)
        self._saved: SavedSession | None = None

    def find(self, tell: Callable[[str], None]) -> None:
        """Find the saved session, to continue it with `restore`. Raises UsageError."""
        self._saved = self._read()
        if self._saved is None:
            tell(f"no saved session: {self.path} does not exist; a new one begins")
        else:
            self.id = self._saved.id

    def restore(self, agent: Agent, tell: Callable[[str], None]) -> None:
        """Continue the session that `find` has found."""
        if self._saved:
            restore_session(agent, self._saved)
            tell(f"restored: {ENGLISH.count(len(self._saved.messages), 'message')}")
            self._saved = None

    def save(self, agent: Agent) -> None:
        """Save the session; without a message there is nothing to save. Raises UsageError."""
        if len(agent.session.messages) > 1:
            self._write(save_session(agent, self.id, self._platform.name, self._platform.model))

    def _read(self) -> SavedSession | None:
        """Return the saved session, None if there is none. Raises UsageError."""
        try:
            content = read_private(self.path, BYTES_MAX)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be read: {error.strerror}") from error
        if not content:
            raise UsageError(
                f"{self.path}: not restored: it should belong to you, with the mode 600; if it is yours,"
                f" run: chmod 600 {self.path}"
            )
        return read_session(content.decode("utf-8", "replace"), str(self.path))

    def _write(self, text: str) -> None:
        """Replace the file. Raises UsageError."""
        try:
            make_jarvis_directory(self._root)
            touch_private(self.path)
            write_whole(self.path, [text, "\n"])
            self.path.chmod(PRIVATE)
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error.strerror}") from error

    def remove(self) -> None:
        """Remove the file, if there is one. Raises UsageError."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be removed: {error.strerror}") from error


def remove_or_tell(store: SessionStore, tell: Callable[[str], None]) -> None:
    """Remove the file of a session that ends; a failure is told in one line."""
    try:
        store.remove()
    except UsageError as problem:
        tell(str(problem))
