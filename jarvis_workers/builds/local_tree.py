"""The files of a C project: those that compile commands name, and those that its units may read.

A unit may include a file of any name, so files are found by their suffix or because some file includes their name. A
symbolic link stands for its target in the tree; a link that leaves the tree does not belong to the project.
"""

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from jarvis_workers.builds.compile_arguments import C_SUFFIXES, CPP_SUFFIXES, CompiledSource, language_of
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_text, plain
from jarvis_workers.source.clang.unit import ROOT, CompileCommand

# Map paths in compile commands to the tree, including paths of another machine, symbolic links and `..`.


class ProjectTree(Protocol):
    """The tree of a project: `root` is its absolute path, without symbolic links."""

    @property
    def root(self) -> str: ...

    def exists(self, path: str) -> bool:
        """Return whether a file exists at an absolute path, on this machine."""
        ...

    def resolve(self, path: str) -> str:
        """Return an absolute path without symbolic links."""
        ...

    def read(self, path: str) -> str | None:
        """Return the text of a response file in the tree, or None if it is missing.

        Raises ValueError if it is rejected.
        """
        ...


class MissingSource(Exception):
    """No file of the tree matches the path."""


class SourcePlace(NamedTuple):
    """The path of a source relative to the root, None if it is outside the root."""

    relative: str | None


class PathMap:
    """The paths in a compile_commands.json, and the roots of the project according to it."""

    def __init__(self, tree: ProjectTree) -> None:
        self._tree = tree
        self._roots = [tree.root]

    def source(self, path: str) -> SourcePlace:
        """Return the place of a source given by an absolute path. Raises MissingSource."""
        for root in self._roots:
            inside = below(path, root)
            if inside is not None and self._exists(inside):
                return SourcePlace(inside)
        if self._tree.exists(path):
            resolved = below(self._tree.resolve(path), self._tree.root)
            if resolved is not None:
                self._add_root(path, resolved)
            return SourcePlace(resolved)
        return SourcePlace(self._by_suffix(path))

    def argument(self, path: str) -> str:
        """Convert an absolute path in an argument; a path below a root becomes relative to `ROOT`."""
        for root in self._roots:
            inside = below(path, root)
            if inside is not None:
                return posixpath.join(ROOT, inside) if inside else ROOT
        return path

    def directory(self, path: str) -> str:
        """Return a directory relative to the root, or "." if it is outside the root."""
        return self.argument(path).removeprefix(ROOT).strip("/") or "." if self.argument(path).startswith(ROOT) else "."

    def _exists(self, inside: str) -> bool:
        return self._tree.exists(posixpath.join(self._tree.root, inside))

    def _by_suffix(self, path: str) -> str:
        parts = path.split("/")[1:]
        for start in range(1, len(parts)):
            inside = "/".join(parts[start:])
            if self._exists(inside):
                self._add_root(path, inside)
                return inside
        raise MissingSource(path)

    def _add_root(self, path: str, inside: str) -> None:
        """Record the path before `inside` as a root.

        Longer roots are tried first, as they may be inside shorter ones.
        """
        root = path.removesuffix(inside).rstrip("/")
        if root and root not in self._roots and path.endswith(f"/{inside}"):
            self._roots = sorted((*self._roots, root), key=len, reverse=True)


def below(path: str, root: str) -> str | None:
    """Return `path` relative to `root` ("" for the root itself), or None if it is not below it."""
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(root.rstrip("/") + "/") else None


def absolute(path: str, directory: str) -> str:
    """Return a path as seen from a directory, without `.` and `..`."""
    joined = posixpath.normpath(posixpath.join(directory, path))
    return joined[1:] if joined.startswith("//") else joined


def placing(paths: PathMap, directory: str) -> Callable[[str], str]:
    """Return a function that maps paths in the arguments of a command that ran in `directory`."""
    return lambda path: paths.argument(absolute(path, directory))


# Guess the include directories of sources without compile commands: those that contain the included headers.

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


HEADER_SUFFIXES = ("h", "hh", "hpp", "hxx", "h++", "H", "inc", "inl", "ipp", "tpp", "def", "tcc")
SUFFIXES = frozenset((*C_SUFFIXES, *CPP_SUFFIXES, *HEADER_SUFFIXES))
METADATA = frozenset((".git", ".hg", ".svn", ".jarvis"))
SYSTEM_HEADERS = ("/usr/include", "/usr/local/include")
# Headers of the compiler itself, which are in a separate directory.
BUILTIN_HEADERS = frozenset(
    f"{name}.h"
    for name in ("stddef", "stdarg", "stdbool", "stdint", "limits", "float", "iso646", "stdalign", "stdatomic")
)
RESPONSE_BYTES = 1_000_000
FILE_BYTES = 64_000_000
MOST_FILES = 1_000_000


