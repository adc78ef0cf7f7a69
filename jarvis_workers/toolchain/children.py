"""Start Python modules of this project as child processes and exchange lines with them over pipes.

A child gets a minimal environment, writes its answers to standard output, and exits at the end of its standard input,
which is also reached when its parent dies.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import IO

from jarvis_workers.errors import HostExhausted, JarvisError
from jarvis_workers.toolchain.exhaustion import host_exhausted

PASSED_VARIABLES = (
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
PASSED_PREFIXES = ("COVERAGE_",)
READ_BYTES = 1 << 18
NOTHING: Mapping[str, str] = MappingProxyType({})


class ChildDied(JarvisError):
    """Raised when a child has closed its pipe; the message gives the signal or exit code."""


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an environment that are safe for a child: no keys, passwords or settings."""
    return {
        name: value for name, value in environ.items() if name in PASSED_VARIABLES or name.startswith(PASSED_PREFIXES)
    }


class Child:
    """A module running as a child process. Each line sent must fit into a pipe (64 KB).

    The child gets the variables of `environ` selected by `child_environment`, and all of `storage`, the variables of
    the blob store.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        errors: IO[bytes],
        *,
        storage: Mapping[str, str] = NOTHING,
    ) -> None:
        command = [sys.executable, "-P", "-m", module, *arguments]
        pipe, variables = subprocess.PIPE, {**child_environment(environ), **storage}
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=errors, env=variables, start_new_session=True, bufsize=0
            )
        except OSError as error:
            kind = HostExhausted if host_exhausted(error) else JarvisError
            raise kind(f"{sys.executable}: cannot be started: {error.strerror}") from error
        self._rest = bytearray()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def fileno(self) -> int:
        """Return the file descriptor to poll for answers."""
        return self._pipe(self._process.stdout).fileno()

    def send(self, line: bytes) -> None:
        """Send a line. Raises ChildDied when the child no longer reads."""
        try:
            self._pipe(self._process.stdin).write(line + b"\n")
        except BrokenPipeError as error:
            raise ChildDied(self._end()) from error

    def receive(self) -> list[bytes]:
        """Return the complete lines received so far. Raises ChildDied at the end of the pipe."""
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
        """Return the signal or exit code of the child as text, or None while it runs."""
        return None if self._process.poll() is None else self._end()

    def signal(self, number: int) -> None:
        """Send the child a signal."""
        self._process.send_signal(number)

    def wait(self, seconds: float) -> str:
        """Wait for the child to exit, kill it after `seconds`, and return its signal or exit code as text."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self._process.kill()
        return self._end()

    def kill(self) -> None:
        """Kill the child and reap it."""
        self._process.kill()
        self._end()

    def close(self) -> None:
        """Close the child's standard input, which makes it exit, and reap it."""
        self._end()

    def _end(self) -> str:
        for pipe in (self._process.stdin, self._process.stdout):
            self._pipe(pipe).close()
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe
