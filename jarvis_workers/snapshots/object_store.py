"""An object store or directory at an fsspec URL: put, open, list and delete blobs."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import fsspec

from jarvis_workers.errors import SettingsError, SnapshotError, StoreError
from jarvis_workers.extras import advice, extra_of

CLIENT_ERRORS = (("botocore.exceptions", "BotoCoreError"), ("google.auth.exceptions", "GoogleAuthError"))
FRESH_SECONDS = 12 * 3600.0


class ObjectStore:
    """Blobs as files; outside a `reaching` block the methods raise the client's own errors."""

    def __init__(self, url: str) -> None:
        """Raise SettingsError for a URL that cannot be used; only its path is shown, as it may contain a password."""
        scheme = url.partition("://")[0]
        try:
            self._files, self._root = _connect(url)
        except ImportError as error:
            raise SettingsError(f"blobs URL {scheme}://…: {_missing(error)}") from error
        except ValueError as error:
            raise SettingsError(f"blobs URL {scheme}://…: {error}") from error
        self.shown = f"{scheme}://{self._root.lstrip('/')}"

    def put(self, name: str, content: bytes | Path) -> None:
        """Write bytes or a file, unless a fresh copy exists."""
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        if self._is_fresh(name, size):
            return
        place = self._place(name)
        self._files.makedirs(self._files._parent(place), exist_ok=True)
        if isinstance(content, Path):
            self._files.put_file(str(content), place)
        else:
            self._files.pipe_file(place, content)

    def has(self, name: str) -> bool:
        return bool(self._files.exists(self._place(name)))

    def open(self, name: str) -> IO[bytes]:
        """Open a blob for reading. Raises FileNotFoundError."""
        stream: IO[bytes] = self._files.open(self._place(name), "rb")
        return stream

    def listed(self) -> Iterator[tuple[str, int, float]]:
        """Yield name, size and time of the last write (seconds since 1970) of each blob."""
        for place, facts in self._files.find(self._root, detail=True).items():
            yield place.rsplit("/", 1)[-1], facts["size"], self._modified(place)

    def delete(self, name: str, unless_written_since: float | None) -> bool:
        """Delete a blob; return False if it was written since the given time."""
        place = self._place(name)
        try:
            if unless_written_since is not None and self._modified(place) >= unless_written_since:
                return False
            self._files.rm_file(place)
        except FileNotFoundError:
            pass
        return True

    @contextmanager
    def reaching(self, family: type[StoreError] | type[SnapshotError]) -> Iterator[None]:
        """Convert the client's errors in the block to `family`."""
        try:
            yield
        except _access_errors() as error:
            raise family(f"{self.shown}: {' '.join(str(error).split()) or type(error).__name__}") from error

    def _place(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name[2:4]}/{name}"

    def _modified(self, place: str) -> float:
        return float(self._files.modified(place).timestamp())

    def _is_fresh(self, name: str, size: int) -> bool:
        """Return whether a recent copy exists; old ones are rewritten, as object stores cannot touch their times."""
        place = self._place(name)
        try:
            whole = self._files.info(place)["size"] == size
            return whole and self._modified(place) > time.time() - FRESH_SECONDS
        except FileNotFoundError:
            return False


def _connect(url: str) -> tuple[Any, str]:
    files, root = fsspec.core.url_to_fs(url)
    return files, root.rstrip("/")


def _missing(error: ImportError) -> str:
    """Return which package is missing and how to install it, as fsspec's own message lacks the version."""
    absent = getattr(error.__cause__, "name", None) or error.name
    extra = extra_of(absent) if absent else None
    return f"{absent} is not installed; {advice(extra)}" if extra else str(error)


def _access_errors() -> tuple[type[Exception], ...]:
    """Return OSError and the client errors that are not subclasses of it, such as missing credentials."""
    loaded = [(sys.modules[module], name) for module, name in CLIENT_ERRORS if module in sys.modules]
    return OSError, *(getattr(module, name) for module, name in loaded)
