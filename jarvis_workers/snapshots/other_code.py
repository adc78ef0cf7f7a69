"""Files that compilers take for code by their suffix, in none of the languages that are scanned: they are counted."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator

from jarvis_workers.snapshots.entries import LeftOut
from jarvis_workers.snapshots.ignore import not_a_source
from jarvis_workers.source.languages import OBJECTIVE_C


class OtherCodeFiles:
    """Collects these files; those that are `reached` otherwise do not count."""

    def __init__(self) -> None:
        self._paths: list[bytes] = []
        self.reached: Collection[bytes] = ()

    def add(self, path: bytes) -> None:
        self._paths.append(path)

    def objective_c(self, read: Callable[[bytes], bytes | str]) -> set[bytes]:
        """Return the files that are Objective-C by their content, or cannot be read."""
        contents = ((path, read(path)) for path in self._paths if path.lower().endswith(b".m"))
        return {path for path, content in contents if isinstance(content, str) or OBJECTIVE_C.search(content)}

    def remarks(self) -> Iterator[LeftOut]:
        """Yield the counts by suffix."""
        by_suffix = defaultdict[bytes, list[bytes]](list)
        for path in sorted(set(self._paths).difference(self.reached)):
            by_suffix[path.rpartition(b".")[2]].append(path)
        yield from (LeftOut(not_a_source(paths[0], len(paths)), len(paths)) for paths in by_suffix.values())
