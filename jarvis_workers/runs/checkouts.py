"""What git knows of a working tree: its branch, commit and remote, read without running git, and the committed files.

The files of `.git` are untrusted: they are bounded in size, must be regular files, and malformed ones are ignored. The
reftable format is not supported.

Whether the scanned files are the committed ones is told by git's hashes: no filter, hook or monitor of the repository
runs, and only the scanned files are opened. A file that git stores in another form counts as changed, except for line
endings.
"""

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.snapshots.selection import CommittedFiles, Selection
from jarvis_workers.toolchain.git import local_environment
from jarvis_workers.toolchain.gitindex import ANY_OWNER
from jarvis_workers.toolchain.gittree import TreeBounds, TreeEntry, list_tree

REGULAR_FILE, SUBMODULE = b"100", b"160000"
HEAD_BYTES = 4_096
PACKED_BYTES = 8 << 20
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
CONFIG_BYTES = 1 << 20
REMOTE = re.compile(r'^\s*\[remote "origin"\]\s*$(?P<lines>(?:\n(?!\s*\[).*)*)', re.MULTILINE)
URL = re.compile(r"^\s*url\s*=\s*(?P<url>[^\s\x00-\x1f\"'\\]{1,2000})\s*$", re.MULTILINE)
# The user and password of a URL, which reports must not contain.
CREDENTIALS = re.compile(r"(?<=://)[^/@]*@")
BRANCH = re.compile(r"ref: refs/heads/((?!.*\.\.)[^\s\x00-\x1f~^:?*\[\\]{1,200})")


class Checkout(NamedTuple):
    """The branch, None if HEAD is detached, and the commit, None if the branch has no commit yet."""

    branch: str | None
    commit: str | None


def read_checkout(directory: Path) -> Checkout | None:
    """Return the checkout of the working tree that contains a directory, or None outside a working tree."""
    own = _git_directory(directory)
    if own is None:
        return None
    head = _text(own / "HEAD", HEAD_BYTES)
    if COMMIT.fullmatch(head):
        return Checkout(None, head)
    match = BRANCH.fullmatch(head)
    return Checkout(match[1], _commit_of(f"refs/heads/{match[1]}", own)) if match else None


def read_remote(directory: Path) -> str | None:
    """Return the URL of the remote `origin`, without credentials; None for a local path, or if there is none."""
    own = _git_directory(directory)
    if own is None:
        return None
    config = _text(own / (_text(own / "commondir", HEAD_BYTES) or ".") / "config", CONFIG_BYTES)
    remote = REMOTE.search(config)
    match = URL.search(remote["lines"]) if remote else None
    if match is None or not re.match(r"\w[\w+.-]*://|[\w.-]+@[\w.-]+:", match["url"]):
        return None
    return CREDENTIALS.sub("", match["url"])


def repository_prefix(root: Path) -> bytes:
    """Return the path from the top of the enclosing git working tree to a directory; b"" if it is not in one.

    Code scanning services locate findings by paths from the top.
    """
    real = Path(os.path.realpath(root))
    for above in (real, *real.parents):
        if os.path.lexists(above / ".git"):
            return b"" if above == real else os.path.relpath(os.fsencode(real), os.fsencode(above))
    return b""


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


def _git_directory(directory: Path) -> Path | None:
    """Return the git directory of the working tree around a directory; `.git` may be a file that names it."""
    real = Path(os.path.realpath(directory))
    top = next((above for above in (real, *real.parents) if os.path.lexists(above / ".git")), None)
    if top is None:
        return None
    place = top / ".git"
    if not place.is_file():
        return place
    named = _text(place, HEAD_BYTES).removeprefix("gitdir: ")
    return place.parent / named


def _commit_of(ref: str, own: Path) -> str | None:
    common = own / (_text(own / "commondir", HEAD_BYTES) or ".")
    written = _text(common / ref, HEAD_BYTES)
    if COMMIT.fullmatch(written):
        return written
    packed = (line.split(" ", 1) for line in _text(common / "packed-refs", PACKED_BYTES).splitlines() if " " in line)
    return next((commit for commit, name in packed if name == ref and COMMIT.fullmatch(commit)), None)


def _text(file: Path, most: int) -> str:
    """Return the content of a small regular file, or "" if there is none."""
    with suppress(OSError, ValueError):
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return stream.read(most).decode("utf-8", "replace").strip()
    return ""
