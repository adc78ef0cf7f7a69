"""The files that tools may read, which belong to one tree.

A path is relative, contains no `..`, and none of its parts is a symbolic link: each part is opened relative to its
parent, so that concurrent changes cannot lead outside the tree.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.paths import from_shown, leaves_the_root, shown

LARGEST = 32 << 20
SKIPPED = frozenset({b".git", b".jarvis"})


class FileMissing(ToolFailed):
    """A tree has no such file."""


class Tree(Protocol):
    """Read access to files by path, with `/` as separator."""

    def read(self, path: str) -> bytes:
        """Return the content of a file. Raises ToolFailed."""

    def paths(self) -> Iterator[str]:
        """Yield the paths of all files, in a fixed order."""


class DirectoryTree:
    """A tree in a directory on this machine."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def read(self, path: str) -> bytes:
        parts = _parts(path)
        try:
            with _Opened(self._root, parts) as descriptor:
                about = os.fstat(descriptor)
                if not stat.S_ISREG(about.st_mode):
                    raise ToolFailed(f"{path} is not a file")
                if about.st_size > LARGEST:
                    raise ToolFailed(f"{path} is {about.st_size} bytes long, limit {LARGEST}")
                return b"".join(iter(lambda: os.read(descriptor, about.st_size + 1), b""))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise FileMissing(f"{path}: {_why(error)}") from error
        except OSError as error:
            raise ToolFailed(f"{path}: {_why(error)}") from error

    def paths(self) -> Iterator[str]:
        root = os.fsencode(self._root)
        for place, directories, files in os.walk(root):
            directories[:] = sorted(name for name in directories if name not in SKIPPED)
            below = os.path.relpath(place, root)
            for name in sorted(files):
                path = name if below == b"." else below + b"/" + name
                with suppress(OSError):
                    if stat.S_ISREG(os.lstat(os.path.join(root, path)).st_mode):  # noqa: PTH118  (bytes)
                        yield shown(path)


class _Opened:
    """A file, opened part by part without following symbolic links."""

    def __init__(self, root: Path, parts: list[bytes]) -> None:
        self._root, self._parts = root, parts
        self._descriptors: list[int] = []

    def __enter__(self) -> int:
        try:
            self._descriptors.append(os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            for part in self._parts[:-1]:
                self._open(part, os.O_DIRECTORY)
            self._open(self._parts[-1], os.O_NONBLOCK)
        except OSError:
            self.__exit__()
            raise
        return self._descriptors[-1]

    def __exit__(self, *_: object) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()

    def _open(self, part: bytes, kind: int) -> None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind
        self._descriptors.append(os.open(part, flags, dir_fd=self._descriptors[-1]))


def _parts(path: str) -> list[bytes]:
    try:
        name = from_shown(path.removeprefix("./"))
    except ValueError as error:
        raise ToolFailed(f"{path!r} is not a path") from error
    if leaves_the_root(name):
        raise ToolFailed(f"{path!r} is not below the root; give a path relative to it, without ..")
    return name.split(b"/")


def _why(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "is a symbolic link; links are not followed"
    return error.strerror or str(error)
