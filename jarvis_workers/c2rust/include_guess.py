"""Guess the include directories of sources without compile commands: those that hold the headers they include."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

from jarvis_workers.c2rust.compile_arguments import CompiledSource, language_of
from jarvis_workers.c2rust.path_map import absolute
from jarvis_workers.source.clang.unit import ROOT, CompileCommand

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
MOST_DIRECTORIES = 200


class Include(NamedTuple):
    """The name in an `#include`, in quotes or in angle brackets."""

    name: str
    quoted: bool


def includes_of(content: bytes) -> tuple[Include, ...]:
    """Return what a source or header includes by name; names that macros expand to are not among them."""
    names = INCLUDE.findall(content)
    return tuple(Include((a or b).decode("utf-8", "surrogateescape"), bool(a)) for a, b in names)


def guess_commands(
    files: Mapping[str, tuple[Include, ...]], arguments: tuple[str, ...], is_system: Callable[[str], bool]
) -> tuple[CompileCommand, ...]:
    """Return a command for each C or C++ source, with the include directories that all files together need.

    `files` are the includes of sources and headers by relative path; `is_system` tells whether `<name>` is a header of
    the system, which a file of the same name in the tree must not hide.  Near directories are searched first.
    """
    directories = _directories(files, is_system)
    sources = sorted(name for name in files if language_of(CompiledSource(name, None)))
    return tuple(
        CompileCommand(_bytes(source), b".", (*_near_first(source, directories), *arguments)) for source in sources
    )


def _directories(files: Mapping[str, tuple[Include, ...]], is_system: Callable[[str], bool]) -> list[str]:
    by_name = defaultdict[str, list[str]](list)
    for path in sorted(files):
        by_name[posixpath.basename(path)].append(path)
    found = set[str]()
    for including, includes in files.items():
        for name, quoted in includes:
            beside = absolute(posixpath.join("/", posixpath.dirname(including), name), "/")[1:]
            if (quoted and beside in files) or (not quoted and is_system(name)):
                continue
            for path in by_name.get(posixpath.basename(name), ()):
                if path == name or path.endswith(f"/{name}"):
                    found.add(path.removesuffix(name).rstrip("/"))
    return sorted(found)[:MOST_DIRECTORIES]


def _near_first(source: str, directories: list[str]) -> list[str]:
    parents = source.split("/")[:-1]

    def distance(directory: str) -> tuple[int, str]:
        parts = [part for part in directory.split("/") if part]
        shared = next((i for i, (a, b) in enumerate(zip(parts, parents, strict=False)) if a != b), -1)
        shared = min(len(parts), len(parents)) if shared < 0 else shared
        return len(parts) + len(parents) - 2 * shared, directory

    return [f"-I{posixpath.join(ROOT, place) if place else ROOT}" for place in sorted(directories, key=distance)]


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
