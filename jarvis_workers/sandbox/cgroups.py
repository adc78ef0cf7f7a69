"""Allot memory and processes to commands with control groups (cgroup v2), where a group is delegated to the worker.

A group whose children have controllers may contain no processes itself ("no internal processes"), so all processes of
the delegated group are first moved to a child of it. Only groups marked as delegated are changed: by systemd
(`Delegate=yes`, from version 250), or as the root of a container's own namespace of groups.
"""

import functools
import itertools
import os
import re
import select
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

from jarvis_workers.errors import SandboxError
from jarvis_workers.sandbox.limits import FREE_MEMORY, SandboxLimits
from jarvis_workers.sandbox.protocol import GroupFiles
from jarvis_workers.toolchain.usage import read_proc_file

CONTROLLERS = ("memory", "pids")
FILES = ("cgroup.procs", "cgroup.kill")
WORKERS, COMMAND = "jarvis-workers", "jarvis-command"
# The attribute by which systemd marks delegated groups (systemd.resource-control(5)).
MARK = "user.delegate"
MOUNT = re.compile(rb"^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 ", re.MULTILINE)
OWN = re.compile(rb"^0::(/.*)$", re.MULTILINE)
OWNER = re.compile(rf"{COMMAND}-(\d+)-\d+")
# Processes may fork while they are moved.
MOVES = 20
EMPTY_MILLISECONDS = 2000

_numbers = itertools.count()


class Delegation(NamedTuple):
    """The group below which commands get groups of their own, or None and the reason why there is none."""

    place: Path | None
    why: str = ""


@functools.cache
def delegation() -> Delegation:
    """Find the group that is delegated to this process, once per process, and prepare it for groups of commands."""
    mount, own = MOUNT.search(read_proc_file("/proc/self/mountinfo")), OWN.search(read_proc_file("/proc/self/cgroup"))
    if not mount or not own:
        return Delegation(None, "no cgroup v2")
    place = Path(os.fsdecode(mount[1]) + os.fsdecode(own[1]).rstrip("/"))
    return delegated_at(place.parent if place.name == WORKERS else place)


def delegated_at(place: Path) -> Delegation:
    """Prepare the group of a directory for groups of commands, if it is delegated and has the controllers."""
    try:
        missing = set(CONTROLLERS) - set((place / "cgroup.controllers").read_text().split())
        if missing:
            return Delegation(None, f"{place} has no cgroup controller {', '.join(sorted(missing))}")
        if not (place / "cgroup.kill").exists():
            return Delegation(None, f"{place} has no cgroup.kill, which Linux 5.14 has")
        if not _is_delegated(place):
            return Delegation(None, f"cgroup {place} is not delegated to this process")
        _enable(place)
        _remove_old(place)
    except OSError as error:
        return Delegation(None, f"cgroup {place}: {error.strerror}")
    return Delegation(place)


def _is_delegated(place: Path) -> bool:
    """Return whether a group is marked as delegated; the root of a namespace is, but not the machine's root group."""
    if not all(os.access(place / name, os.W_OK) for name in (".", "cgroup.procs", "cgroup.subtree_control")):
        return False
    with suppress(OSError):
        return os.getxattr(place, MARK) == b"1"
    return os.path.ismount(place) and (place / "cgroup.type").exists()


def _enable(place: Path) -> None:
    control = place / "cgroup.subtree_control"
    if set(CONTROLLERS) <= set(control.read_text().split()):
        return
    workers = place / WORKERS
    workers.mkdir(exist_ok=True)
    for left in reversed(range(MOVES)):
        for process in (place / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (workers / "cgroup.procs").write_text(process)
        try:
            control.write_text(" ".join(f"+{name}" for name in CONTROLLERS))
            return
        except OSError:
            if not left:
                raise


def _remove_old(place: Path) -> None:
    """Remove the groups of processes that have died."""
    for group in place.glob(f"{COMMAND}-*"):
        owner = OWNER.fullmatch(group.name)
        if owner and not Path("/proc", owner[1]).exists():
            with suppress(OSError):
                group.rmdir()


class CommandGroup:
    """The group of one command, with the `files` that its supervisor needs."""

    def __init__(self, place: Path, limits: SandboxLimits) -> None:
        self._place = place
        place.mkdir()
        self._write("memory.max", limits.memory_bytes)
        with suppress(FileNotFoundError):  # without accounting of swap
            self._write("memory.swap.max", 0)
        self._write("memory.oom.group", 1)
        self._write("pids.max", limits.processes)
        self.files = GroupFiles(*(os.open(place / name, os.O_WRONLY | os.O_CLOEXEC) for name in FILES))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill all processes of the group and remove it."""
        for number in self.files:
            os.close(number)
        with suppress(OSError):
            self._write("cgroup.kill", 1)
            self._wait()
            self._place.rmdir()

    def reason(self) -> str | None:
        """Return why the kernel has ended processes of the group: its own limit, or that of a group above it."""
        events = dict(line.split() for line in (self._place / "memory.events").read_text().splitlines())
        if events["oom_kill"] == "0":
            return None
        return FREE_MEMORY if events["oom"] == "0" else "memory"

    def _write(self, name: str, value: int) -> None:
        (self._place / name).write_text(str(value))

    def _wait(self) -> None:
        with (self._place / "cgroup.events").open() as events:
            poll = select.poll()
            poll.register(events, select.POLLPRI)
            while "populated 1" in events.read() and poll.poll(EMPTY_MILLISECONDS):
                events.seek(0)


@contextmanager
def command_group(limits: SandboxLimits) -> Iterator[CommandGroup | None]:
    """Yield a new group with the limits of a command, or None where no group is delegated. Raises SandboxError."""
    base = delegation().place
    if base is None:
        yield None
        return
    try:
        group = CommandGroup(base / f"{COMMAND}-{os.getpid()}-{next(_numbers)}", limits)
    except OSError as error:
        raise SandboxError(f"{base}: no cgroup for a command can be created: {error.strerror}") from error
    with group:
        yield group
