"""Map paths in compile commands to the tree, including paths of another machine, symbolic links and `..`.

A file of another machine is found by the longest suffix of its path that exists in the tree; the remaining prefix is
the project root on that machine, and is applied to directories as well.
"""

import posixpath
from collections.abc import Callable
from typing import NamedTuple, Protocol

from jarvis_workers.source.clang.unit import ROOT


class ProjectTree(Protocol):
    """The tree of a project: `root` is its absolute path, without symbolic links."""

    @property
    def root(self) -> str: ...

    def exists(self, path: str) -> bool:
        """Return whether a file exists at an absolute path, on this machine."""
        ...

    def resolve(self, path: str) -> str:
        """Return an absolute path without symbolic links."""
        ...

    def read(self, path: str) -> str | None:
        """Return the text of a response file in the tree, or None if it is missing.

        Raises ValueError if it is rejected.
        """
        ...


class MissingSource(Exception):
    """No file of the tree matches the path."""


class SourcePlace(NamedTuple):
    """The path of a source relative to the root, None if it is outside the root."""

    relative: str | None


class PathMap:
    """The paths in a compile_commands.json, and the roots of the project according to it."""

    def __init__(self, tree: ProjectTree) -> None:
        self._tree = tree
        self._roots = [tree.root]

    def source(self, path: str) -> SourcePlace:
        """Return the place of a source given by an absolute path. Raises MissingSource."""
        for root in self._roots:
            inside = below(path, root)
            if inside is not None and self._exists(inside):
                return SourcePlace(inside)
        if self._tree.exists(path):
            resolved = below(self._tree.resolve(path), self._tree.root)
            if resolved is not None:
                self._add_root(path, resolved)
            return SourcePlace(resolved)
        return SourcePlace(self._by_suffix(path))

    def argument(self, path: str) -> str:
        """Convert an absolute path in an argument; a path below a root becomes relative to `ROOT`."""
        for root in self._roots:
            inside = below(path, root)
            if inside is not None:
                return posixpath.join(ROOT, inside) if inside else ROOT
        return path

    def directory(self, path: str) -> str:
        """Return a directory relative to the root, or "." if it is outside the root."""
        return self.argument(path).removeprefix(ROOT).strip("/") or "." if self.argument(path).startswith(ROOT) else "."

    def _exists(self, inside: str) -> bool:
        return self._tree.exists(posixpath.join(self._tree.root, inside))

    def _by_suffix(self, path: str) -> str:
        parts = path.split("/")[1:]
        for start in range(1, len(parts)):
            inside = "/".join(parts[start:])
            if self._exists(inside):
                self._add_root(path, inside)
                return inside
        raise MissingSource(path)

    def _add_root(self, path: str, inside: str) -> None:
        """Record the path before `inside` as a root.

        Longer roots are tried first, as they may be inside shorter ones.
        """
        root = path.removesuffix(inside).rstrip("/")
        if root and root not in self._roots and path.endswith(f"/{inside}"):
            self._roots = sorted((*self._roots, root), key=len, reverse=True)


def below(path: str, root: str) -> str | None:
    """Return `path` relative to `root` ("" for the root itself), or None if it is not below it."""
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(root.rstrip("/") + "/") else None


def absolute(path: str, directory: str) -> str:
    """Return a path as seen from a directory, without `.` and `..`."""
    joined = posixpath.normpath(posixpath.join(directory, path))
    return joined[1:] if joined.startswith("//") else joined


def placing(paths: PathMap, directory: str) -> Callable[[str], str]:
    """Return a function that maps paths in the arguments of a command that ran in `directory`."""
    return lambda path: paths.argument(absolute(path, directory))
