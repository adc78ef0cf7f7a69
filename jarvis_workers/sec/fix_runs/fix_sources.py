"""The sources of a run that fixes findings: a commit of the user's repository, or the directory itself."""

import gzip
import io
import os
import stat
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.snapshots.selection import OWN_DIRECTORY
from jarvis_workers.toolchain.git_import import AUTHOR, Author
from jarvis_workers.toolchain.gittree import TreeBounds
from jarvis_workers.toolchain.local_repository import LocalRepository

LEFT_OUT = frozenset({".git", ".hg", ".svn", os.fsdecode(OWN_DIRECTORY)})
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
MODES = {True: 0o755, False: 0o644}


class FixSources(NamedTuple):
    """The archive, the directory in it that was scanned, and the commit; `base` is "" without a repository."""

    archive: bytes
    below: str = ""
    base: str = ""
    copied: str = ""
    closed: tuple[str, ...] = ()
    author: Author = AUTHOR


def read_sources(root: Path, bounds: TreeBounds, tell: Callable[[str], None], *, with_changes: bool) -> FixSources:
    """Return the sources of a scanned directory. Raises UsageError if they cannot be read, or are too large."""
    repository = LocalRepository.around(root, os.environ)
    if repository is not None and (sources := _committed(repository, root, bounds, tell, with_changes=with_changes)):
        return sources
    if with_changes:
        raise UsageError(f"--with-changes: {plain(str(root))} is not in a git repository")
    tell(f"{plain(str(root))} is not under version control: the fixes become patch files, and no branch")
    return FixSources(pack_directory(root, bounds))


def _committed(
    repository: LocalRepository, root: Path, bounds: TreeBounds, tell: Callable[[str], None], *, with_changes: bool
) -> FixSources | None:
    """Return the sources of a commit; None if HEAD has no file of the directory."""
    head, author = repository.head, repository.author() or AUTHOR
    below = os.path.relpath(os.path.realpath(root), repository.top).removeprefix(".")
    closed = repository.submodules(head, bounds) if head else []
    base = repository.copy_changes(head, author, int(time.time()), closed) if with_changes else head
    if base is None or not repository.git("ls-tree", "--full-tree", "--name-only", base, f"{below}/" if below else "."):
        return None
    if not with_changes and (dirty := len(repository.dirty_paths())):
        files = "1 uncommitted file is" if dirty == 1 else f"{dirty:,} uncommitted files are"
        tell(f"the fixes start at HEAD, {base[:12]}; {files} not part of it (--with-changes copies them)")
    copied = base if with_changes and base != head else ""
    return FixSources(repository.pack(base, bounds), below, base, copied, tuple(closed), author)


def pack_directory(root: Path, bounds: TreeBounds) -> bytes:
    """Return the files and links of a directory as a compressed tar archive; equal trees have equal archives.

    Directories of version control and our own are left out, as are devices and pipes.
    """
    buffer, files, size = io.BytesIO(), 0, 0
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in _files(root):
            found = _entry(root, path)
            if found is None:
                continue
            entry, content = found
            files += 1
            size += len(content)
            if files > bounds.files or size > bounds.bytes:
                raise UsageError(
                    f"{plain(str(root))} has more than {bounds.files:,} files or {bounds.bytes / 1e6:,.0f} MB; "
                    "put it under version control, or raise code.max_mb"
                )
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), 1, mtime=0)


def _files(root: Path) -> Iterator[Path]:
    for directory, names, files in os.walk(root):
        links = [name for name in names if Path(directory, name).is_symlink()]
        names[:] = sorted(name for name in names if name not in LEFT_OUT and name not in links)
        yield from (Path(directory, name) for name in sorted([*files, *links]))


def _entry(root: Path, path: Path) -> tuple[tarfile.TarInfo, bytes] | None:
    """Return the entry of a file or a link, without owner and times; None for anything else."""
    entry = tarfile.TarInfo(str(path.relative_to(root)))
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            entry.type, entry.linkname = tarfile.SYMTYPE, os.fspath(path.readlink())
            return entry, b""
        if not stat.S_ISREG(mode):
            return None
        content = _read(path)
    except OSError as error:
        raise UsageError(f"{plain(str(path))}: cannot be read: {error.strerror}") from error
    entry.mode, entry.size = MODES[bool(mode & stat.S_IXUSR)], len(content)
    return entry, content


def _read(path: Path) -> bytes:
    with os.fdopen(os.open(path, READ_FLAGS), "rb") as file:
        return file.read()
