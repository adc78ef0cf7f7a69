"""Symbol index of a tree: definitions and callers of functions, definitions of types and macros.

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

from jarvis_workers.sec.judge.slices.places import CodeRange, SourceFile, split_name
from jarvis_workers.source.calls import opening
from jarvis_workers.tools.reading import CODE_SUFFIXES
from jarvis_workers.tools.tool import ToolFailed
from jarvis_workers.tools.tree import Tree

MOST_BYTES = 64 << 20
CACHE_BYTES = 16 << 20
FILES_LOOKED_AT = 8
MENTIONS_LOOKED_AT = 64
BODY_MAX = 8_192
DEFINITIONS_MAX = 4_096
CALLED = re.compile(rb"\b([A-Za-z_]\w*+)[ \t]*+\(")
# The beginning of a function: a name before a parenthesis, on a line without indentation, or Rust's `fn`.
HEADED = re.compile(rb"^(?:[A-Za-z_~][^\n(;={}]*[\s*&:~])?(\w+)[ \t]*\(|\bfn\s+(\w+)", re.MULTILINE)
DEFINED = re.compile(
    rb"""\#[ \t]*define[ \t]+(\w++)
    | \b(?:struct|union|enum|class|trait)\s++(\w++)[^;(){}=]{0,100}\{
    | \}\s*+(\w++)\s*+;
    | \btypedef\b[^;{}]{0,200}?\b(\w++)\s*+(?:\[[^]]*\]\s*+)?;""",
    re.VERBOSE,
)
MACRO = re.compile(rb"[ \t]*#[ \t]*define[ \t]+\Z")
KIND = re.compile(rb"\b(?:struct|union|enum|class|trait)\s+\Z")
BODY = re.compile(rb"[^;(){}=]{0,100}\{")
WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


class Used(NamedTuple):
    """Lines of a file: a definition, or a call."""

    file: SourceFile
    first: int
    last: int


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
        self.meaning = lru_cache(DEFINITIONS_MAX)(self._meaning)

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
                    and (file.path == near or not _is_static(file, place))
                ):
                    return file, place
        return None

    def callers(self, file: SourceFile, place: CodeRange) -> Iterator[Used]:
        """Yield the calls of a function, one for each calling function."""
        assert place.function is not None
        name = place.function.name
        only = _is_static(file, place)
        for other in self._looked_at(self._calling, name, file.path):
            if only and other.path != file.path:
                continue
            seen = set()
            for at in _mentions(other.masked, name):
                caller = other.at(line := other.line_of(at))
                inside = caller.function and caller.function.body[0] <= at <= caller.function.body[1]
                if inside and caller.name not in seen and opening(other.masked, at + len(name)) is not None:
                    seen.add(caller.name)
                    yield Used(other, line, line)

    def _meaning(self, name: bytes, near: str) -> Used | None:
        """Return the definition of a type or a macro nearest to a file."""
        for file in self._looked_at(self._defining, name, near):
            for at in _mentions(file.masked, name):
                if span := _defined_at(file.masked, at, at + len(name)):
                    return Used(file, file.line_of(span[0]), file.line_of(span[1]))
        return None

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
                return
            paths.append(path)
            for kind, names in (
                (self._calling, set(CALLED.findall(content))),
                (self._heading, _first_names(HEADED, content)),
                (self._defining, _first_names(DEFINED, content)),
            ):
                for name in names:
                    kind.setdefault(name, []).append(len(paths) - 1)

    def _keep(self, file: SourceFile) -> None:
        if file.path not in self._files:
            self._files[file.path] = file
            self._cached_bytes += len(file.content)
        while self._cached_bytes > self._cache_bytes and len(self._files) > 1:
            _, evicted = self._files.popitem(last=False)
            self._cached_bytes -= len(evicted.content)


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
            return self._index.tree.read(path)
        lines = plain.commented if path.lower().endswith(CODE_SUFFIXES) else plain.decided
        return "\n".join(lines).encode("utf-8", "surrogateescape")

    def paths(self) -> Iterator[str]:
        return self._index.tree.paths()


def _first_names(shape: re.Pattern[bytes], content: bytes) -> set[bytes]:
    return {next(filter(None, names)) for names in shape.findall(content)}


def _distance(path: str, near: str) -> tuple[bool, int, str]:
    """Sort key: the file itself first, then files by the number of directories not shared."""
    ours, theirs = path.split("/")[:-1], near.split("/")[:-1]
    shared = next((at for at, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), None)
    shared = min(len(ours), len(theirs)) if shared is None else shared
    return path != near, len(ours) + len(theirs) - 2 * shared, path


def _is_static(file: SourceFile, place: CodeRange) -> bool:
    assert place.function is not None
    head = file.masked[max(0, place.function.start - 200) : place.function.start]
    return b"static" in head[max(map(head.rfind, (b";", b"}", b"{"))) + 1 :].split()


def _mentions(text: bytes, name: bytes) -> Iterator[int]:
    """Yield at most MENTIONS_LOOKED_AT offsets of a name."""
    at = text.find(name)
    for _ in range(MENTIONS_LOOKED_AT):
        if at < 0:
            return
        end = at + len(name)
        if (at == 0 or text[at - 1] not in WORD) and (end == len(text) or text[end] not in WORD):
            yield at
        at = text.find(name, end)


def _defined_at(text: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Return the first and last byte of the definition of the name at `start`, or None if it is not defined there."""
    line = text.rfind(b"\n", 0, start) + 1
    if MACRO.match(text, line, start):
        return line, _end_of_macro(text, end)
    before = text[max(0, start - 60) : start]
    if KIND.search(before) and (opened := BODY.match(text, end)):
        return line, _closing(text, opened.end())
    if before.rstrip().endswith(b"}") and text[end : end + 60].lstrip().startswith(b";"):
        opened_at = _opening(text, text.rfind(b"}", 0, start))
        return text.rfind(b"\n", 0, opened_at) + 1, end
    statement = max(text.rfind(mark, max(0, start - 300), start) for mark in (b";", b"{", b"}", b"\n#")) + 1
    if text[statement:start].lstrip().startswith(b"typedef") and text[end : end + 60].lstrip().startswith((b";", b"[")):
        return start - len(text[statement:start].lstrip()), end
    return None


def _end_of_macro(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    while end > 0 and text[at:end].rstrip(b"\r").endswith(b"\\") and end - at < BODY_MAX:
        end = text.find(b"\n", end + 1)
    return end - 1 if end > 0 else len(text) - 1


def _closing(text: bytes, at: int) -> int:
    """Return the end of the block opened before `at`, within BODY_MAX."""
    depth = 1
    for place in range(at, min(len(text), at + BODY_MAX)):
        depth += {123: 1, 125: -1}.get(text[place], 0)
        if depth == 0:
            return place
    return min(len(text), at + BODY_MAX) - 1


def _opening(text: bytes, at: int) -> int:
    """Return the start of the block that ends at `at`, within BODY_MAX."""
    depth = 0
    for place in range(at, max(-1, at - BODY_MAX), -1):
        depth += {125: 1, 123: -1}.get(text[place], 0)
        if depth == 0:
            return place
    return max(0, at - BODY_MAX)
