"""Look up which files of a working tree are tracked in git's index.

The index and the walk of the tree are both sorted by path bytes: the output of `git ls-files` is merged with the walk,
so memory use does not grow with the index, and git is started only at the first ignored path.
"""

import os
from bisect import bisect_left
from collections.abc import Mapping
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.telemetry import warning
from jarvis_workers.toolchain.git import local_environment
from jarvis_workers.toolchain.gittree import GitStream

WAIT_SECONDS = 60.0
# A line of `git ls-files --stage` is `mode hash stage<TAB>path`.
SUBMODULE = b"160000 "
# Git refuses trees of other users, since their configuration can name programs; this command runs none of them.
ANY_OWNER = {"safe.directory": "*"}
LIST = ("ls-files", "-z", "--stage")


class TrackedFiles:
    """The tracked paths below a directory. If git fails, every path counts as tracked, so that none is skipped."""

    def __init__(self, directory: Path, environ: Mapping[str, str], *, readable: bool = True) -> None:
        self._directory = directory
        self._environ = environ
        self._stream: GitStream | None = None
        self._paths: list[bytes] = []
        self._at = 0
        self._rest = b""
        self._submodules: set[bytes] = set()
        self._at_end = False
        self._unreadable = not readable

    def holds(self, path: bytes) -> bool:
        """Return whether a path relative to the directory is tracked; paths must be passed in ascending order.

        The path of a directory ends with a slash. A directory is tracked if it contains a tracked file or is a
        submodule.
        """
        if not self._unreadable:
            try:
                self._advance(path)
            except UsageError as problem:
                warning("git index unreadable: .gitignore not applied", tree=str(self._directory), why=str(problem))
                self._unreadable = True
                self.close()
        if self._unreadable or path in self._submodules:
            return True
        following = self._paths[self._at] if self._at < len(self._paths) else b""
        return following == path or (path.endswith(b"/") and following.startswith(path))

    def close(self) -> None:
        """Stop git if it is running."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _advance(self, path: bytes) -> None:
        """Advance to the first listed path that is not less than `path`."""
        while not self._at_end and (not self._paths or self._paths[-1] < path):
            self._read()
        self._at = bisect_left(self._paths, path, self._at)

    def _read(self) -> None:
        if self._stream is None:
            environ = local_environment(self._environ, ANY_OWNER)
            self._stream = GitStream(["-C", str(self._directory), *LIST], environ, seconds=WAIT_SECONDS)
        piece = self._stream.read()
        listed = self._rest + piece
        *lines, self._rest = listed.split(b"\0")
        if SUBMODULE in listed:
            self._submodules.update(_path(line) + b"/" for line in lines if line.startswith(SUBMODULE))
        self._paths, self._at = [_path(line) for line in lines], 0
        if not piece:
            self._at_end = True
            self.close()


def _path(line: bytes) -> bytes:
    return line[line.index(b"\t") + 1 :]


def in_working_tree(directory: Path) -> bool:
    """Return whether a directory is in a git working tree, that is, it or one of its parents contains `.git`."""
    return any(os.path.lexists(above / ".git") for above in (directory, *directory.parents))
