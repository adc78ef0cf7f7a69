"""Run commands over a directory: they may read it, write a scratch directory, and access nothing else.

The strongest tier supported by the machine is used; if it supports neither A nor B, no command is run at all.
"""

import functools
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from jarvis_workers.errors import SandboxError, UsageError
from jarvis_workers.sandbox import bwrap
from jarvis_workers.sandbox.cgroups import command_group, delegation
from jarvis_workers.sandbox.confine import HOME, PRIVATE_TEMPORARY, SYSTEM, TEMPORARY, WORK
from jarvis_workers.sandbox.launcher import PACKAGES, Starter, ZygoteSocket, borrowed
from jarvis_workers.sandbox.limits import CommandOutcome, SandboxLimits, Tier
from jarvis_workers.sandbox.protocol import CHUNK_BYTES, GroupFiles, Request, SandboxRefusal, pack_request, read_answer
from jarvis_workers.sandbox.scratch_space import SizedScratch, scratch_in_memory
from jarvis_workers.toolchain import scratch

RUNNING = (Tier.A, Tier.B)
PREFIX = "jarvis-sandbox-"
PATH = "/usr/local/bin:/usr/bin:/bin"
PATIENCE_SECONDS = 30
DEFAULT_LIMITS = SandboxLimits()
NEEDS_TIER_A = "sockets need sandbox tier A: this is tier {tier}, without a network namespace of its own"


def open_sandbox(
    root: Path,
    *,
    tier: Tier | None = None,
    starter: Starter | None = None,
    workspace: Path | None = None,
    readable: Sequence[Path] = (),
    scratch_bytes: int | None = DEFAULT_LIMITS.scratch_bytes,
) -> "Sandbox":
    """Open a sandbox over a directory, in the given tier or the strongest one. Raises SandboxError if it is refused.

    A worker that opens many sandboxes passes a starter to share.  `readable` are further directories to read, such as
    toolchains; their `bin` is in PATH.

    In tier A, the scratch directory is a file system in memory of `scratch_bytes`, if the machine has enough of it (see
    scratch_space.py), and then only commands see `home`; with None it is on disk, for files that the worker exchanges
    with commands.  A `workspace` is an absolute directory that remains after the sandbox, instead
    of a scratch directory: its subdirectory WORK is writable as well, and may be the root of the next sandbox.
    """
    directory = os.path.realpath(root)
    if not Path(directory).is_dir():
        raise UsageError(f"{root}: not a directory")
    if directory == "/":
        raise UsageError("/: the sandbox would expose the whole file system; choose a subdirectory")
    selected_tier = tier or best_tier()
    if why := refusal(selected_tier):
        raise SandboxError(why)
    places = tuple(os.path.realpath(place) for place in readable)
    return Sandbox(directory, selected_tier, starter, workspace=workspace, readable=places, scratch_bytes=scratch_bytes)


def best_tier() -> Tier:
    """Return the strongest tier that this machine supports."""
    return next((tier for tier in RUNNING if not refusal(tier)), Tier.C)


def tiers() -> dict[Tier, str | None]:
    """Return the reason for refusal of each tier, or None for a supported one."""
    return {tier: refusal(tier) for tier in Tier}


def allotments() -> dict[str, str]:
    """Return how memory, processes and the scratch directory of commands are limited on this machine, a line each."""
    groups, memory = delegation(), scratch_in_memory(DEFAULT_LIMITS.scratch_bytes)
    if refusal(Tier.A):
        memory = SizedScratch(None, "tier A does not work here")
    return {
        "memory and processes": f"allotted by control groups below {groups.place}"
        if groups.place
        else f"measured: {groups.why}",
        "scratch": f"allotted in tier A: a file system of {memory.size >> 20} MB in memory"
        if memory.size
        else f"measured on disk: {memory.why}",
    }


@functools.cache
def refusal(tier: Tier) -> str | None:
    """Try a tier, once per process; return why it is refused, or None."""
    if tier not in RUNNING:
        return f"no command is run in tier {tier}; {'; '.join(filter(None, map(refusal, RUNNING)))}".rstrip("; ")
    try:
        with tempfile.TemporaryDirectory() as place, Sandbox(os.path.realpath(place), tier) as sandbox:
            outcome = sandbox.run(["true"])
    except SandboxError as error:
        return f"{tier} refused: {error}"
    if outcome.code == 0:
        return None
    reason = f", {outcome.reason}" if outcome.reason else ""
    return f"{tier} refused: a test command exited with code {outcome.code}{reason}: {outcome.stderr.decode()}"


