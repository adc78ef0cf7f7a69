"""Sources that a change takes out of its own scan without deleting them.

A change may delete code.  But code that the scan of the base would read, and that is moved to where this scan does not
look (`vendor`, an ignored directory, a submodule) or to test code, whose findings count for less, whether its file
goes, stays empty or includes it from there, or whose place is now a link or a submodule, would pass the gate unseen.
Both revisions are walked with the same selection, the base in a checkout of its own, and changed files are compared by
what rules see as code: statements without white space, comments and the content of strings. The cost grows with the
size of the changed files only, and they may be many: git's limit on the detection of renames does not apply.

Ignore files that are not those of a commit are listed, too: a build step of the change may have written them.
"""

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.runs.targets import target_of
from jarvis_workers.snapshots.entries import FileFound
from jarvis_workers.snapshots.selection import JARVIS_IGNORE, Selection
from jarvis_workers.snapshots.walk import included_files, walk
from jarvis_workers.source.languages import is_test, language_of
from jarvis_workers.source.lex import mask
from jarvis_workers.toolchain import git
from jarvis_workers.toolchain.gittree import list_tree

# Of sources, and of files that are not scanned; the smallest are compared first.
COMPARED_BYTES = 32_000_000
# The ignore files of a commit, in sum.
IGNORE_FILES_BYTES = 16_000_000
# Code that is shorter moves unseen, unless it is half of its file.
FEW = 5
PASSAGE_STATEMENTS = 3
# Shorter ones are in all files, and so are names of headers.
SHORTEST_STATEMENT = 4
NO_CODE = b"#include"
# Directives end with their lines.
END = re.compile(rb"[;{}]|^[ \t]*+(#.*)$", re.MULTILINE)

Find = Callable[[Path, Selection], Iterable[bytes]]


class Statements(NamedTuple):
    """The statements of code, and each passage of PASSAGE_STATEMENTS of them, by their hashes."""

    single: frozenset[int] = frozenset()
    passages: frozenset[int] = frozenset()

    def __sub__(self, other: "Statements") -> "Statements":
        return Statements(self.single - other.single, self.passages - other.passages)

    def __and__(self, other: "Statements") -> "Statements":
        return Statements(self.single & other.single, self.passages & other.passages)


class ScanPaths(NamedTuple):
    """The files and directories to scan, by name (none for a repository URL), and the globs of the scan."""

    names: Sequence[str] = (".",)
    root: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class _Below(NamedTuple):
    """The paths of a scan, from the top of a repository."""

    paths: Sequence[str]
    root: str | None

    def files(self, top: Path, selection: Selection) -> frozenset[bytes]:
        """Return the files that are selected in a checkout, from its top; none where links lead out of it."""
        return self._paths(top, selection, _walked)

    def included(self, top: Path, selection: Selection) -> frozenset[bytes]:
        """Return the files that are scanned because sources include them."""
        return self._paths(top, selection, included_files)

    def _paths(self, top: Path, selection: Selection, find: Find) -> frozenset[bytes]:
        names = [str(top / path) for path in self.paths if (top / path).exists()]
        if not names:
            return frozenset()
        try:
            target = target_of(names, self.root and str(top / self.root))
            root = Path(target.root).resolve()
            above = os.fsencode(root.relative_to(top))
        except (UsageError, ValueError):
            return frozenset()
        found = find(root, replace(selection, paths=target.paths))
        return frozenset(os.path.normpath(above + b"/" + path) for path in found)


def unscanned_sources(
    base: git.Borrowed, changed: Mapping[bytes, git.Change], scan: ScanPaths, directory: Path, selection: Selection
) -> list[bytes]:
    """Return the sources whose code is moved out of the scan, and the links and submodules in place of others.

    Among them are files that are not scanned and too large to be compared. `base` is the base revision, `changed` its
    entries that now differ; all paths are from the top.
    """
    sources = {path for path, one in changed.items() if one.was_file and selection.is_source(_name(path))}
    top = base.top.resolve()
    below = _below(scan, directory, top)
    if not sources or not below.paths:
        return []
    scanned, submodules = below.files(top, selection), _submodule_files(top, changed)
    code = {path for path in sources if not is_test(path)}
    every = (
        _Moves(base, changed, code, _without_tests(scanned), submodules),
        _Moves(base, changed, sources - code, scanned, submodules),
    )
    suspects = {path: path for moves in every for path in moves.sources()}
    if suspects and (included := below.included(top, selection)):
        reached = (_without_tests(included), included)
        suspects = {path: path for moves, found in zip(every, reached, strict=True) for path in moves.sources(found)}
    not_compared = frozenset[bytes]().union(*(moves.not_compared for moves in every))
    for path in sources:
        for one in () if changed[path].is_file else _with_parents(path):
            if one in changed and changed[one].redirects:
                suspects[path] = one
    if not suspects:
        return sorted(not_compared)
    try:
        git.check_out(base)
    except UsageError:
        return sorted({*suspects.values(), *not_compared})
    scanned = below.files(base.place.resolve(), selection)
    return sorted({*(suspects[path] for path in suspects.keys() & scanned), *not_compared})


