"""Judge a symbolic link: none is ever followed, and none that could hide source goes unsaid."""

import errno
import os

from jarvis_workers.snapshots.outcome import LeftOut, NotChecked
from jarvis_workers.snapshots.reasons import (
    LINK_BROKEN,
    LINK_LOOP,
    LINK_OUT,
    LINK_WITHIN_THE_TREE,
    NOT_A_SOURCE_FILE,
    reason_of,
)


def judge_link(root: bytes, path: bytes, *, is_source: bool) -> LeftOut | NotChecked:
    """Say what becomes of the link at `path`, relative to `root`, which is a real path."""
    try:
        target = os.path.realpath(root.rstrip(b"/") + b"/" + path, strict=True)
    except OSError as error:
        return _judge_dangling(path, error, is_source)
    inside = target == root or target.startswith(root.rstrip(b"/") + b"/")
    return LeftOut(LINK_WITHIN_THE_TREE) if inside else NotChecked(path, LINK_OUT)


def _judge_dangling(path: bytes, error: OSError, is_source: bool) -> LeftOut | NotChecked:
    if error.errno == errno.ELOOP:
        return NotChecked(path, LINK_LOOP)
    if error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return NotChecked(path, f"symbolic link: {reason_of(error)}")
    return NotChecked(path, LINK_BROKEN) if is_source else LeftOut(NOT_A_SOURCE_FILE)
