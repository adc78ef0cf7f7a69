"""The files of a C project: those that compile commands name, and those that its units may read.

A unit may include a file of any name, so files are found by their suffix or because some file includes their name. A
symbolic link stands for its target in the tree; a link that leaves the tree does not belong to the project.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.builds.compile_arguments import C_SUFFIXES, CPP_SUFFIXES
from jarvis_workers.builds.include_guess import Include, includes_of
from jarvis_workers.builds.path_map import below
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

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
