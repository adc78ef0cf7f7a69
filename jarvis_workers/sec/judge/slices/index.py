"""Symbol index of a tree: definitions and uses of functions, definitions of types, macros and global variables.

The index does not parse: one pass records which files call or define a name, and a query searches the nearest files.
The pass ends after MOST_BYTES, a query after FILES_LOOKED_AT files; definitions beyond these limits are not shown.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import nsmallest
from threading import Lock
from typing import NamedTuple

from jarvis_workers.agents.tools.listing import FileMissing, Tree
from jarvis_workers.agents.tools.reading import CODE_SUFFIXES
from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.sec.judge.slices.places import (
    GIVEN,
    CodeRange,
    SourceFile,
    defined_at,
    mentions_of,
    split_name,
    use_at,
)
from jarvis_workers.source.languages import is_header, language_of

MOST_BYTES = 64 << 20
CACHE_BYTES = 16 << 20
FILES_LOOKED_AT = 8
# Files searched for the uses of a function, and the uses that are counted.
USING_FILES, USES_MAX = 40, 200
# Alternative definitions of a name, under different preprocessor conditions.
ALTERNATIVES = 3
DEFINITIONS_MAX = 4_096
CALLED = re.compile(rb"\b([A-Za-z_]\w*+)[ \t]*+\(")
# The beginning of a function: a name before a parenthesis, on a line without indentation, or Rust's `fn`.
HEADED = re.compile(rb"^(?:[A-Za-z_~][^\n(;={}]*[\s*&:~])?(\w+)[ \t]*\(|\bfn\s+(\w+)", re.MULTILINE)
DEFINED = re.compile(
    rb"""\#[ \t]*define[ \t]+(\w++)
    | \b(?:struct|union|enum|class|trait)\s++(\w++)[^;(){}=]{0,100}\{
    | \b(?:const|static)\s++(?:mut\s++)?(\w++)\s*+:(?!:)
    | \}\s*+(\w++)\s*+;
    | \btypedef\b[^;{}]{0,200}?\b(\w++)\s*+(?:\[[^]]*\]\s*+)?;""",
    re.VERBOSE,
)
GLOBAL = re.compile(
    rb"^(?!typedef|return|using|goto|#)[A-Za-z_][\w \t*]{0,100}?[ \t*](\w++)[ \t]*+"
    rb"(?:\[[^]\n]*\][ \t]*+){0,4}(?:;|=[^=])",
    re.MULTILINE,
)


class Used(NamedTuple):
    """Lines of a file: a definition, or a call."""

    file: SourceFile
    first: int
    last: int


class CallSites(NamedTuple):
    """The uses of a function, the nearest first: its calls, and the places that take its address.

    Not all are listed if the limits of the search were reached, or a part of the tree was not indexed.
    """

    calls: tuple[Used, ...]
    addresses: tuple[Used, ...]
    is_complete: bool


class CodeIndex:
    """Thread-safe index of a tree; each file is read once."""

    def __init__(self, tree: Tree, *, most_bytes: int = MOST_BYTES, cache_bytes: int = CACHE_BYTES) -> None:
        self.tree = tree
        self._most_bytes, self._cache_bytes = most_bytes, cache_bytes
        self._lock, self._reading = Lock(), Lock()
        self._files: OrderedDict[str, SourceFile] = OrderedDict()
        self._cached_bytes = 0
        self._paths: list[str] | None = None
        self._calling: dict[bytes, list[int]] = {}
        self._heading: dict[bytes, list[int]] = {}
        self._defining: dict[bytes, list[int]] = {}
        self._giving: dict[bytes, list[int]] = {}
        self._is_whole = True
        self.meanings = lru_cache(DEFINITIONS_MAX)(self._meanings)

    @property
    def is_whole(self) -> bool:
        """Whether the whole tree is indexed."""
        self._code_paths()
        return self._is_whole

    def file(self, path: str) -> SourceFile | None:
        """Return a file, or None if it is missing or unreadable."""
        path = path.removeprefix("./")
        with self._lock:
            if path in self._files:
                self._files.move_to_end(path)
                return self._files[path]
        try:
            source_file = SourceFile(path, self.tree.read(path))
        except ToolFailed:
            return None
        with self._lock:
            self._keep(source_file)
        return source_file

    def definition(self, name: bytes, near: str) -> tuple[SourceFile, CodeRange] | None:
        """Return the function that a name refers to in a file: a local one, or the nearest with external linkage."""
        for file in self._looked_at(self._heading, name, near):
            for place in file.places:
                if (
                    place.function
                    and place.function.name == name
                    and (file.path == near or not _is_private(file, place))
                ):
                    return file, place
        return None

    def uses(self, file: SourceFile, place: CodeRange) -> CallSites:
        """Return the uses of a function outside of its own body."""
        assert place.function is not None
        name = place.function.name
        only = _is_private(file, place)
        paths = self._code_paths()
        using = sorted({*self._calling.get(name, ()), *self._giving.get(name, ())})
        named = [paths[at] for at in using if not only or paths[at] == file.path]
        calls: list[Used] = []
        addresses: list[Used] = []
        for path in nsmallest(USING_FILES, named, key=lambda path: _distance(path, file.path)):
            other = self.file(path)
            for at in mentions_of(other.masked, name, USES_MAX * 4) if other else ():
                assert other is not None
                line = other.line_of(at)
                if other.path == file.path and place.first <= line <= place.last:
                    continue
                kind = use_at(other, at, at + len(name))
                if kind and len(calls) + len(addresses) < USES_MAX:
                    (calls if kind == "call" else addresses).append(Used(other, line, line))
        is_complete = self._is_whole or only
        whole = len(named) <= USING_FILES and len(calls) + len(addresses) < USES_MAX
        return CallSites(tuple(calls), tuple(addresses), is_complete and whole)

    def _meanings(self, name: bytes, near: str) -> tuple[Used, ...]:
        """Return the definitions of a type, macro or global variable in the file nearest to a file.

        There are several if they have different preprocessor conditions; those for other platforms are left out
        unless there are only those.
        """
        elsewhere: list[Used] = []
        for file in self._looked_at(self._defining, name, near):
            result = []
            for at in mentions_of(file.masked, name):
                if span := defined_at(file, at, at + len(name)):
                    result.append(Used(file, file.line_of(span[0]), file.line_of(span[1])))
            here = [used for used in result if not file.conditions.is_elsewhere(used.first)]
            if here:
                return _alternatives(here)
            elsewhere += result
        return _alternatives(elsewhere)

    def paths_ending(self, path: str) -> list[str]:
        """Return the paths of code files that end with the parts of a path."""
        return [one for one in self._code_paths() if one.endswith("/" + path)]

    def _looked_at(self, positions: dict[bytes, list[int]], name: bytes, near: str) -> Iterator[SourceFile]:
        paths = self._code_paths()
        named = (paths[place] for place in positions.get(name, ()))
        nearest = nsmallest(FILES_LOOKED_AT, named, key=lambda path: _distance(path, near))
        return (file for path in nearest if (file := self.file(path)))

    def _code_paths(self) -> Sequence[str]:
        """Return the paths of code files, after the single pass over the tree."""
        with self._reading:
            if self._paths is None:
                self._paths = []
                self._read_all(self._paths)
            return self._paths

    def _read_all(self, paths: list[str]) -> None:
        left = self._most_bytes
        for path in self.tree.paths():
            try:
                content = self.tree.read(path)
            except ToolFailed:
                continue
            left -= len(content)
            if left < 0:
                self._is_whole = False
                break
            paths.append(path)
            for kind, names in (
                (self._calling, set(CALLED.findall(content))),
                (self._heading, _first_names(HEADED, content)),
                (self._defining, _first_names(DEFINED, content) | set(GLOBAL.findall(content))),
                (self._giving, set(GIVEN.findall(content))),
            ):
                for name in names:
                    kind.setdefault(name, []).append(len(paths) - 1)
        self._giving = {name: files for name, files in self._giving.items() if name in self._heading}

    def _keep(self, file: SourceFile) -> None:
        if file.path not in self._files:
            self._files[file.path] = file
            self._cached_bytes += len(file.content)
        while self._cached_bytes > self._cache_bytes and len(self._files) > 1:
            _, evicted = self._files.popitem(last=False)
            self._cached_bytes -= len(evicted.content)


def _first_names(shape: re.Pattern[bytes], content: bytes) -> set[bytes]:
    return {next(filter(None, names)) for names in shape.findall(content)}


def _distance(path: str, near: str) -> tuple[bool, int, str]:
    """Sort key: the file itself first, then files by the number of directories not shared."""
    ours, theirs = path.split("/")[:-1], near.split("/")[:-1]
    shared = next((at for at, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), None)
    shared = min(len(ours), len(theirs)) if shared is None else shared
    return path != near, len(ours) + len(theirs) - 2 * shared, path


def _is_private(file: SourceFile, place: CodeRange) -> bool:
    """Return whether a function can be named only in its own file: a static one that is not in a header."""
    assert place.function is not None
    if is_header(file.path.encode("utf-8", "backslashreplace")):
        return False
    head = file.masked[max(0, place.function.start - 200) : place.function.start]
    return b"static" in head[max(map(head.rfind, (b";", b"}", b"{"))) + 1 :].split()


def _alternatives(found: list[Used]) -> tuple[Used, ...]:
    """Return the first definition, and others of its file under other conditions."""
    first = found[0].file.conditions.at(found[0].first) if found else ()
    others = [used for used in found[1:] if first and used.file is found[0].file]
    return tuple([*found[:1], *others][:ALTERNATIVES])


# Trees for the tools of a verification: code that is read by the names of its functions, and code that is searched.

# Code that is not found is not evidence that the project has none.
SELECTED = "only the files that the scan selects are here, and the project may have others"


class PlacedTree:
    """A tree in which `a.c#f` is the function f of a.c, with its lines numbered from its first.

    Its text can address a model only in comments, and only in files that the read_code tool treats as code.
    """

    def __init__(self, index: CodeIndex) -> None:
        self._index = index

    def read(self, path: str) -> bytes:
        name, place_name = split_name(path)
        file = self._index.file(name)
        place = file.named(place_name) if file and place_name else None
        if file and place:
            return "\n".join(file.decided[place.first - 1 : place.last]).encode("utf-8", "surrogateescape")
        plain = self._index.file(path)
        if plain is None:
            return self._read(path)
        lines = plain.commented if path.lower().endswith(CODE_SUFFIXES) else plain.decided
        return "\n".join(lines).encode("utf-8", "surrogateescape")

    def _read(self, path: str) -> bytes:
        try:
            return self._index.tree.read(path)
        except FileMissing as error:
            raise FileMissing(f"{error}; {SELECTED}") from error

    def paths(self) -> Iterator[str]:
        return self._index.tree.paths()


class SearchTree:
    """The source files of a tree, for searches in the view that decides, with lines named as in slices."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index

    def read(self, path: str) -> bytes:
        return self._index.tree.read(path)

    def paths(self) -> Iterator[str]:
        return (path for path in self._index.tree.paths() if is_source(path))

    def decided(self, path: str, content: bytes) -> bytes:
        """Return the deciding view of a file with this content."""
        file = self._index.file(path) or SourceFile(path, content)
        return "\n".join(file.decided).encode("utf-8", "surrogateescape")

    def name_line(self, path: str, line: int) -> str:
        """Return the name of a line, such as `a.c#f:3`."""
        file = self._index.file(path)
        return file.name_of(line) if file else f"{path}:{line}"


def is_source(path: str) -> bool:
    """Return whether a path is that of code, rather than of a document."""
    return language_of(path.encode("utf-8", "backslashreplace")) is not None
