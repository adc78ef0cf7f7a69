"""Stream the tree of a commit, and check its size before any of it is checked out.

A tree of 40^5 files fits into six objects of a few hundred bytes, so the size of a repository does not bound the size
of its checkout. The listing is streamed, and git needs memory only in proportion to the depth of the tree.
"""

import os
import select
import selectors
import shutil
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Self

from jarvis_workers.errors import UsageError, clause
from jarvis_workers.paths import listing, plain

# Run git and stream its output, within limits of time and memory.

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


WAIT_SECONDS = 120.0
MEGABYTE = 1_000_000
HASH_LENGTH = 12
# Longer paths cannot be checked out (PATH_MAX), so the listing stops at the first such path.
MAX_ENTRY_BYTES = 4_300
REMEDY = "scan a directory of a clone, or raise {setting}"


class TreeBounds(NamedTuple):
    """Upper bounds for the tree of a revision: number of files and total size in bytes, which a setting limits.

    The defaults allow for Linux (90,000 files, 1.5 GB), Chromium (500,000 files, 5 GB) and larger monorepos.
    """

    files: int = 2_000_000
    bytes: int = 50_000 * MEGABYTE
    bytes_setting: str = "scan.git_max_mb"


class TreeEntry(NamedTuple):
    """An entry of `git ls-tree -r`; `size` is 0 for submodules and if sizes were not requested."""

    mode: bytes
    hash: str
    size: int
    path: bytes


def check_bounds(place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str]) -> None:
    """Raise UsageError if the tree of a commit exceeds its bounds or the free space on the disk of `place`.

    The files are counted first, because counting does not read the objects.
    """
    check_count(place, commit, bounds, environ)
    free = shutil.disk_usage(place).free
    total = 0
    for entry in list_tree(place, commit, bounds, environ, sizes=True):
        total += entry.size
        if total > bounds.bytes:
            raise UsageError(_beyond(commit, f"{bounds.bytes // MEGABYTE:,} MB", bounds.bytes_setting))
        if total > free:
            raise UsageError(
                f"git: the tree of {commit[:HASH_LENGTH]} has more than the {free // MEGABYTE:,} MB that are free in "
                f"{place}; set TMPDIR to a larger disk"
            )


def check_count(place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str]) -> None:
    """Raise UsageError if the tree of a commit has too many files."""
    for _ in _lines(place, commit, bounds, environ):
        pass


def list_tree(
    place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str], *, sizes: bool = False
) -> Iterator[TreeEntry]:
    """Yield the files of a commit, with paths from the top. Raises UsageError if there are too many files."""
    for lines in _lines(place, commit, bounds, environ, *(["-l"] if sizes else [])):
        yield from map(_entry, lines)


def _lines(
    place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str], *options: str
) -> Iterator[list[bytes]]:
    command = ["-C", str(place), "ls-tree", "-r", "-z", "--full-tree", *options, commit]
    count, rest = 0, b""
    with GitStream(command, environ, seconds=WAIT_SECONDS) as stream:
        while piece := stream.read():
            *lines, rest = (rest + piece).split(b"\0")
            count += len(lines)
            if count > bounds.files:
                raise UsageError(_beyond(commit, f"{bounds.files:,} files", "scan.git_max_files"))
            if len(rest) > MAX_ENTRY_BYTES:
                raise UsageError(f"git: the tree of {commit[:HASH_LENGTH]} has a path that file systems do not support")
            yield lines


def _entry(line: bytes) -> TreeEntry:
    facts, _, path = line.partition(b"\t")
    mode, _, name, *size = facts.split()
    return TreeEntry(mode, name.decode(), int(size[0]) if size and size[0].isdigit() else 0, path)


def _beyond(commit: str, bound: str, setting: str) -> str:
    return f"git: the tree of {commit[:HASH_LENGTH]} has more than {bound}; {REMEDY.format(setting=setting)}"
