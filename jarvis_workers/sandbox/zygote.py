"""The zygote: a small single-threaded process that starts commands, created before the worker has secrets to leak.

A worker keeps one, outside or inside bubblewrap, and sends it one end of a stream for each command; a fork
(supervisor.py) serves the stream. When the worker dies, the zygote kills all commands and removes the scratch
directories.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from jarvis_workers.sandbox import kernel, process_tree, supervisor
from jarvis_workers.sandbox.confine import HOME, TEMPORARY, WORK, Cell, trust_git
from jarvis_workers.sandbox.protocol import GroupFiles
from jarvis_workers.toolchain import scratch

# The most that a message has: a stream and those of a control group.
MOST_DESCRIPTORS = 1 + len(GroupFiles._fields)
MESSAGE_BYTES = 1 << 16
STRAYS_MILLISECONDS = 500
PAUSE_SECONDS = 0.005


def main() -> None:
    """Serve the socket whose descriptor is the first argument; the second is the zygote's configuration as JSON."""
    kind = json.loads(sys.argv[2])
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    serve(control, Cell(without=kind["without"], rights=kind["landlock"]))


def serve(control: socket.socket, cell: Cell) -> None:
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    host = _Host(control, cell)
    while host.serve_one():
        pass
    host.close()


class _Host:
    """The child processes and scratch directories of a zygote."""

    def __init__(self, control: socket.socket, cell: Cell) -> None:
        self._control, self._cell = control, cell
        self._scratches = set[str]()
        self._children = set[int]()
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def serve_one(self) -> bool:
        """Handle one request; return False when the client has disconnected."""
        while not self._poll.poll(STRAYS_MILLISECONDS if self._children else None):
            self._end_strays()
        message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, MOST_DESCRIPTORS)
        if not message:
            return False
        self._do(json.loads(message), descriptors)
        return True

    def _do(self, request: dict[str, Any], descriptors: list[int]) -> None:
        if "scratch" in request:
            self._scratches.add(request["scratch"])
            _make(request["scratch"], HOME, TEMPORARY)
        elif "workspace" in request:
            _make(request["workspace"], HOME, TEMPORARY, WORK)
        elif "done" in request:
            self._remove(request["done"])
        with suppress(BlockingIOError):
            if "bubblewrap" in request:
                self._fork(lambda: _become(request["bubblewrap"], *descriptors))
            elif "run" in request:
                stream = socket.socket(fileno=descriptors[0])
                group = GroupFiles(*descriptors[1:]) if descriptors[1:] else None
                self._fork(lambda: supervisor.keep(stream, self._cell, group))
                stream.detach()
        for number in descriptors:
            os.close(number)

    def _remove(self, directory: str) -> None:
        """Remove a scratch directory; if a command still writes to it, the removal is retried at the end."""
        with suppress(OSError):
            scratch.remove(directory)
            self._scratches.discard(directory)

    def _fork(self, work: Callable[[], None]) -> None:
        child = os.fork()
        if child:
            self._children.add(child)
            return
        self._control.close()
        work()
        os._exit(0)

    def _end_strays(self) -> None:
        """Kill orphans whose supervisor has died, and forget children that have exited."""
        below = process_tree.children()
        for stray in below - self._children:
            with suppress(OSError):
                os.kill(stray, signal.SIGKILL)
        self._children &= below

    def close(self) -> None:
        """Kill all commands and remove all scratch directories."""
        for child in self._children:
            with suppress(OSError):
                os.kill(child, signal.SIGTERM)
        while self._children or process_tree.children():
            self._end_strays()
            time.sleep(PAUSE_SECONDS)
        for directory in tuple(self._scratches):
            self._remove(directory)


def _make(directory: str, *names: str) -> None:
    """Create a directory and its subdirectories for the user of commands."""
    for path in (directory, *(f"{directory}/{name}" for name in names)):
        os.makedirs(path, 0o700, exist_ok=True)
        if path.endswith(f"/{HOME}"):
            trust_git(path)
        if not os.getuid() and kernel.is_mapped(supervisor.COMMAND_USER):
            os.chown(path, supervisor.COMMAND_USER, supervisor.COMMAND_USER)


def _become(command: list[str], control: int, errors: int) -> NoReturn:
    """Exec bubblewrap, which dies with the zygote that started it; its end of the control socket is descriptor 3."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(errors, 2)
    os.dup2(control, 3)
    os.set_inheritable(3, True)
    os.closerange(4, 1 << 20)
    os.execve(command[0], command, {})


if __name__ == "__main__":
    main()
