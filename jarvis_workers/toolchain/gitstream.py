"""Run git and stream its output, within limits of time and memory.

A hostile repository of a few kilobytes can list billions of files, so no output is collected without a bound, and every
git process has limits RLIMIT_AS and RLIMIT_FSIZE (on Linux), which its children inherit.
"""

import os
import select
import selectors
import shutil
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from types import TracebackType
from typing import IO, Self

from jarvis_workers.errors import UsageError, clause
from jarvis_workers.paths import listing, plain

MAX_ADDRESS_SPACE_BYTES = 4 << 30
MAX_FILE_BYTES = 64 << 30
READ_BYTES = 1 << 16
MAX_MESSAGE_BYTES = 1 << 16
FILE_BLOCK_BYTES = 512
NAMES_MAX = 3
# A shell sets the limits between fork and exec, since `preexec_fn` is not safe in a process with threads. A limit that
# cannot be set (on address space on macOS, or above a lower limit in force) is left unchanged.
LIMITED = 'ulimit -v "$1" 2>/dev/null; ulimit -f "$2" 2>/dev/null; shift 2; exec "$@"'
NOT_INSTALLED = "git is not installed; install it, or scan a directory"


class GitFailed(UsageError):
    """Git ended with exit code `code`, after the output `output`."""

    def __init__(self, says: str, code: int, output: bytes) -> None:
        super().__init__(says)
        self.code, self.output = code, output


class GitStream:
    """A running git command, as a context manager that kills it on exit. Raises UsageError if git cannot be started.

    `seconds` limits each wait for output, not the time between two reads.
    """

    def __init__(self, arguments: Sequence[str], environ: Mapping[str, str], *, seconds: float) -> None:
        self._seconds = seconds
        self._process = start(arguments, environ)
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def read(self) -> bytes:
        """Return the next piece of output, b"" at the end. Raises UsageError if git fails or times out."""
        if not self._poll.poll(self._seconds * 1000):
            raise UsageError(f"git: timeout, no output for {self._seconds:g} s")
        piece = os.read(self._output, READ_BYTES)
        if not piece and (code := self._wait()):
            raise UsageError(f"git: exited with code {code}")
        return piece

    def close(self) -> None:
        """Kill the command."""
        self._process.kill()
        self._wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _wait(self) -> int:
        try:
            return self._process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def run(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    seconds: float,
    max_output: int,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    good: Collection[int] = (0,),
) -> bytes:
    """Run git to completion and return its output.

    Raises GitFailed for an exit code that is not in `good`, and UsageError if git exceeds a limit or is missing.
    """
    process = start(arguments, environ, errors=subprocess.PIPE, stdin=stdin)
    try:
        output, errors = _collect(process, time.monotonic() + seconds, max_output)
        code = process.wait(seconds)
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        raise UsageError(
            f"git {_command(arguments)}: timeout after {seconds:g} s; clone it yourself and scan the directory"
        ) from error
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    if code not in good:
        reason = _reason(errors.decode("utf-8", "replace").splitlines())
        raise GitFailed(f"git: {reason or f'exited with code {code}'}", code, output)
    return output


def _reason(lines: Sequence[str]) -> str:
    """Return the first error of git's messages, with the files that are listed below it, or ""."""
    for number, line in enumerate(lines):
        if line.startswith(("fatal:", "error:")):
            files = [plain(file.strip()) for file in takewhile(lambda below: below[:1].isspace(), lines[number + 1 :])]
            return f"{line} {listing(files, NAMES_MAX)}" if files and line.endswith(":") else clause(line)
    return ""


def _collect(process: subprocess.Popen[bytes], end: float, max_output: int) -> tuple[bytes, bytes]:
    """Return git's output and the end of its messages, truncated since a server can send any number of them."""
    output, errors = bytearray(), bytearray()
    with selectors.DefaultSelector() as pipes:
        for pipe, buffer in ((process.stdout, output), (process.stderr, errors)):
            assert pipe is not None
            pipes.register(pipe, selectors.EVENT_READ, buffer)
        while pipes.get_map():
            ready = pipes.select(end - time.monotonic())
            if not ready or time.monotonic() > end:
                raise TimeoutError
            for key, _ in ready:
                piece = os.read(key.fd, READ_BYTES)
                if not piece:
                    pipes.unregister(key.fileobj)
                key.data.extend(piece)
            del errors[:-MAX_MESSAGE_BYTES]
            if len(output) > max_output:
                raise UsageError(f"git: more than {max_output:,} bytes of output")
    return bytes(output), bytes(errors)


def _command(arguments: Sequence[str]) -> str:
    return arguments[2] if arguments[0] == "-C" else arguments[0]


def start(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    errors: int = subprocess.DEVNULL,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start git with resource limits and its output in a pipe. Raises UsageError if git is not installed."""
    git = shutil.which("git", path=environ.get("PATH", ""))
    if git is None:
        raise UsageError(NOT_INSTALLED)
    limits = [str(MAX_ADDRESS_SPACE_BYTES // 1024), str(MAX_FILE_BYTES // FILE_BLOCK_BYTES)]
    command = ["/bin/sh", "-c", LIMITED, "sh", *limits, git, *arguments]
    return subprocess.Popen(command, env=environ, stdin=stdin, stdout=subprocess.PIPE, stderr=errors)
