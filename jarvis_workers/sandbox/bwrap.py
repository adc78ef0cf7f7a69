"""Build the bubblewrap command line: the sandbox has the system directories, one directory, and a scratch directory."""

import shutil

from jarvis_workers.sandbox.confine import PRIVATE_TEMPORARY, SYSTEM, SYSTEM_FILES, TEMPORARY

PROGRAM = "bwrap"
PLACES = "/usr/local/bin:/usr/bin:/bin"
FOR_USERS = ("--unshare-all",)
# Root gets no user namespace, in which it would be nobody; it keeps what it needs to become another user later.
FOR_ROOT = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
RIGHTS_OF_ROOT = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH", "CAP_KILL", "CAP_CHOWN")


def find() -> str | None:
    """Return the path of bubblewrap, or None."""
    return shutil.which(PROGRAM, path=PLACES)


def command_line(
    program: str, root: str, scratch: str, readable: tuple[str, ...], *, size: int | None, as_root: bool
) -> list[str]:
    """Return the bubblewrap command line, up to the command to run.

    With a `size`, /tmp is a file system in memory of so many bytes, which contains the scratch directory.
    """
    words = [program, *(FOR_ROOT if as_root else FOR_USERS), "--die-with-parent"]
    for right in RIGHTS_OF_ROOT if as_root else ():
        words += ["--cap-add", right]
    words += ["--proc", "/proc", "--dev", "/dev"]
    # Readable directories may lie below /tmp, so /tmp is mounted first.
    if size is None:
        words += ["--bind", f"{scratch}/{TEMPORARY}", PRIVATE_TEMPORARY]
    else:
        words += ["--perms", "1777", "--size", str(size), "--tmpfs", PRIVATE_TEMPORARY]
    for path in (*SYSTEM, *SYSTEM_FILES, *readable):
        words += ["--ro-bind-try", path, path]
    words += ["--ro-bind", root, root, *(["--bind", scratch, scratch] if size is None else [])]
    return [*words, "--remount-ro", "/", "--chdir", "/", "--"]
