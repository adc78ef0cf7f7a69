"""The processes that a command has started, wherever they have gone: what they hold, and how they are ended.

They cannot get away: who loses its parent becomes a child of the keeper, which kills until it has no child left.
"""

import os
import signal
import time
from contextlib import suppress

PAUSE_SECONDS = 0.001


def descendants() -> set[int]:
    """Return all processes below this one."""
    parents = _parents()
    found, more = set[int](), {os.getpid()}
    while more:
        more = {process for process, parent in parents.items() if parent in more} - found
        found |= more
    return found


def children() -> set[int]:
    """Return the processes whose parent this one is."""
    me = os.getpid()
    return {process for process, parent in _parents().items() if parent == me}


def end(group: int) -> None:
    """Kill a group, and then all that is left; return when there is no child any more."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    while _has_children():
        for process in descendants():
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(PAUSE_SECONDS)


def _parents() -> dict[int, int]:
    found = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (said := _read(f"/proc/{name}/stat")):
            found[int(name)] = int(said[said.rindex(b")") + 4 :].split()[0])
    return found


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
