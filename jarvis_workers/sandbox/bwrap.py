"""The command line of bubblewrap: what a cell sees inside is a directory, the system's, and its scratch directory."""

import shutil

from jarvis_workers.sandbox.confine import SYSTEM, SYSTEM_FILES, TEMPORARY

PROGRAM = "bwrap"
PLACES = "/usr/local/bin:/usr/bin:/bin"
FOR_USERS = ("--unshare-all",)
# Root needs no namespace of users, in which it would be nobody; it keeps what the cell needs to become nobody itself.
FOR_ROOT = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
RIGHTS_OF_ROOT = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH", "CAP_KILL")


def find() -> str | None:
    """Return where bubblewrap is."""
    return shutil.which(PROGRAM, path=PLACES)


def command_line(program: str, root: str, scratch: str, readable: tuple[str, ...], *, as_root: bool) -> list[str]:
    """Return how bubblewrap is started, up to the command that it is to start."""
    words = [program, *(FOR_ROOT if as_root else FOR_USERS), "--die-with-parent"]
    for right in RIGHTS_OF_ROOT if as_root else ():
        words += ["--cap-add", right]
    words += ["--proc", "/proc", "--dev", "/dev"]
    # What is read may lie below it, so it comes first.
    words += ["--bind", f"{scratch}/{TEMPORARY}", "/tmp"]
    for path in (*SYSTEM, *SYSTEM_FILES, *readable):
        words += ["--ro-bind-try", path, path]
    words += ["--ro-bind", root, root, "--bind", scratch, scratch, "--remount-ro", "/", "--chdir", "/", "--"]
    return words
