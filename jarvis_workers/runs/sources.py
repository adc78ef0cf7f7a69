"""The sources of a scan: a directory or file, or a git URL with a revision; and the same at another revision."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, shown
from jarvis_workers.runs.labels import automatic_labels
from jarvis_workers.snapshots.unchanged_since import Unchanged
from jarvis_workers.toolchain import git
from jarvis_workers.toolchain.git_credentials import TOKEN_FILE, read_git_credentials
from jarvis_workers.toolchain.gittree import TreeBounds
from jarvis_workers.toolchain.temporary import temporary_directory

ADDRESS = re.compile(r"(?P<url>(?:https|ssh|file)://[^/\s]*/\S+?|[\w.-]+@[\w.-]+:\S+?)(?:@(?P<revision>[^@:\s]+))?\Z")
PASSWORD = re.compile(r"\A\w+://[^/@]*:[^/@]*@|\Ahttps://[^/@]+@")
HASH_LENGTH = 12
TEMPORARY = "jarvis-source"
DEFAULT_BOUNDS = TreeBounds()

Origin = Literal["directory", "revision", "address"]


class SourceTree(NamedTuple):
    """A tree on this machine, its name in reports, and whether git checked it out from another repository.

    `branch` is that of a git URL, if the revision is one.
    """

    path: Path
    root: bytes
    origin: Origin = "directory"
    branch: str | None = None


class Revision(NamedTuple):
    """The tree of another revision, possibly empty; `renamed` maps old paths to new ones, as shown in reports."""

    source: SourceTree
    says: str
    renamed: Mapping[bytes, bytes]


def is_address(named: str) -> bool:
    """Return whether the name is a repository URL and not an existing path."""
    return ADDRESS.match(named) is not None and not os.path.lexists(named)


def project_name(named: str) -> str:
    """Return the name of a source without its revision: the URL of a repository, or an absolute path."""
    match = ADDRESS.match(named) if is_address(named) else None
    return match["url"] if match else shown(os.fsencode(os.path.realpath(named)))


@contextmanager
def open_source(
    named: str, environ: Mapping[str, str] = os.environ, *, bounds: TreeBounds = DEFAULT_BOUNDS
) -> Iterator[SourceTree]:
    """Yield the named tree; a repository is fetched, and deleted at exit. Raises UsageError.

    The size of a checkout is bounded.
    """
    if PASSWORD.match(named):
        raise UsageError(f"-p: do not put credentials in a URL, where others can see them; set {TOKEN_FILE}")
    match = ADDRESS.match(named)
    if match is None or os.path.lexists(named):
        yield SourceTree(Path(named), os.fsencode(Path(named).absolute()))
        return
    url, revision = match["url"], match["revision"] or "HEAD"
    if revision.startswith("-"):
        raise UsageError(f'-p: "{revision}" is not a revision')
    with temporary_directory(TEMPORARY) as directory:
        credentials = read_git_credentials(environ)
        fetched = git.fetch(url, revision, directory, credentials=credentials, environ=environ, bounds=bounds)
        yield SourceTree(directory, f"{url}@{fetched.commit}".encode(), "address", fetched.branch)


def source_labels(source: SourceTree, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the labels of a run over a source: its branch and commit, if known."""
    return automatic_labels(source.path, source.branch, environ)


@contextmanager
def open_revision(
    named: str, revision: str, environ: Mapping[str, str] = os.environ, *, bounds: TreeBounds = DEFAULT_BOUNDS
) -> Iterator[Revision]:
    """Yield the tree `named` at another revision of its repository; the checkout is deleted at exit.

    Raises UsageError.
    """
    address = ADDRESS.match(named)
    if address and not os.path.lexists(named):
        with open_source(f"{address['url']}@{revision}", environ, bounds=bounds) as source:
            yield Revision(source, revision, {})
        return
    with temporary_directory(TEMPORARY) as directory:
        borrowed = _borrow(named, revision, directory, environ, bounds)
        git.check_out(borrowed)
        inside = _inside(named, borrowed)
        place = _place(directory, inside)
        root = b"%b@%b" % (os.fsencode(Path(named).absolute()), borrowed.commit.encode())
        renamed = {
            _below(old, inside): _below(new, inside)
            for old, new in git.renames_since(borrowed).items()
            if _is_below(old, inside) and _is_below(new, inside)
        }
        yield Revision(
            SourceTree(place, root, "revision"), f"{plain(revision)} ({borrowed.commit[:HASH_LENGTH]})", renamed
        )


def unchanged_since(
    named: str, revision: str, environ: Mapping[str, str] = os.environ, *, bounds: TreeBounds = DEFAULT_BOUNDS
) -> Unchanged:
    """Return the files of a revision below `named`, so that unchanged ones can be skipped. Raises UsageError."""
    if ADDRESS.match(named) and not os.path.lexists(named):
        raise UsageError("--since needs a directory in a git repository; for a URL use --baseline")
    with temporary_directory(TEMPORARY) as directory:
        borrowed = _borrow(named, revision, directory, environ, bounds)
        inside = _inside(named, borrowed)
        blobs = {_below(path, inside): name for path, name in git.files_of(borrowed).items() if _is_below(path, inside)}
    return Unchanged(plain(revision), blobs)


def _borrow(named: str, revision: str, into: Path, environ: Mapping[str, str], bounds: TreeBounds) -> git.Borrowed:
    if revision.startswith("-") or not revision.strip():
        raise UsageError(f'"{plain(revision)}" is not a revision')
    if not os.access(named, os.F_OK):
        raise UsageError(f"{plain(named)}: no such file or directory")
    return git.borrow(Path(named), revision, into, environ, bounds)


def _place(checked_out: Path, inside: bytes) -> Path:
    """Return the scanned place in the checkout, or an empty directory; links that lead outside are not followed."""
    root = Path(os.path.realpath(checked_out))
    place = Path(os.path.realpath(root / os.fsdecode(inside)))
    if place.exists() and place.is_relative_to(root):
        return place
    nothing = root / ".git" / "nothing"
    nothing.mkdir()
    return nothing


def _inside(named: str, borrowed: git.Borrowed) -> bytes:
    """Return the path from the top of the repository to the scanned place; b"." is the top."""
    try:
        return os.fsencode(Path(named).resolve().relative_to(borrowed.top.resolve()))
    except ValueError as error:
        raise UsageError(f"{plain(named)} is not in the working tree of {plain(str(borrowed.top))}") from error


def _is_below(path: bytes, inside: bytes) -> bool:
    return inside in (b".", path) or path.startswith(inside + b"/")


def _below(path: bytes, inside: bytes) -> bytes:
    """Return a path as shown in reports; a file scanned on its own is shown by its name."""
    if inside == b".":
        return path
    return path.rpartition(b"/")[2] if path == inside else path[len(inside) + 1 :]
