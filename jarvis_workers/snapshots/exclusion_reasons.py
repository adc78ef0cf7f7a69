"""Reasons why a file is not in a snapshot, as quoted and counted in reports."""

import errno
import stat

from jarvis_workers.paths import plain, shown

LINK_WITHIN_THE_TREE = "link within the tree"
EXCLUDED_DIRECTORY = "excluded directory"
EXCLUDED = "excluded by --exclude"
NOT_INCLUDED = "not among --include"
NOT_SOURCE = "given by name, but not in a selected language"

LINK_OUT = "symbolic link to a target outside the root; scan the target separately"
LINK_TO_NO_SOURCE = "symbolic link to a file without a source suffix: rename the target, or scan it separately"
LINK_TO_OWN = "symbolic link into .jarvis, which is never scanned; scan the target separately"
ANNEX_POINTER = "git-annex pointer, not the file itself; fetch it with: git annex get"
LFS_POINTER = "Git LFS pointer, not the file itself; fetch it with: git lfs pull"
LINK_LOOP = "symbolic link loop"
LINK_BROKEN = "broken symbolic link"
CHANGING = "changed repeatedly while it was read"
MOVED = "moved while the tree was read"
VANISHED = "deleted while the tree was read"
REPLACED = "replaced while the tree was read"
NO_PERMISSION = "no permission to read it"
TOO_DEEP = "nested too deeply: its path is longer than 65,536 bytes"
TOO_MANY_INCLUDES = "more than 20,000 #include lines; files that the others include may not be checked"
TOO_MANY_INCLUDED = "too many files without a source suffix are included, or too deeply; not all of them were checked"
INCLUDED_RUST = "includes a file named .rs, which is checked as Rust, not as C"
INCLUDED_BY_RUST = "included by Rust code, but not named .rs, so it was not checked as Rust"
INCLUDED_FROM_OUTSIDE = "included from outside of the scanned paths"
INCLUDED_FROM_OWN = "included from .jarvis, which is never scanned"

_BY_ERRNO = {
    errno.EACCES: NO_PERMISSION,
    errno.EPERM: NO_PERMISSION,
    errno.ENOENT: VANISHED,
    errno.ESTALE: VANISHED,
    errno.ELOOP: REPLACED,
    errno.ENOTDIR: REPLACED,
    errno.ENXIO: "socket, not a regular file",
}


def reason_of(error: OSError) -> str:
    return _BY_ERRNO.get(error.errno or 0) or f"cannot be read: {error.strerror or error}"


def ignored_by_file(name: str) -> str:
    """Return the reason for a file ignored by the ignore file `name`, such as .gitignore."""
    return f"ignored by {name}"


def included_by_macro(name: bytes | None) -> str:
    """Return the reason for a file that `#include NAME` includes; None stands for further macros."""
    return f"included by the macro {name.decode('ascii', 'replace')}" if name else "included by other macros"


def included_from(directory: bytes | None) -> str:
    """Return the reason for a file that a source includes from an excluded directory; None stands for further ones."""
    if directory is None:
        return "included from other excluded directories"
    return f"included from the excluded directory {plain(shown(directory))} (name it on the command line to scan it)"


def too_large(size: int, limit: int) -> str:
    return f"too large: {size:,} bytes, limit {limit:,}"


def not_regular(mode: int) -> str:
    """Return the reason for a file that is not regular, by its mode."""
    if stat.S_ISFIFO(mode):
        return "named pipe, not a regular file"
    if stat.S_ISSOCK(mode):
        return "socket, not a regular file"
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "device, not a regular file"
    return "not a regular file"
