"""Tell whether the scanned files are those of the commit that is checked out.

Contents are compared with git's hashes: no filter, hook or monitor of the repository runs, and only the scanned files
are opened. A file that git stores in another form counts as changed, except for line endings.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.service.checkouts import read_checkout
from jarvis_workers.service.targets import repository_prefix
from jarvis_workers.snapshots.committed_files import CommittedFiles
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.toolchain.git import local_environment
from jarvis_workers.toolchain.gitindex import ANY_OWNER
from jarvis_workers.toolchain.gittree import TreeBounds, TreeEntry, list_tree

REGULAR_FILE, SUBMODULE = b"100", b"160000"


def committed_files(path: Path, selection: Selection, environ: Mapping[str, str] = os.environ) -> CommittedFiles | None:
    """Return the files of the commit checked out around a file or directory; None outside of a repository.

    They are `unreadable` if git cannot list them: then it is not known whether the tree is changed.
    """
    directory = path if path.is_dir() else path.parent
    checkout = read_checkout(directory)
    if checkout is None or checkout.commit is None:
        return None
    prefix = repository_prefix(directory)
    below = prefix + b"/" if prefix else b""
    found = CommittedFiles(directory)
    try:
        for entry in list_tree(directory, checkout.commit, TreeBounds(), local_environment(environ, ANY_OWNER)):
            if entry.path.startswith(below):
                _add(found, entry, entry.path[len(below) :], selection)
    except UsageError:
        found.unreadable = True
    return found


def _add(found: CommittedFiles, entry: TreeEntry, path: bytes, selection: Selection) -> None:
    if entry.mode == SUBMODULE:
        found.submodules.append(path + b"/")
    elif entry.mode.startswith(REGULAR_FILE) and (selection.is_source(path) or path in selection.named):
        found.blobs[path] = entry.hash
