"""An object store or directory at an fsspec URL: put, open, list and delete blobs."""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from jarvis_workers.errors import BlobsUnavailable, SettingsError, SnapshotError
from jarvis_workers.extras import advice, extra_of
from jarvis_workers.redact import redact
from jarvis_workers.snapshots.object_clients import DEFAULT_LIMITS, OBJECT_STORES, RequestLimits, connect

CLIENT_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.parsers", "ResponseParserError"),
    ("aiohttp", "ClientError"),
    ("google.auth.exceptions", "GoogleAuthError"),
)
# The keys of the time of the last write, in the object metadata from the clients: S3, local files, GCS, memory.
TIMES = ("LastModified", "mtime", "updated", "created")
FRESH_SECONDS = 12 * 3600.0
NO_FACTS: Mapping[str, Any] = MappingProxyType({})


class ObjectStore:
    """Blobs as files; outside a `reaching` block the methods raise the client's own errors.

    A forked process opens its own client, since a client has a thread. It must not close the inherited one: they share
    its sockets and poll set.
    """

    def __init__(self, url: str, limits: RequestLimits = DEFAULT_LIMITS) -> None:
        """Raise SettingsError for a URL that cannot be used; only the path is shown: the URL may contain a password."""
        scheme = url.partition("://")[0]
        try:
            files, self._root = connect(url, limits)
        except ImportError as error:
            raise SettingsError(f"blobs URL {scheme}://…: {missing_package(error)}") from error
        except ValueError as error:
            raise SettingsError(f"blobs URL {scheme}://…: {error}") from error
        self.shown = f"{scheme}://{self._root.lstrip('/')}"
        self._url, self._limits, self._clients = url, limits, {os.getpid(): files}
        self._has_directories = scheme not in OBJECT_STORES

    @property
    def _files(self) -> Any:
        pid = os.getpid()
        if pid not in self._clients:
            self._clients[pid] = connect(self._url, self._limits)[0]
        return self._clients[pid]

    def put(self, name: str, content: bytes | Path) -> None:
        """Write bytes or a file, unless a fresh copy exists."""
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        if self._is_fresh(name, size):
            return
        place = self._place(name)
        if self._has_directories:
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
            yield place.rsplit("/", 1)[-1], facts["size"], self._written_at(place, facts)

    def delete(self, name: str, unless_written_since: float | None) -> bool:
        """Delete a blob; return False if it was written since the given time."""
        place = self._place(name)
        try:
            if unless_written_since is not None and self._written_at(place) >= unless_written_since:
                return False
            self._files.rm_file(place)
        except FileNotFoundError:
            pass
        return True

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """Convert the client's errors in the block to BlobsUnavailable, and a refusal to SnapshotError.

        A refusal does not pass by itself: it is a failed attempt of the job, whose attempts are limited.
        """
        try:
            yield
        except access_errors() as error:
            kind = SnapshotError if isinstance(error, PermissionError) else BlobsUnavailable
            raise kind(f"{self.shown}: {error_message(error)}") from error

    def _place(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name[2:4]}/{name}"

    def _written_at(self, place: str, facts: Mapping[str, Any] = NO_FACTS) -> float:
        """Return the time of the last write, if possible without a further request."""
        written = next((facts[name] for name in TIMES if facts.get(name)), None) or self._files.modified(place)
        return float(written.timestamp() if isinstance(written, datetime) else written)

    def _is_fresh(self, name: str, size: int) -> bool:
        """Return whether a recent copy exists; old ones are rewritten, since object stores cannot update times."""
        place = self._place(name)
        try:
            facts = self._files.info(place)
            return facts["size"] == size and self._written_at(place, facts) > time.time() - FRESH_SECONDS
        except FileNotFoundError:
            return False


def missing_package(error: ImportError) -> str:
    """Return which package is missing and how to install it, since fsspec's own message lacks the version."""
    absent = getattr(error.__cause__, "name", None) or error.name
    extra = extra_of(absent) if absent else None
    return f"{absent} is not installed; {advice(extra)}" if extra else str(error)


def access_errors() -> tuple[type[Exception], ...]:
    """Return OSError and the client errors that are not subclasses of it, such as missing credentials."""
    loaded = [(sys.modules[module], name) for module, name in CLIENT_ERRORS if module in sys.modules]
    return OSError, *(getattr(module, name) for module, name in loaded)


def error_message(error: Exception) -> str:
    """Return the client's message in one line; for an error without a message, its type."""
    words = [redact(word) if "://" in word else word for word in str(error).split()]
    return " ".join(words) or type(error).__name__
