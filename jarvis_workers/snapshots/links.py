"""Classify symbolic links: none is followed, and every link that could hide source is reported.

A target with a source suffix is packed, counted or reported at its own path, so a link to it needs no report.
"""

import errno
import os
import stat

from jarvis_workers.snapshots.entries import LeftOut, NotChecked
from jarvis_workers.snapshots.exclusion_reasons import (
    LINK_BROKEN,
    LINK_LOOP,
    LINK_OUT,
    LINK_TO_NO_SOURCE,
    LINK_TO_OWN,
    LINK_WITHIN_THE_TREE,
    not_regular,
    reason_of,
)
from jarvis_workers.snapshots.selection import OWN_DIRECTORY, Selection


def judge_link(root: bytes, path: bytes, selection: Selection) -> LeftOut | NotChecked | None:
    """Classify the link at `path`, relative to the real path `root`; return None if it cannot hide source."""
    is_source = selection.selects(path)
    above = root.rstrip(b"/") + b"/"
    try:
        target = os.path.realpath(above + path, strict=True)
        mode = os.lstat(target).st_mode
    except OSError as error:
        return _judge_dangling(path, error, is_source)
    if target != root and not (target.startswith(above) and selection.covers(target[len(above) :])):
        return NotChecked(path, LINK_OUT)
    hides = _hides(target[len(above) :], mode, selection) if is_source and not stat.S_ISDIR(mode) else None
    return NotChecked(path, hides) if hides else LeftOut(LINK_WITHIN_THE_TREE)


def _hides(target: bytes, mode: int, selection: Selection) -> str | None:
    """Return why the target of a link with a source suffix is not scanned elsewhere, or None if it is."""
    *directories, _ = target.split(b"/")
    if directories[:1] == [OWN_DIRECTORY]:
        return LINK_TO_OWN
    if selection.selects(target) or _lies_in_an_excluded_one(directories, selection):
        return None
    return LINK_TO_NO_SOURCE if stat.S_ISREG(mode) else f"symbolic link: {not_regular(mode)}"


def _lies_in_an_excluded_one(directories: list[bytes], selection: Selection) -> bool:
    return any(
        name in selection.exclude_dirs or selection.excludes(b"/".join([*directories[:depth], name, b""]))
        for depth, name in enumerate(directories)
    )


def _judge_dangling(path: bytes, error: OSError, is_source: bool) -> NotChecked | None:
    if error.errno == errno.ELOOP:
        return NotChecked(path, LINK_LOOP)
    if error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return NotChecked(path, f"symbolic link: {reason_of(error)}")
    return NotChecked(path, LINK_BROKEN) if is_source else None