class Sandbox:
    """Runs commands over one directory; `home` is writable for them. A context manager."""

    def __init__(
        self,
        root: str,
        tier: Tier,
        starter: Starter | None = None,
        *,
        workspace: Path | None = None,
        readable: tuple[str, ...] = (),
        scratch_bytes: int | None = DEFAULT_LIMITS.scratch_bytes,
    ) -> None:
        self.root, self.tier = root, tier
        self._workspace, self._readable = workspace, (*_interpreter(), *readable)
        self._streams = set[socket.socket]()
        self._size: int | None = None
        if tier == Tier.A and workspace is None and scratch_bytes is not None:
            self._size = scratch_in_memory(scratch_bytes, (root, *readable)).size
        self._scratch_limit = scratch_bytes if self._size is not None else None
        self.scratch = self._place()
        self.home = Path(self.scratch, HOME)
        with ExitStack() as stack:
            self._start(stack, starter)
            self._stack = stack.pop_all()

    def _place(self) -> str:
        """Return the path of the scratch directory, as commands see it."""
        if self._workspace is not None:
            return os.path.realpath(self._workspace)
        parent = tempfile.gettempdir() if self._size is None else PRIVATE_TEMPORARY
        return f"{os.path.realpath(parent)}/{PREFIX}{secrets.token_hex(8)}"

    def _start(self, stack: ExitStack, starter: Starter | None) -> None:
        start = stack.enter_context(borrowed(starter))
        self._line = start.line
        if self._size is None:
            self._make_directories(stack)
        if self.tier == Tier.A:
            self._line = start.start_inside(self._bubblewrap())
            stack.callback(self._line.close)
        if self._size is not None:
            self._line.ask({"scratch": self.scratch})

    def _make_directories(self, stack: ExitStack) -> None:
        """Make the directories of a scratch directory on disk, or of a workspace."""
        if self._workspace is None:
            Path(self.scratch).mkdir(0o700)
            stack.callback(self._remove, self._line)
        for name in (HOME, TEMPORARY) if self._workspace is None else (HOME, TEMPORARY, WORK):
            Path(self.scratch, name).mkdir(0o700, exist_ok=self._workspace is not None)
        self._line.ask({"scratch" if self._workspace is None else "workspace": self.scratch})

    def _bubblewrap(self) -> list[str]:
        program = bwrap.find()
        if program is None:
            raise SandboxError("bwrap: not installed")
        readable = (*self._readable, str(PACKAGES / "jarvis_workers"))
        return bwrap.command_line(program, self.root, self.scratch, readable, size=self._size, as_root=not os.getuid())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kill the commands of all threads and remove the scratch directory."""
        for stream in tuple(self._streams):
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
        self._stack.close()

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | None = None,
        limits: SandboxLimits = DEFAULT_LIMITS,
        loopback: bool = False,
    ) -> CommandOutcome:
        """Run a command to completion. Raises SandboxError if it could not be confined.

        With `loopback`, it may use TCP and UDP on the loopback interface, which only tier A has for itself.
        """
        if loopback and self.tier != Tier.A:
            raise SandboxError(NEEDS_TIER_A.format(tier=self.tier))
        request = self._request(argv, stdin, limits, loopback=loopback)
        with command_group(limits) as group:
            outcome = self._read(self._answer(request, group.files if group else None))
            return outcome._replace(reason=outcome.reason or group.reason()) if group else outcome

    def _answer(self, request: Request, group: GroupFiles | None) -> bytes:
        answer = bytearray()
        with self._line.run(group) as stream, self._ended_by_close(stream):
            stream.settimeout(request.limits.wall_seconds + PATIENCE_SECONDS)
            try:
                stream.sendall(pack_request(request))
                while chunk := stream.recv(CHUNK_BYTES):
                    answer += chunk
            except OSError as error:
                raise self._line.broken() from error
        return bytes(answer)

    @contextmanager
    def _ended_by_close(self, stream: socket.socket) -> Iterator[None]:
        self._streams.add(stream)
        try:
            yield
        finally:
            self._streams.discard(stream)

    def _remove(self, line: ZygoteSocket) -> None:
        """Let the zygote remove the scratch directory, which may delete all files that commands have created."""
        try:
            line.ask({"done": self.scratch})
        except SandboxError:
            scratch.remove(self.scratch)

    def _request(self, argv: Sequence[str], stdin: bytes | None, limits: SandboxLimits, *, loopback: bool) -> Request:
        path = ":".join([PATH, *(f"{place}/bin" for place in self._readable)])
        if self._scratch_limit is not None:
            limits = limits._replace(scratch_bytes=min(limits.scratch_bytes, self._scratch_limit))
        return Request(
            tuple(argv),
            self.root,
            self.scratch,
            self._readable,
            path,
            limits,
            stdin or b"",
            loopback=loopback,
            in_memory=self._size is not None,
        )

    def _read(self, answer: bytes) -> CommandOutcome:
        try:
            return read_answer(answer)
        except SandboxRefusal as refusal:
            raise SandboxError(str(refusal)) from None
        except EOFError:
            raise self._line.broken() from None


def _interpreter() -> tuple[str, ...]:
    """Return the path of the Python installation if it is not in a system directory, so that commands may use it."""
    place = Path(sys.base_prefix).resolve()
    if any(place.is_relative_to(directory) for directory in SYSTEM) or Path.home().resolve().is_relative_to(place):
        return ()
    return (str(place),)
