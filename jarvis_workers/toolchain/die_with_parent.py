"""Tie a process to its parent: it is killed when the parent dies, however it dies."""

import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Be killed by the kernel when `parent` dies, on Linux; end at once if it is dead already."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - slow, and few processes need it

        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def is_running(pid: int) -> bool:
    """Say whether a process of this machine is there and no zombie."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return said[said.rindex(")") + 2] not in "ZX"
