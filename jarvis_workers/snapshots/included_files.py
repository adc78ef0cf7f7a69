"""The files of a tree that are scanned because sources include them, without packing the tree."""

import os
from dataclasses import replace
from pathlib import Path

from jarvis_workers.snapshots.entries import Excluded, FileFound, OtherFiles
from jarvis_workers.snapshots.include_closure import IncludeClosure
from jarvis_workers.snapshots.safe_read import read_file
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.snapshots.walk import walk


def included_files(root: Path, selection: Selection) -> frozenset[bytes]:
    """Return the files without a source suffix that a scan of `root` adds; none if it does not follow includes."""
    if not selection.follow_includes:
        return frozenset()
    closure = IncludeClosure(selection)
    for outcome in walk(root, selection):
        match outcome:
            case FileFound(path, directory, name):
                content = read_file(directory, name, selection.max_file_bytes)
                closure.add_source(path, content if isinstance(content, bytes) else b"")
            case OtherFiles():
                closure.add_others(outcome)
            case Excluded(path, _):
                closure.add_excluded(path)
    reached = closure.paths(root, os.read)
    only = replace(selection, suffixes=frozenset(), follow_includes=False, reached=reached)
    return frozenset(one.path for one in walk(root, only) if isinstance(one, FileFound)) & reached
