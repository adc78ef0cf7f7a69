"""list_files: the paths of a tree, or the number of files of each directory if there are many."""

import errno
import os
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from pydantic import Field

from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.paths import from_shown, leaves_the_root, shown

# The files that tools may read, which belong to one tree.

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


PATHS_MAX = 200
NOTHING = "no file matches"
DESCRIPTION = f"List the paths of the project's files; more than {PATHS_MAX} are counted by directory."


class ListFiles(ToolArguments):
    """The files to list."""

    files: str = Field(default="*", max_length=400, description="paths, such as src/*.c")


def list_files(tree: Tree, nothing: str = NOTHING) -> Tool:
    """Return the list_files tool for a tree; `nothing` is what it says if no file matches."""

    def run(arguments: ListFiles) -> ToolOutcome:
        paths = [path for path in tree.paths() if fnmatchcase(path, arguments.files)]
        shown = paths if len(paths) <= PATHS_MAX else _by_directory(paths)
        return ToolOutcome(stdout="\n".join(shown) or nothing)

    return typed(ListFiles, run, name="list_files", description=DESCRIPTION, brings_foreign=True, reads_only=True)


def _by_directory(paths: list[str]) -> list[str]:
    count = Counter(path.rpartition("/")[0] for path in paths)
    lines = [f"{directory or '.'}/: {number} files" for directory, number in sorted(count.items())]
    more = [f"[… {len(lines) - PATHS_MAX} more directories; use a narrower pattern …]"]
    return [f"{len(paths)} files:", *lines[:PATHS_MAX], *(more if len(lines) > PATHS_MAX else [])]
