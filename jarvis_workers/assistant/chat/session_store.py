"""Session files in .jarvis/ of the working directory; only their owner may read them.

A file with other permissions is not restored: it may have come with a repository.
"""

from collections.abc import Callable
from pathlib import Path

from jarvis_workers.assistant.session_file import SavedSession, read_session
from jarvis_workers.errors import UsageError
from jarvis_workers.private_files import PRIVATE, read_private, touch_private
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.jarvis_directory import make_jarvis_directory

BYTES_MAX = 64 << 20
FOLDER = ".jarvis"


class SessionStore:
    """The file of one session."""

    def __init__(self, root: Path, name: str) -> None:
        self._root, self.path = root, root / FOLDER / name

    def read(self) -> SavedSession | None:
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

    def write(self, text: str) -> None:
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
