"""Tie a process to its parent: it is killed when the parent dies for any reason."""

import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent` dies (on Linux); exit at once if `parent` is already dead."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - slow, and few processes need it

        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def is_running(pid: int) -> bool:
    """Return whether a process exists on this machine and is not a zombie. Raises OSError if that cannot be read."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat[stat.rindex(")") + 2] not in "ZX"
