"""Files of a project as the model sees them in the view without words: line by line, with replaced names and texts."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

from jarvis_workers.agents.loop.untrusted_text import Suspicion
from jarvis_workers.agents.tools.listing import FileMissing
from jarvis_workers.sec.judge.canonical.line_reader import LineReader, Literal, Name, Piece
from jarvis_workers.sec.judge.canonical.renaming import Renaming
from jarvis_workers.sec.judge.slices import CodeIndex, CodeRange, SourceFile, View, split_name
from jarvis_workers.sec.judge.slices.places import END

PLAIN_PLACE = re.compile(r"(?P<before>before:)?(?P<name>.*?)(?P<count>\(\d+\))?\Z", re.DOTALL)


class _Lines(Sequence[str]):
    """The lines of a file, each replaced when it is first looked at."""

    def __init__(self, pieces: Sequence[Sequence[Piece]], names: Renaming) -> None:
        self._pieces, self._names = pieces, names

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, slice):
            return [self._line(one) for one in self._pieces[at]]
        return self._line(self._pieces[at])

    def _line(self, pieces: Sequence[Piece]) -> str:
        return "".join(map(self._shown, pieces)).rstrip()

    def _shown(self, piece: Piece) -> str:
        if isinstance(piece, Name):
            return self._names.name(*piece)
        return self._names.literal(piece.text) if isinstance(piece, Literal) else piece


class CanonicalFile(SourceFile):
    """A file with the lines and places of another one, under other names."""

    def __init__(self, file: SourceFile, index: CodeIndex, names: Renaming) -> None:
        super().__init__(file.path, b"")
        self._file, self._index, self._names = file, index, names
        self.path, self.language, self.hides_lines = names.path(file.path), file.language, False

    @cached_property
    def decided(self) -> Sequence[str]:
        pieces = list(LineReader(self._file, self._index).lines())
        count = len(self._file.raw)
        return _Lines([*pieces[:count], *([""] for _ in range(count - len(pieces)))], self._names)

    @cached_property
    def commented(self) -> Sequence[str]:
        return self.decided

    @cached_property
    def raw(self) -> Sequence[str]:
        return self.decided

    def lines(self, view: View) -> Sequence[str]:
        return self.decided

    @property
    def conditions(self) -> Any:
        return self._file.conditions

    @cached_property
    def places(self) -> tuple[CodeRange, ...]:
        return tuple(map(self._renamed, self._file.places))

    def at(self, line: int) -> CodeRange:
        return self._renamed(self._file.at(line))

    def named(self, name: str) -> CodeRange | None:
        place = PLAIN_PLACE.match(name)
        word = self._names.original(place["name"]) if place else None
        if place is None or (word is None and name != END):
            return None
        found = self._file.named(f"{place['before'] or ''}{word or END}{place['count'] or ''}")
        return self._renamed(found) if found else None

    def suspicions(self, first: int, last: int) -> tuple[Suspicion, ...]:
        return ()

    def _renamed(self, place: CodeRange) -> CodeRange:
        parts = PLAIN_PLACE.match(place.name)
        if place.name == END or parts is None:
            return place
        name = self._names.name(parts["name"], "f")
        return place._replace(name=f"{parts['before'] or ''}{name}{parts['count'] or ''}")


class CanonicalIndex(CodeIndex):
    """An index with the files of another one, under other names."""

    def __init__(self, index: CodeIndex, names: Renaming) -> None:
        super().__init__(CanonicalTree(self))
        self._index, self.names = index, names
        self._canonical: dict[str, CanonicalFile] = {}

    def canonical(self, path: str) -> CanonicalFile | None:
        """Return the file that has an original path."""
        if path not in self._canonical:
            if (file := self._index.file(path)) is None:
                return None
            self._canonical[path] = CanonicalFile(file, self._index, self.names)
        return self._canonical[path]

    def file(self, path: str) -> SourceFile | None:
        original = self.names.original(path.removeprefix("./"))
        return self.canonical(original) if original else None

    def definition(self, name: bytes, near: str) -> tuple[SourceFile, CodeRange] | None:
        original = self.names.original(name.decode("utf-8", "replace"))
        if original is None:
            return None
        found = self._index.definition(original.encode("utf-8", "backslashreplace"), self.names.original(near) or near)
        file = self.canonical(found[0].path) if found else None
        return (file, file.at(found[1].first)) if found and file else None

    def paths_ending(self, path: str) -> list[str]:
        return []


class CanonicalTree:
    """The files that have been named so far, and by their names the functions."""

    def __init__(self, index: CanonicalIndex) -> None:
        self._index = index

    def read(self, path: str) -> bytes:
        """Return a file, or the function that a name without a file means. Raises FileMissing."""
        file_name, place_name = split_name(path)
        if file := self._index.file(path):
            return "\n".join(file.decided).encode("utf-8", "surrogateescape")
        name = (place_name or file_name).removesuffix("()").encode("utf-8", "replace")
        # A function that only its file can name is found from there.
        found = next((one for near in ("", *self.paths()) if (one := self._index.definition(name, near))), None)
        found = found or self._within_a_file(name.decode("utf-8", "replace"))
        if found is None:
            raise FileMissing(f"{path}: the project has no such file or function in the code that it was scanned with")
        file, place = found
        return "\n".join(file.decided[place.first - 1 : place.last]).encode("utf-8", "surrogateescape")

    def _within_a_file(self, name: str) -> tuple[SourceFile, CodeRange] | None:
        """Return a function that the index does not find by its name, such as one in a namespace."""
        files = filter(None, map(self._index.file, self.paths()))
        return next(((file, place) for file in files if (place := file.named(name))), None)

    def paths(self) -> Iterator[str]:
        return iter(sorted(self._index.names.paths()))
