"""A transcript log in a file: lines are written on `append` and durable after `sync`."""

import asyncio
import os
from pathlib import Path

from jarvis_workers.errors import StoreFull, UsageError

NEW_FILE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class LogFile:
    """The transcript file of one conversation (`transcript.Log`); it stays open until `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def lines(self) -> list[bytes]:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UsageError(f"{self._path}: cannot be read: {error.strerror}") from error
        *lines, unfinished = content.split(b"\n")
        return [*lines, b""] if unfinished else lines

    def append(self, line: bytes) -> None:
        try:
            if self._descriptor < 0:
                self._open()
            os.write(self._descriptor, line + b"\n")
        except OSError as error:
            raise self._full(error) from error

    def sync(self) -> None:
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise self._full(error) from error

    async def sync_async(self) -> None:
        await asyncio.to_thread(self.sync)

    def keep(self, count: int) -> None:
        os.truncate(self._path, sum(len(line) + 1 for line in self.lines()[:count]))

    def close(self) -> None:
        """Close the file; a later `append` opens it again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()

    def _open(self) -> None:
        is_new = not self._path.exists()
        self._descriptor = os.open(self._path, NEW_FILE, 0o600)
        if is_new:
            sync_directory(self._path.parent)

    def _full(self, error: OSError) -> StoreFull:
        return StoreFull(f"{self._path}: cannot be written: {error.strerror}")


def sync_directory(directory: Path) -> None:
    """Flush the entries of a directory to disk (fsync)."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
