"""The files of a tree on which the compilation of a unit may depend, as a hash for caches.

A unit depends on all files whose name is that of a file it includes, wherever they are, since options and macros decide
which of them is found; so do those files. That is more than a compiler reads, and needs no compiler.
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
from jarvis_workers.builds.local_tree import below, includes_of
from jarvis_workers.source.clang.unit import CompileCommand


class _File(NamedTuple):
    digest: str
    names: tuple[str, ...]


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

    def _with_names(self, names: Iterable[str]) -> Iterator[str]:
        return (path for name in names for path in self._named.get(name, ()))

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
    names = {posixpath.basename(one.name) for one in includes_of(content)}
    return _File(sha256(content).hexdigest(), tuple(sorted(names)))


def _forced(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the names of the files that options include."""
    for option, value in pairwise(arguments):
        if option in FILE_VALUES:
            yield posixpath.basename(value)