# The includes of each file, by relative path.
FileIncludes = dict[str, tuple[Include, ...]]


class ProjectFiles(NamedTuple):
    """The files of a tree, and the symbolic links to them or to directories, with their targets relative to the root.

    No file is a link, and none is below a directory that is a link.  `warnings` name unreadable directories.
    """

    includes: FileIncludes
    links: Mapping[str, str]
    warnings: tuple[str, ...] = ()


class LocalTree(NamedTuple):
    """A tree on this machine (`ProjectTree`)."""

    root: str

    def exists(self, path: str) -> bool:
        try:
            return Path(path).is_file()
        except (OSError, ValueError):  # a name that is too long or contains NUL
            return False

    def resolve(self, path: str) -> str:
        return os.path.realpath(path)

    def inside(self, path: str) -> str | None:
        """Return the real path of a relative path, relative to the root, or None if it is not below the root."""
        return below(self.resolve(f"{self.root}/{path}"), self.root)

    def read(self, path: str) -> str | None:
        if not self.exists(path):
            return None
        if below(self.resolve(path), self.root) is None:
            raise ValueError(f"{path}: a response file outside the project")
        with Path(path).open("rb") as file:
            content = file.read(RESPONSE_BYTES + 1)
        if len(content) > RESPONSE_BYTES:
            raise ValueError(f"{path}: a response file of more than {RESPONSE_BYTES} bytes")
        return os.fsdecode(content)


def local_tree(tree: Path) -> LocalTree:
    """Return the tree at a path. Raises UsageError if it is not a directory."""
    if not tree.is_dir():
        raise UsageError(f"{tree}: not a directory")
    return LocalTree(os.path.realpath(tree))


def project_files(tree: LocalTree) -> ProjectFiles:
    """Return all sources, headers and included files of a tree with their includes, even those in build directories."""
    by_name = defaultdict[str, list[str]](list)
    pending: list[str] = []
    links: dict[str, str] = {}
    unreadable: list[OSError] = []
    for path in _walk(tree.root, unreadable):
        name = path.rpartition("/")[2]
        if Path(tree.root, path).is_symlink():
            target = tree.inside(path)
            if target is None or not METADATA.isdisjoint(target.split("/")):
                continue
            links[path] = target
        if name.rpartition(".")[2] in SUFFIXES and "." in name:
            pending.append(path)
        else:
            by_name[name].append(path)
    files: FileIncludes = {}
    while pending:
        found = pending.pop()
        path = links.get(found, found)
        if path not in files and Path(tree.root, path).is_file():
            files[path] = includes_of(_content(f"{tree.root}/{path}"))
            for include in files[path]:
                pending += by_name.pop(include.name.rpartition("/")[2], ())
    used = {link: one for link, one in links.items() if one in files or Path(tree.root, one).is_dir()}
    warnings = [f"{plain(os.path.relpath(error.filename, tree.root))}: {error.strerror}" for error in unreadable]
    return ProjectFiles(files, used, tuple(sorted(warnings)))


def is_system_header(name: str) -> bool:
    """Return whether `<name>` is a header of this machine or of the compiler."""
    return name in BUILTIN_HEADERS or any(Path(place, name).is_file() for place in SYSTEM_HEADERS)


def _walk(root: str, unreadable: list[OSError]) -> Iterator[str]:
    """Yield the relative paths of files and symbolic links, which are not followed; add errors to `unreadable`."""
    count = 0
    for directory, names, files in os.walk(root, onerror=unreadable.append):
        names[:] = sorted(name for name in names if name not in METADATA)
        inside = directory[len(root) + 1 :]
        for name in (*files, *(name for name in names if Path(directory, name).is_symlink())):
            count += 1
            if count > MOST_FILES:
                raise UsageError(f"{root}: more than {MOST_FILES} files; choose a subdirectory")
            yield f"{inside}/{name}" if inside else name


def _content(path: str) -> bytes:
    """Return the content of a file; an unreadable, special or very large file counts as empty."""
    try:
        if not Path(path).is_file() or Path(path).stat().st_size > FILE_BYTES:
            return b""
        return Path(path).read_bytes()
    except OSError:
        return b""
