"""List and kill all processes that a command has started, including daemons.

No process escapes: orphans are reparented to the supervisor, a child subreaper, which kills until it has no children.
"""

import os
import signal
import time
from contextlib import suppress

from jarvis_workers.toolchain.usage import read_proc_file

PAUSE_SECONDS = 0.001


def descendants() -> set[int]:
    """Return the ids of all descendants of this process."""
    parents = _parents()
    result, more = set[int](), {os.getpid()}
    while more:
        more = {process for process, parent in parents.items() if parent in more} - result
        result |= more
    return result


def children() -> set[int]:
    """Return the ids of the direct children of this process."""
    me = os.getpid()
    return {process for process, parent in _parents().items() if parent == me}


def end(group: int) -> None:
    """Kill a process group, then all remaining descendants; return when there are no children left."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    while _has_children():
        for process in descendants():
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(PAUSE_SECONDS)


def _parents() -> dict[int, int]:
    result = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (stat := read_proc_file(f"/proc/{name}/stat")):
            result[int(name)] = int(stat[stat.rindex(b")") + 4 :].split()[0])
    return result


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
