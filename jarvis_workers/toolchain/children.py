"""Start our own Python modules as children, and talk to them in lines over pipes.

A child sees no environment but what it needs, reads standard input to its end when its parent
dies, and keeps standard output for its answers.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from jarvis_workers.errors import JarvisError

KEPT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TZ",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",
)
KEPT_PREFIXES = ("COVERAGE_",)
READ_BYTES = 1 << 18


class ChildDied(JarvisError):
    """A child closed its pipe; the message says how it ended."""


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a child may see of an environment: no keys, no passwords, no settings."""
    return {name: value for name, value in environ.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}


class Child:
    """A running module. Lines sent must fit a pipe (64 KB)."""

    def __init__(self, module: str, arguments: Sequence[str], environ: Mapping[str, str], errors: IO[bytes]) -> None:
        command = [sys.executable, "-P", "-m", module, *arguments]
        pipe, seen = subprocess.PIPE, child_environment(environ)
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=errors, env=seen, start_new_session=True, bufsize=0
            )
        except OSError as error:
            raise JarvisError(f"{sys.executable}: cannot be started: {error.strerror}") from error
        self._rest = bytearray()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def fileno(self) -> int:
        """Return what to wait on for answers."""
        return self._pipe(self._process.stdout).fileno()

    def send(self, line: bytes) -> None:
        """Send a line; raises ChildDied when nobody reads it."""
        try:
            self._pipe(self._process.stdin).write(line + b"\n")
        except BrokenPipeError as error:
            raise ChildDied(self._end()) from error

    def receive(self) -> list[bytes]:
        """Return the whole lines that have come; raises ChildDied at the end of the pipe."""
        chunk = os.read(self.fileno(), READ_BYTES)
        if not chunk:
            raise ChildDied(self._end())
        self._rest += chunk
        if b"\n" not in chunk:
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        return lines

    def ended(self) -> str | None:
        """Return how it ended, or None while it runs."""
        return None if self._process.poll() is None else self._end()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def wait(self, seconds: float) -> str:
        """Wait for its end; after `seconds` end it."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self._process.kill()
        return self._end()

    def kill(self) -> None:
        """End it at once, and wait until it has ended."""
        self._process.kill()
        self._end()

    def close(self) -> None:
        """Ask it to end by closing its input, and wait until it has ended."""
        self._end()

    def _end(self) -> str:
        for pipe in (self._process.stdin, self._process.stdout):
            self._pipe(pipe).close()
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe
