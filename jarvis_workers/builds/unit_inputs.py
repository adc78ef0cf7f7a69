"""The files of a tree on which the compilation of a unit may depend, as a hash for caches.

A unit depends on all files whose name is that of a file it includes, wherever they are, since options and macros decide
which of them is found; so do those files. If a macro names a file, it is any. That is more than a compiler reads, and
needs no compiler.
"""

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.builds.compile_arguments import FILE_VALUES
from jarvis_workers.builds.local_tree import below
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.includes import included_names


class _File(NamedTuple):
    """The hash of a file, and the names that it includes; None if these may be any."""

    digest: str
    names: tuple[str, ...] | None


class UnitInputs:
    """The files of a tree that does not change."""

    def __init__(self, root: Path) -> None:
        self._root = os.fspath(root)
        self._named = _files_by_name(self._root)
        self._read: dict[str, _File] = {}

    def digest(self, command: CompileCommand) -> str:
        """Return a hash of the arguments of a unit and of all that it may include."""
        file = os.fsdecode(command.file)
        seen, waiting = set[str](), [file, *self._with_names(_forced(command.arguments))]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += self._with_names(self._facts(path).names)
        parts = [file, os.fsdecode(command.directory), *command.arguments]
        parts += [f"{path}:{self._facts(path).digest}" for path in sorted(seen)]
        return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def _with_names(self, names: Iterable[str] | None) -> Iterator[str]:
        chosen = self._named if names is None else names
        return (path for name in chosen for path in self._named.get(name, ()))

    def _facts(self, path: str) -> _File:
        if path not in self._read:
            self._read[path] = _read(f"{self._root}/{path}")
        return self._read[path]


@lru_cache(2)
def unit_inputs(root: Path) -> UnitInputs:
    """Return the files of a tree that does not change, read once per process."""
    return UnitInputs(root)


def _files_by_name(root: str) -> Mapping[str, list[str]]:
    named, real = defaultdict[str, list[str]](list), os.path.realpath(root)
    for directory, _, files in os.walk(real):
        for name in files:
            path = below(os.path.realpath(f"{directory}/{name}"), real)
            if path is not None:
                named[name].append(path)
    return named


def _read(path: str) -> _File:
    try:
        content = Path(path).read_bytes() if Path(path).is_file() else b""
    except OSError:
        return _File("", ())
    found, digest = included_names(content), sha256(content).hexdigest()
    if not found.complete or any(one.macro for one in found.names):
        return _File(digest, None)
    names = {posixpath.basename(one.name.replace(b"\\", b"/")) for one in found.names}
    return _File(digest, tuple(sorted(map(os.fsdecode, names))))


def _forced(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the names of the files that options include."""
    for option, value in pairwise(arguments):
        if option in FILE_VALUES:
            yield posixpath.basename(value)
