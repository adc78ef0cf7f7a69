"""Trees for the tools of a verification: code that is read by the names of its functions, and code that is searched."""

from collections.abc import Iterator

from jarvis_workers.agents.tools.reading import CODE_SUFFIXES
from jarvis_workers.agents.tools.tree import FileMissing
from jarvis_workers.sec.judge.slices.index import CodeIndex
from jarvis_workers.sec.judge.slices.places import SourceFile, split_name
from jarvis_workers.source.languages import language_of

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
