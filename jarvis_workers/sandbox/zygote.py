"""Be the process that starts commands: one thread, small, started before there is anything to leak.

A worker keeps one, outside or inside bubblewrap, and hands it over a socket the end of a stream for each command,
which a fork of its own (supervisor.py) serves.  When the worker is gone it ends what runs and removes the scratch
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
from jarvis_workers.sandbox.confine import HOME, TEMPORARY, Cell
from jarvis_workers.toolchain import scratch

MESSAGE_BYTES = 1 << 16
STRAYS_MILLISECONDS = 500
PAUSE_SECONDS = 0.005


def main() -> None:
    """Serve the socket whose number is the first argument; the second says what kind of cell this is."""
    kind = json.loads(sys.argv[2])
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    serve(control, Cell(without=kind["without"], known=kind["landlock"]))


def serve(control: socket.socket, cell: Cell) -> None:
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    host = _Host(control, cell)
    while host.serve_one():
        pass
    host.close()


class _Host:
    """What the cell has started and is to remove."""

    def __init__(self, control: socket.socket, cell: Cell) -> None:
        self._control, self._cell = control, cell
        self._scratches = set[str]()
        self._children = set[int]()
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def serve_one(self) -> bool:
        """Do one thing that is asked for; False when nobody asks any more."""
        while not self._poll.poll(STRAYS_MILLISECONDS if self._children else None):
            self._end_strays()
        message, held, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 2)
        if not message:
            return False
        self._do(json.loads(message), held)
        return True

    def _do(self, asked: dict[str, Any], held: list[int]) -> None:
        if "scratch" in asked:
            self._make(asked["scratch"])
        elif "done" in asked:
            self._remove(asked["done"])
        with suppress(BlockingIOError):
            if "bubblewrap" in asked:
                self._fork(lambda: _become(asked["bubblewrap"], *held))
            elif "run" in asked:
                stream = socket.socket(fileno=held[0])
                self._fork(lambda: supervisor.keep(stream, self._cell))
                stream.detach()
        for number in held:
            os.close(number)

    def _make(self, directory: str) -> None:
        self._scratches.add(directory)
        for path in (directory, f"{directory}/{HOME}", f"{directory}/{TEMPORARY}"):
            os.makedirs(path, 0o700, exist_ok=True)
            if not os.getuid() and kernel.is_known(supervisor.NOBODY):
                os.chown(path, supervisor.NOBODY, supervisor.NOBODY)

    def _remove(self, directory: str) -> None:
        """Remove a scratch directory; one that a command still writes to is removed in the end."""
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
        """End who has lost its keeper, and forget who has ended."""
        below = process_tree.children()
        for stray in below - self._children:
            with suppress(OSError):
                os.kill(stray, signal.SIGKILL)
        self._children &= below

    def close(self) -> None:
        """End what runs, and leave nothing behind."""
        for child in self._children:
            with suppress(OSError):
                os.kill(child, signal.SIGTERM)
        while self._children or process_tree.children():
            self._end_strays()
            time.sleep(PAUSE_SECONDS)
        for directory in tuple(self._scratches):
            self._remove(directory)


def _become(command: list[str], control: int, errors: int) -> NoReturn:
    """Be bubblewrap, which dies with the cell that started it; the end of its control socket has the number 3."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(errors, 2)
    os.dup2(control, 3)
    os.set_inheritable(3, True)
    os.closerange(4, 1 << 20)
    os.execve(command[0], command, {})


if __name__ == "__main__":
    main()