class _Moves:
    """The code that `sources` lose to files that are not scanned; `scanned` are all that are now.

    `submodules` are the files of submodules with a new commit; what they had before is not known.
    """

    def __init__(
        self,
        base: git.Borrowed,
        changed: Mapping[bytes, git.Change],
        sources: Collection[bytes],
        scanned: Collection[bytes],
        submodules: Mapping[bytes, bytes | None],
    ) -> None:
        files = {path: one for path, one in changed.items() if one.is_file}
        self._lost = {path: changed[path] for path in sources if path in scanned or path not in files}
        self._scanned = {path: files[path] for path in files.keys() & scanned}
        self._others = {path: one for path, one in files.items() if path not in scanned} if self._lost else {}
        self._submodules = {path: one for path, one in submodules.items() if path not in scanned} if self._lost else {}
        self._contents: Mapping[bytes, bytes] = {}
        if self._others or self._submodules:
            self._contents = _contents(base, {*self._lost.values(), *self._scanned.values()})
            self._contents |= _contents(base, {*self._others.values()})
        self.not_compared = {path for path, one in self._others.items() if one.new not in self._contents}
        self.not_compared.update(path for path, content in self._submodules.items() if content is None)

    def sources(self, included: Collection[bytes] = ()) -> Iterator[bytes]:
        """Yield the sources, where some of the other files are scanned because sources include them."""
        others = {path: one for path, one in self._others.items() if path not in included}
        submodules = {path: one for path, one in self._submodules.items() if path not in included}
        self.not_compared -= set(included)
        if not others and not submodules:
            return
        reached = {path: one for path, one in self._others.items() if path in included}
        after = code_of_all(self._code(path, one.new) for path, one in (self._scanned | reached).items())
        gained = [self._code(path, one.new) - self._code(path, one.old) for path, one in others.items()]
        elsewhere = code_of_all([*gained, *(code_of(path, content or b"") for path, content in submodules.items())])
        before = {path: self._code(path, one.old) for path, one in self._lost.items()}
        if not any(is_moved(code, after, code) for code in before.values()):
            self.not_compared = set()
        for path, one in self._lost.items():
            if one.old not in self._contents or is_moved(before[path], after, elsewhere):
                yield path

    def _code(self, path: bytes, blob: bytes) -> Statements:
        return code_of(path, self._contents.get(blob, b""))


def _contents(base: git.Borrowed, changes: Collection[git.Change]) -> dict[bytes, bytes]:
    """Return the contents of files before and after changes, as far as they can be read."""
    names = {one.old for one in changes if one.was_file} | {one.new for one in changes if one.is_file}
    try:
        return git.contents(base, sorted(names), COMPARED_BYTES)
    except UsageError:
        return {}


def _submodule_files(top: Path, changed: Mapping[bytes, git.Change]) -> dict[bytes, bytes | None]:
    """Return the contents of the files of submodules with a new commit, the smallest up to COMPARED_BYTES in sum.

    The content of others is None, and so is that of a submodule itself that is not checked out.
    """
    found, sizes = dict[bytes, bytes | None](), list[tuple[int, Path]]()
    for path in (path for path, one in changed.items() if one.after == git.SUBMODULE):
        files = [*_regular_files(top / os.fsdecode(path))]
        sizes += [(file.lstat().st_size, file) for file in files]
        if not files:
            found[path] = None
    left = COMPARED_BYTES
    for size, file in sorted(sizes):
        left -= size
        found[os.fsencode(file.relative_to(top))] = file.read_bytes() if left >= 0 else None
    return found


def _regular_files(directory: Path) -> Iterator[Path]:
    for place, directories, files in os.walk(directory):
        directories[:] = [name for name in directories if name != ".git"]
        paths = (Path(place, name) for name in files if name != ".git")
        yield from (path for path in paths if stat.S_ISREG(path.lstat().st_mode))


def _without_tests(paths: Collection[bytes]) -> frozenset[bytes]:
    return frozenset(path for path in paths if not is_test(path))


