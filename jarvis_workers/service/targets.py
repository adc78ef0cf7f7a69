"""Turn the paths of a command line into one root and what of it is scanned.

One directory, or one git address, is its own root.  Several paths, and files, have the current directory as their
root when all of them lie in it, else the deepest directory that they share.  Names in reports are relative to the root.
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
from jarvis_workers.service.sources import ADDRESS
from jarvis_workers.snapshots.exclusion_reasons import LINK_LOOP, not_regular, reason_of
from jarvis_workers.snapshots.selection import Selection

__all__ = ["ScanTarget", "older_selection", "prefix_of", "repository_prefix", "target_of"]


class ScanTarget(NamedTuple):
    """The root of a scan, a directory or git address as the user typed it, and the named paths below it.

    `paths` are relative to the root and sorted; empty means all of the root.
    """

    root: str
    paths: tuple[bytes, ...] = ()


def target_of(names: Sequence[str], root: str | None = None) -> ScanTarget:
    """Choose the root of what was named; no names mean the current directory, `root` overrides the choice.

    Links that are named are followed: the report has the name of what they lead to.  Raises UsageError.
    """
    names = list(names) or ["."]
    if "" in names:
        raise UsageError("a path to scan is empty; give a directory or a file, or . for this directory")
    addresses = [name for name in names if ADDRESS.match(name) and not os.path.lexists(name)]
    if addresses and (len(names) > 1 or root is not None):
        raise UsageError(f"{plain(addresses[0])}: a repository URL must be the only PATH, without --root")
    if addresses:
        return ScanTarget(names[0])
    directories = [_is_directory(name) for name in names]
    if len(names) == 1 and directories[0] and root is None:
        return ScanTarget(names[0])
    reals = [os.path.realpath(os.fsencode(name)) for name in names]
    top = _shared(reals, directories) if root is None else _given(root, reals, names)
    base = os.path.realpath(os.fsencode(top))
    paths = sorted({b"" if real == base else os.path.relpath(real, base) for real in reals})
    return ScanTarget(top, () if paths == [b""] else tuple(paths))


def older_selection(chosen: Selection, renamed: Mapping[bytes, bytes]) -> Selection:
    """Return the selection in an older revision: what was named, also under the names that it had then."""
    older = {old for old, new in renamed.items() if not chosen.is_whole and chosen.covers(new)}
    return replace(chosen, paths=tuple(sorted({*chosen.paths, *older})))


def prefix_of(target: ScanTarget) -> bytes:
    """Return the path to the root from the top of its repository; the root of an address is the top."""
    return repository_prefix(Path(target.root)) if os.path.lexists(target.root) else b""


def repository_prefix(root: Path) -> bytes:
    """Return the path to a directory from the top of the git working tree around it; b"" where that is not inside one.

    Code scanning services place findings by paths from there.
    """
    real = Path(os.path.realpath(root))
    for above in (real, *real.parents):
        if os.path.lexists(above / ".git"):
            return b"" if above == real else os.path.relpath(os.fsencode(real), os.fsencode(above))
    return b""


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
    """Return the current directory if all is in it, else the deepest directory that has all of it."""
    here = os.path.realpath(b".")
    if all(os.path.commonpath([here, real]) == here for real in reals):
        return "."
    pairs = zip(reals, directories, strict=True)
    return os.fsdecode(
        os.path.commonpath([real if whole else real.rpartition(b"/")[0] or b"/" for real, whole in pairs])
    )


def _given(root: str, reals: Sequence[bytes], names: Sequence[str]) -> str:
    base = os.path.realpath(os.fsencode(root))
    if not Path(os.fsdecode(base)).is_dir():
        raise UsageError(f"--root {plain(root)}: no such directory")
    for name, real in zip(names, reals, strict=True):
        if os.path.commonpath([base, real]) != base:
            raise UsageError(f"--root {plain(root)}: {plain(name)} is not below it")
    return root
