"""Determine the root of a scan, and the selected paths below it, from the paths of a command line.

A single directory or git URL is its own root. For several paths, or files, the root is the current directory if it
contains all of them, else their deepest common directory. Paths in reports are relative to the root.
"""

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, shown
from jarvis_workers.runs.checkouts import repository_prefix
from jarvis_workers.runs.sources import ADDRESS
from jarvis_workers.snapshots.ignore import LINK_LOOP, not_regular, reason_of
from jarvis_workers.snapshots.selection import Selection


class ScanTarget(NamedTuple):
    """The root of a scan (a directory or git URL as given by the user), and the selected paths below it.

    `paths` are relative to the root and sorted; empty means the whole root.
    """

    root: str
    paths: tuple[bytes, ...] = ()
    is_address: bool = False


def target_of(names: Sequence[str], root: str | None = None) -> ScanTarget:
    """Determine the root of the given names (default: the current directory); `root` overrides it.

    Links given by name are followed: the report shows the names of their targets. Raises UsageError.
    """
    names = list(names) or ["."]
    if "" in names:
        raise UsageError("a path to scan is empty; give a directory or a file, or . for this directory")
    addresses = [name for name in names if ADDRESS.match(name) and not os.path.lexists(name)]
    if addresses and (len(names) > 1 or root is not None):
        raise UsageError(f"{plain(addresses[0])}: a repository URL must be the only PATH, without --root")
    if addresses:
        return ScanTarget(names[0], is_address=True)
    directories = [_is_directory(name) for name in names]
    if len(names) == 1 and directories[0] and root is None:
        return ScanTarget(names[0])
    reals = [os.path.realpath(os.fsencode(name)) for name in names]
    top = _shared(reals, directories) if root is None else _root_of(root, reals, names)
    base = os.path.realpath(os.fsencode(top))
    paths = sorted({b"" if real == base else os.path.relpath(real, base) for real in reals})
    return ScanTarget(top, () if paths == [b""] else tuple(paths))


def older_selection(selection: Selection, renamed: Mapping[bytes, bytes]) -> Selection:
    """Return the selection for an older revision, which includes the former names of renamed files."""
    older = {old for old, new in renamed.items() if not selection.is_whole and selection.covers(new)}
    return replace(selection, paths=tuple(sorted({*selection.paths, *older})))


def prefix_of(target: ScanTarget) -> bytes:
    """Return the path from the top of the repository to the root; a URL always refers to the top."""
    return repository_prefix(Path(target.root)) if os.path.lexists(target.root) else b""


def _is_directory(name: str) -> bool:
    try:
        mode = Path(name).stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{shown(os.fsencode(name))}: no such file or directory") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{shown(os.fsencode(name))}: {_why(error)}") from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise UsageError(f"{shown(os.fsencode(name))}: {not_regular(mode)}; give a directory or a file")
    return stat.S_ISDIR(mode)


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return LINK_LOOP if error.errno == errno.ELOOP else reason_of(error)
    return str(error)


def _shared(reals: Sequence[bytes], directories: Sequence[bool]) -> str:
    """Return the current directory if it contains all paths, else their deepest common directory."""
    here = os.path.realpath(b".")
    if all(os.path.commonpath([here, real]) == here for real in reals):
        return "."
    pairs = zip(reals, directories, strict=True)
    return os.fsdecode(
        os.path.commonpath([real if whole else real.rpartition(b"/")[0] or b"/" for real, whole in pairs])
    )


def _root_of(root: str, reals: Sequence[bytes], names: Sequence[str]) -> str:
    base = os.path.realpath(os.fsencode(root))
    if not Path(os.fsdecode(base)).is_dir():
        raise UsageError(f"--root {plain(root)}: no such directory")
    for name, real in zip(names, reals, strict=True):
        if os.path.commonpath([base, real]) != base:
            raise UsageError(f"--root {plain(root)}: {plain(name)} is not below it")
    return root