def _walked(root: Path, selection: Selection) -> Iterator[bytes]:
    return (one.path for one in walk(root, selection) if isinstance(one, FileFound))


def _below(scan: ScanPaths, directory: Path, top: Path) -> _Below:
    """Return the paths of a scan from the top; like the scan, several have the current directory as their root."""
    paths = [path for path in (_from(top, directory / name) for name in scan.names) if path is not None]
    if scan.root is not None or len(paths) < 2:
        return _Below(paths, _from(top, directory / scan.root) if scan.root is not None else None)
    here = _from(top, directory) or "."
    return _Below(paths, here if all(Path(path).is_relative_to(here) for path in paths) else ".")


def _from(top: Path, place: Path) -> str | None:
    """Return a path from the top, whose own links stay in it; None outside."""
    for one in (place, place.resolve()):
        relative = Path(os.path.relpath(one, top))
        if os.pardir not in relative.parts:
            return str(relative)
    return None


def _with_parents(path: bytes) -> Iterator[bytes]:
    while path:
        yield path
        path = path.rpartition(b"/")[0]


def _name(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


def is_moved(before: Statements, after: Statements, elsewhere: Statements) -> bool:
    """Return whether code of a file is no longer in `after` but `elsewhere`: most of what is lost, or passages."""
    lost = before - after
    moved = lost & elsewhere
    few = max(1, min(FEW, (len(before.single) + 1) // 2))
    is_most = len(moved.single) >= few and 2 * len(moved.single) >= len(lost.single)
    return is_most or len(moved.passages) >= FEW


def code_of(path: bytes, content: bytes) -> Statements:
    """Return the code of a file."""
    masked = mask(content, language_of(path) or "c/cpp")
    # Text that the rules do not read to its end may be compiled, or read elsewhere.
    text = masked.text + (b"" if masked.end == len(masked.text) else b"\n" + content)
    short = (b"".join(one.split()) for one in END.split(text) if one)
    hashes = [hash(one) for one in short if len(one) >= SHORTEST_STATEMENT and not one.startswith(NO_CODE)]
    passages = zip(*(hashes[start:] for start in range(PASSAGE_STATEMENTS)), strict=False)
    return Statements(frozenset(hashes), frozenset(map(hash, passages)))


def code_of_all(codes: Iterable[Statements]) -> Statements:
    """Return the code of several files together."""
    every = list(codes)
    return Statements(
        frozenset().union(*(one.single for one in every)), frozenset().union(*(one.passages for one in every))
    )


def written_ignore_files(base: git.Borrowed, places: Sequence[Path], selection: Selection) -> Iterator[bytes]:
    """Yield the paths of ignore files below `places` that the base does not have so, and of those that are removed.

    The ignore files of submodules are not listed: they belong to other commits.
    """
    if JARVIS_IGNORE not in selection.ignore_files:
        return
    top = base.top.resolve()
    blobs, submodules = dict[bytes, bytes](), set[bytes]()
    for entry in list_tree(base.place, base.commit, base.bounds, base.environ):
        if entry.mode == git.SUBMODULE:
            submodules.add(entry.path)
        elif entry.path.rpartition(b"/")[2] == os.fsencode(JARVIS_IGNORE):
            blobs[entry.path] = entry.hash.encode()
    contents = git.contents(base, set(blobs.values()), IGNORE_FILES_BYTES) if blobs else {}
    for directory in _directories(top, places, submodules, selection.exclude_dirs):
        file = directory / JARVIS_IGNORE
        path = os.fsencode(file.relative_to(top))
        if (path in blobs or os.path.lexists(file)) and not _has(file, contents.get(blobs.get(path, b""))):
            yield path


def _directories(
    top: Path, places: Sequence[Path], submodules: Collection[bytes], excluded: Collection[bytes]
) -> Iterator[Path]:
    """Yield the directories that are scanned, within the top."""
    pruned = {os.fsdecode(name) for name in excluded} | {".git"}
    for place in places:
        for directory, below, _ in os.walk(place.resolve()):
            if not Path(directory).is_relative_to(top) or os.fsencode(Path(directory).relative_to(top)) in submodules:
                below.clear()
                continue
            below[:] = [name for name in below if name not in pruned]
            yield Path(directory)


def _has(file: Path, content: bytes | None) -> bool:
    """Return whether a file has a content; git may have written its newlines in another way."""
    if content is None or file.is_symlink() or not file.is_file() or file.stat().st_size > 2 * len(content):
        return False
    return file.read_bytes().splitlines() == content.splitlines()
