"""A command at a real terminal (a pty): what it writes, keys, Ctrl-C, and a terminal that goes away."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[@-Z\\-_]|\][^\x07]*\x07)")
ASKS_WHERE_THE_CURSOR_IS = "\x1b[6n"
# What prompt_toolkit writes when it begins to read.
READS = "\x1b[?2004h"
PATIENCE_SECONDS = 60.0
CTRL_C, CTRL_D, ALT_ENTER, ENTER = "\x03", "\x04", "\x1b\r", "\r"


class Terminal:
    """The terminal of one command; `screen` is all that was written, without escape sequences.

    `cpu_seconds` is the CPU time of the command, with its own children, after `wait`.
    """

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid, self._descriptor = pid, descriptor
        self.raw, self.cpu_seconds = "", 0.0
        self._place = self._prompts = 0

    @property
    def screen(self) -> str:
        return ESCAPES.sub("", self.raw).replace("\r", "")

    def wait_for(self, text: str) -> str:
        """Wait until a text was written after the last one that was waited for; return what was written since."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.screen[self._place :]:
            assert time.monotonic() < deadline, f"no {text!r} in {self.screen[self._place :]!r}"
            assert self._read(1.0), f"ended without {text!r}: {self.screen[self._place :]!r}"
        start, self._place = self._place, self.screen.index(text, self._place) + len(text)
        return self.screen[start : self._place]

    def wait_for_prompt(self) -> None:
        """Wait for the next prompt of prompt_toolkit, so that no key is typed before it reads."""
        self._prompts += 1
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.raw.count(READS) < self._prompts:
            assert time.monotonic() < deadline, f"no prompt in {self.screen[self._place :]!r}"
            assert self._read(1.0), f"ended without a prompt: {self.screen[self._place :]!r}"

    def type(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def hang_up(self) -> None:
        """Take the terminal away."""
        os.close(self._descriptor)
        self._descriptor = -1

    def wait(self) -> int:
        """Read to the end and return the exit code, negative for a signal."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._descriptor >= 0 and self._read(1.0):
            assert time.monotonic() < deadline
        _, status, usage = os.wait4(self.pid, 0)
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def _read(self, seconds: float) -> bool:
        """Read what is there; return whether the command may write more."""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:
            return False
        text = data.decode(errors="replace")
        if ASKS_WHERE_THE_CURSOR_IS in text:
            self.type("\x1b[1;1R")
        self.raw += text
        return bool(data)


@contextmanager
def at_terminal(place: Path, *args: str, columns: int = 80, environ: Mapping[str, str]) -> Iterator[Terminal]:
    """Run `jarvis` at a terminal of a width."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(place)
        os.execve(sys.executable, [sys.executable, "-m", "jarvis_cli", *args], dict(environ))
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    terminal = Terminal(pid, descriptor)
    try:
        yield terminal
    finally:
        terminal.close()
