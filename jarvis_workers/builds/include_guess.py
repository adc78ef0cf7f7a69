"""Guess the include directories of sources without compile commands: those that contain the included headers."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

from jarvis_workers.builds.compile_arguments import CompiledSource, language_of
from jarvis_workers.builds.path_map import absolute
from jarvis_workers.paths import from_text
from jarvis_workers.source.clang.unit import ROOT, CompileCommand

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
MOST_DIRECTORIES = 200
MOST_OF_A_NAME = 1000


class Include(NamedTuple):
    """The name in an `#include`, in quotes or in angle brackets."""

    name: str
    quoted: bool


def includes_of(content: bytes) -> tuple[Include, ...]:
    """Return the names that a source or header includes, except for names that result from macros."""
    names = INCLUDE.findall(content)
    return tuple(Include((a or b).decode("utf-8", "surrogateescape"), bool(a)) for a, b in names)


def guess_commands(
    files: Mapping[str, tuple[Include, ...]], arguments: tuple[str, ...], is_system: Callable[[str], bool]
) -> tuple[CompileCommand, ...]:
    """Return a command for each C or C++ source, with the include directories that all files together need.

    `files` maps relative paths of sources and headers to their includes. `is_system` returns whether `<name>` is a
    system header, which a file of the same name in the tree must not hide.  Nearby directories are searched first.
    """
    directories = _directories(files, is_system)
    sources = sorted(name for name in files if language_of(CompiledSource(name, None)))
    options = {place: _near_first(place, directories) for place in {posixpath.dirname(source) for source in sources}}
    return tuple(
        CompileCommand(from_text(source), b".", (*options[posixpath.dirname(source)], *arguments)) for source in sources
    )


def _directories(files: Mapping[str, tuple[Include, ...]], is_system: Callable[[str], bool]) -> list[str]:
    by_name = defaultdict[str, list[str]](list)
    for path in sorted(files):
        by_name[posixpath.basename(path)].append(path)
    names = set[str]()
    for including, includes in files.items():
        for name, quoted in includes:
            beside = absolute(posixpath.join("/", posixpath.dirname(including), name), "/")[1:]
            if name not in names and not (quoted and beside in files) and (quoted or not is_system(name)):
                names.add(name)
    found = set[str]()
    for name in names:
        for path in by_name.get(posixpath.basename(name), ())[:MOST_OF_A_NAME]:
            if path == name or path.endswith(f"/{name}"):
                found.add(path.removesuffix(name).rstrip("/"))
    return sorted(found)[:MOST_DIRECTORIES]


def _near_first(place: str, directories: list[str]) -> list[str]:
    """Return the include arguments for sources in the directory `place`, the nearest directories first."""
    parents = place.split("/") if place else []

    def distance(directory: str) -> tuple[int, str]:
        parts = directory.split("/") if directory else []
        shared = len(posixpath.commonprefix([parts, parents]))
        return len(parts) + len(parents) - 2 * shared, directory

    return [f"-I{posixpath.join(ROOT, place) if place else ROOT}" for place in sorted(directories, key=distance)]
