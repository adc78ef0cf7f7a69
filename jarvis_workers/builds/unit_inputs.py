"""The files of a tree on which the compilation of a unit may depend, as a hash for caches.

A unit depends on all files whose name is that of a file it includes, wherever they are, since options and macros decide
which of them is found; so do those files. A macro names what its definitions in the tree name; if one is no name, or an
option defines it, that is any file. That is more than a compiler reads, and needs no compiler.
"""

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.builds.compile_arguments import FILE_VALUES
from jarvis_workers.builds.local_tree import below
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.includes import included_names

# The rest of a line with a macro: `#include MACRO`, a condition, or a definition that names a file and nothing else.
HARMLESS = re.compile(
    rb"[ \t]*#[ \t]*(?:include|include_next|import|if|ifdef|ifndef|elif|undef)\b"
    rb"|[ \t]*#[ \t]*define[ \t]+\w+[ \t]+(?:\"([^\"\n]{1,1000})\"|<([^>\n]{1,1000})>)[ \t\r]*(?://[^\n]*|/\*[^\n]*)?$"
)


class _File(NamedTuple):
    """The hash of a file, the names that it includes, None if these may be any, and the macros that name a file."""

    digest: str
    names: tuple[str, ...] | None
    macros: tuple[bytes, ...] = ()


class UnitInputs:
    """The files of a tree that does not change."""

    def __init__(self, root: Path) -> None:
        self._root = os.fspath(root)
        self._named = _files_by_name(self._root)
        self._read: dict[str, _File] = {}
        self._macros: dict[bytes, tuple[str, ...] | None] = {}

    def digest(self, command: CompileCommand) -> str:
        """Return a hash of the arguments of a unit and of all that it may include."""
        file, given = os.fsdecode(command.file), frozenset(_defined(command.arguments))
        seen, waiting = set[str](), [file, *self._with_names(_forced(command.arguments))]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += self._with_names(self._facts(path).names)
                for macro in self._facts(path).macros:
                    waiting += self._with_names(None if macro in given else self._named_by(macro))
        parts = [file, os.fsdecode(command.directory), *command.arguments]
        parts += [f"{path}:{self._facts(path).digest}" for path in sorted(seen)]
        return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def _with_names(self, names: Iterable[str] | None) -> Iterator[str]:
        chosen = self._named if names is None else names
        return (path for name in chosen for path in self._named.get(name, ()))

    def _named_by(self, macro: bytes) -> tuple[str, ...] | None:
        """Return the names that a macro stands for in the tree; None, any, if a line about it may mean something else.

        Such are definitions in another form, and comments.
        """
        if macro not in self._macros:
            shape = re.compile(rb"(?<![\w$])" + re.escape(macro) + rb"(?![\w$])")
            lines = [line for text in self._texts for line in text.split(b"\n") if macro in line and shape.search(line)]
            found = [HARMLESS.match(line) for line in lines]
            names = sorted({_base(match[1] or match[2]) for match in found if match and (match[1] or match[2])})
            self._macros[macro] = tuple(names) if all(found) else None
        return self._macros[macro]

    @cached_property
    def _texts(self) -> list[bytes]:
        """The contents of the files that have a line with a directive; few trees name a file by a macro."""
        paths = {path for some in self._named.values() for path in some}
        return [text for path in sorted(paths) if b"#" in (text := _content(f"{self._root}/{path}"))]

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
    content = _content(path)
    found, digest = included_names(content), sha256(content).hexdigest()
    if not found.complete:
        return _File(digest, None)
    names = {_base(one.name) for one in found.names if not one.macro}
    return _File(digest, tuple(sorted(names)), tuple(sorted(one.name for one in found.names if one.macro)))


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes() if Path(path).is_file() else b""
    except OSError:
        return b""


def _base(name: bytes) -> str:
    return os.fsdecode(posixpath.basename(name.replace(b"\\", b"/")))


def _defined(arguments: Sequence[str]) -> Iterator[bytes]:
    """Yield the macros that options define."""
    for word, following in pairwise([*arguments, ""]):
        if word.startswith("-D"):
            yield os.fsencode((word[2:] or following).partition("=")[0].partition("(")[0])


def _forced(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the names of the files that options include."""
    for option, value in pairwise(arguments):
        if option in FILE_VALUES:
            yield posixpath.basename(value)
