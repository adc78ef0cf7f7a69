"""Cache translation units on this machine, keyed by all their inputs.

As in ccache, there are two lookups: the content of a unit's own file and its compile command lead to manifests, which
list the files that the unit read; the contents of the project's files in a manifest lead to the unit itself.  Files
outside the project are compared by size and time.  A project file with the same name as an included file may precede it
in the search order, so all such files are part of the key.  New files outside the project that precede an included file
are not detected.  A unit is not cached if it has errors, since a missing header may appear, or if it uses
`__has_include`.
"""

import base64
import json
import os
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.paths import as_text, from_text
from jarvis_workers.snapshots.filecache import FileCache
from jarvis_workers.source.clang.unit import CompileCommand, Unit
from jarvis_workers.source.identity import installed_version

FORMAT = 1
READER = "jarvis_workers.source.clang"
# Variables that add directories to clang's header search path.
SEARCH_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
# Maximum number of manifests kept per unit, the newest first.
MANIFESTS_MAX = 4
HAS_INCLUDE = b"__has_include"
CONTINUATION = re.compile(rb"\\[ \t]*\r?\n")
DEFINITIONS_KEY = "definitions-"


class CachedUnit(NamedTuple):
    """A unit encoded by `encode_unit`, and its definitions encoded by `encode_definitions`, b"" if not requested."""

    unit: bytes
    definitions: bytes = b""


class UnitCache:
    """The cached units of a snapshot; `digests` are the hashes of its files by path. Disabled without `results`.

    A unit depends on all symbolic `links` of the project, since each of them may lead to a header that is found first.
    """

    def __init__(
        self, results: FileCache | None, headers: Path, digests: Mapping[bytes, str], links: Mapping[str, str]
    ) -> None:
        self._results = results
        self._links = sorted(links.items())
        self._digests = digests
        self._reader = _identity(headers) if results else ""
        self._named = defaultdict[bytes, list[bytes]](list)
        if results:
            for path in sorted(digests):
                self._named[_name(path)].append(path)

    def find(self, command: CompileCommand, *, definitions: bool = False) -> CachedUnit | None:
        """Return the unit of a command, with its definitions if requested, or None."""
        key = self._key(command)
        for includes, system_files in self._manifests(command, key):
            if all(_facts(from_text(file)) == [size, time] for file, size, time in system_files):
                paths = [from_text(file) for file, *_ in system_files]
                content = self._content_key(key, [from_text(path) for path in includes], paths)
                names = [content, DEFINITIONS_KEY + content] if definitions else [content]
                found = [line for name in names if (line := self._line(command, name))]
                if len(found) == len(names):
                    return CachedUnit(*(zlib.decompress(base64.b64decode(line)) for line in found))
        return None

    def put(
        self, command: CompileCommand, unit: CachedUnit, read: Unit, system_files: Iterable[bytes], root: Path
    ) -> None:
        """Cache a unit that was read below `root`, unless the result may depend on anything but the files read."""
        if self._results is None or read.errors or _asks_for_headers(root, command, read):
            return
        key, outside = self._key(command), sorted(system_files)
        facts = [[as_text(path), *(_facts(path) or (0, 0))] for path in outside]
        manifest = [[as_text(path) for path in read.includes], facts]
        others = [one for one in self._manifests(command, key) if one != manifest]
        content = self._content_key(key, read.includes, outside)
        lines = {
            key: json.dumps([manifest, *others][:MANIFESTS_MAX], separators=(",", ":")).encode(),
            content: base64.b64encode(zlib.compress(unit.unit)),
        }
        if unit.definitions:
            lines[DEFINITIONS_KEY + content] = base64.b64encode(zlib.compress(unit.definitions))
        self._results.put(self._reader, command.file, lines)

    def _manifests(self, command: CompileCommand, key: str) -> list[Any]:
        found = self._line(command, key)
        return json.loads(found) if found else []

    def _line(self, command: CompileCommand, key: str) -> bytes | None:
        if self._results is None:
            return None
        return self._results.find(self._reader, command.file, [key]).get(key)

    def _key(self, command: CompileCommand) -> str:
        directory = as_text(command.directory)
        words = [as_text(command.file), directory, *command.arguments, self._digests.get(command.file, "")]
        return sha256(json.dumps([*words, *self._links]).encode()).hexdigest()

    def _content_key(self, key: str, includes: Iterable[bytes], outside: Iterable[bytes]) -> str:
        """Return the key of a unit that read these files; it covers all files of the project with these names."""
        digest = sha256(key.encode())
        included = list(includes)
        for name in sorted({_name(path) for path in (*included, *outside)}):
            digest.update(b"\0".join((b"\1", name, *self._named.get(name, ()))))
        for path in included:
            digest.update(b"\0".join((b"\2", path, self._digests.get(path, "").encode())))
        return digest.hexdigest()


def load_reader() -> None:
    """Compute the reader's identity; long-lived processes call this early, since its files may be replaced later."""
    _reader_files()


@cache
def _reader_files() -> str:
    digest = sha256()
    for file in sorted(files(READER).iterdir(), key=lambda file: file.name):
        if file.is_file():
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


@cache
def _identity(headers: Path) -> str:
    search = [os.environ.get(name, "") for name in SEARCH_VARIABLES]
    words = [FORMAT, _reader_files(), installed_version("libclang"), str(headers), *search]
    return sha256(json.dumps(words).encode()).hexdigest()[:16]


def _asks_for_headers(root: Path, command: CompileCommand, read: Unit) -> bool:
    """Return whether the arguments or files of a unit contain `__has_include`, which may be split over two lines."""
    contents = ((root / os.fsdecode(path)).read_bytes() for path in (read.file, *read.includes))
    joined = (CONTINUATION.sub(b"", content) for content in contents)
    return any(HAS_INCLUDE in text for text in (*map(from_text, command.arguments), *joined))


def _facts(path: bytes) -> list[int] | None:
    try:
        found = Path(os.fsdecode(path)).stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _name(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]
