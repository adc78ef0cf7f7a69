"""Supervise one command: start it, capture its output, enforce its limits, kill all its processes, report the outcome.

One supervisor process per command, between the zygote and the command. It is not confined, and accepts only bytes and
numbers from the command. It kills the command when the client or the zygote has died.
"""

import functools
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import NoReturn

from jarvis_workers.sandbox import confine, kernel, process_tree
from jarvis_workers.sandbox.confine import PRIVATE_TEMPORARY, Cell
from jarvis_workers.sandbox.limits import FREE_MEMORY, CommandOutcome
from jarvis_workers.sandbox.notify_handler import NotificationListener
from jarvis_workers.sandbox.protocol import GroupFiles, Request, pack_outcome, pack_refusal, receive_request
from jarvis_workers.sandbox.scratch_space import scratch_limit
from jarvis_workers.toolchain.bounded_output import Output
from jarvis_workers.toolchain.usage import lock_bytes, machine_is_short_of_memory, queued_bytes, usage_of

# The user of commands if the worker is root: an id that neither Debian's nor systemd's ranges contain (65534 is nobody,
# whom daemons of the machine share).
COMMAND_USER = 65530
READ_BYTES = 1 << 16
FIRST_LOOK_SECONDS = 0.05
# Checks take at most a tenth of the time, but are at most a second apart.
LOOKING_SHARE, LAST_LOOK_SECONDS = 10, 1.0
GLANCE_SECONDS = 0.02
# The kernel's limit on processes is exact where it applies; for other cases this multiple of it is enforced here.
UNCOUNTED = 2
# Calls that lock files, from which on the locks are counted.
MANY_LOCKS = 1000
# Written to cgroup.kill.
KILL_ALL = b"1"
REASONS = {int(signal.SIGXCPU): "CPU time", int(signal.SIGXFSZ): "file size"}


class _Ended(BaseException):
    """The client no longer waits for the command."""


def keep(stream: socket.socket, cell: Cell, group: GroupFiles | None = None) -> None:
    """Receive a request over a stream, run its command, which enters the control group, and send the answer."""
    parent = os.getppid()
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, _stop)
    try:
        request = receive_request(stream)
        if not os.getuid():
            places = (request.root, request.scratch, *request.readable)
            kernel.lose_root(COMMAND_USER, reads_all=not all(kernel.may_enter(place, COMMAND_USER) for place in places))
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            return
        answer = (
            pack_refusal(cell.refusal) if cell.refusal else _ZygoteSupervisor(request, cell, stream, group).to_the_end()
        )
    except (_Ended, EOFError):
        return
    stream.sendall(answer)


def _stop(_number: int, _frame: object) -> NoReturn:
    """Raise _Ended on the first SIGTERM only: a second one would interrupt the cleanup."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Ended


class _ZygoteSupervisor:
    """A running command and its supervision."""

    def __init__(self, request: Request, cell: Cell, stream: socket.socket, group: GroupFiles | None) -> None:
        self._request, self._cell, self._stream, self._group = request, cell, stream, group
        self._started = time.monotonic()
        self._reason: str | None = None
        self._refused: str | None = None
        self._actions: dict[int, Callable[[], object]] = {}
        self._poll = select.poll()
        self._input = memoryview(request.stdin)
        half = request.limits.output_bytes // 2
        self._outputs = (Output(half), Output(half))
        self._look_at = self._started + FIRST_LOOK_SECONDS
        self._glance_at = self._look_at
        self._scratch = scratch_limit(request)
        self._own = (request.scratch, PRIVATE_TEMPORARY)
        self._notifications: NotificationListener | None = None
        self._hidden = frozenset[int]()

    def to_the_end(self) -> bytes:
        """Run the command and return the answer."""
        pid = self._start()
        try:
            self._watch()
            code, number = self._end_of(pid)
        finally:
            if self._group:  # ends even those that fork faster than they can be found
                os.write(self._group.kill, KILL_ALL)
            process_tree.end(pid)
        for output, pipe in zip(self._outputs, self._pipes, strict=True):
            output.drain(pipe)
        if self._refused:
            return pack_refusal(self._refused)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return pack_outcome(
            CommandOutcome(
                code=code,
                signal=number,
                stdout=self._outputs[0].text(),
                stderr=self._outputs[1].text(),
                seconds=round(time.monotonic() - self._started, 4),
                cpu_seconds=round(used.ru_utime + used.ru_stime, 4),
                cut=sum(output.cut for output in self._outputs),
                reason=self._reason or _reason_of(number),
                exits=tuple(sorted(self._notifications.exits)) if self._notifications else (),
            )
        )

    def _start(self) -> int:
        ours, tells = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ins, outs, errors = os.pipe(), os.pipe(), os.pipe()
        pid = os.fork()
        if not pid:
            self._be_command((ins[0], outs[1], errors[1]), tells)
        for end in (ins[0], outs[1], errors[1], tells.detach()):
            os.close(end)
        self._pipes = outs[0], errors[0]
        self._status = ours
        self._pidfd = os.pidfd_open(pid)
        for end in (*self._pipes, ins[1]):
            os.set_blocking(end, False)
        self._on(ours.fileno(), self._hear)
        for output, end in zip(self._outputs, self._pipes, strict=True):
            self._on(end, functools.partial(self._carry, output, end))
        self._on(ins[1], lambda: self._feed(ins[1]), select.POLLOUT)
        self._poll.register(self._stream, select.POLLRDHUP)
        self._poll.register(self._pidfd, select.POLLIN)
        return pid

    def _be_command(self, streams: tuple[int, int, int], status: socket.socket) -> NoReturn:
        keeper = os.getppid()
        try:
            os.setsid()
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == keeper:
                confine.become_command(self._request, streams, status, self._cell, self._group)
        finally:
            os._exit(confine.NOT_EXECUTABLE)

    def _watch(self) -> None:
        """Serve the command until it ends or exceeds a limit."""
        deadline = self._started + self._request.limits.wall_seconds
        while not self._reason:
            now = time.monotonic()
            if now >= deadline:
                self._reason = "wall time"
            elif now >= self._look_at or (now >= self._glance_at and self._scratch.is_filling()):
                self._look()
            else:
                for place, _ in self._poll.poll(1 + int(1000 * min(GLANCE_SECONDS, deadline - now))):
                    if place == self._pidfd:
                        return
                    if place == self._stream.fileno():
                        raise _Ended
                    if place in self._actions:
                        self._actions[place]()

    def _look(self) -> None:
        """Check the limits that the kernel does not enforce: the totals over all processes."""
        began = time.monotonic()
        limits, everyone = self._request.limits, process_tree.descendants()
        usage = usage_of(everyone, self._own)
        # A fork by root also hides its files until it has executed the command.
        hidden = frozenset() if self._status.fileno() in self._actions else usage.hidden
        shared = self._notifications.shared_bytes if self._notifications else 0
        shared += self._scratch.memory_bytes()
        shared += queued_bytes() if self._request.loopback else 0
        shared += lock_bytes(everyone) if self._notifications and self._notifications.lock_calls > MANY_LOCKS else 0
        if len(everyone) > UNCOUNTED * limits.processes:
            self._reason = "processes"
        elif usage.memory + shared > limits.memory_bytes:
            self._reason = "memory"
        elif machine_is_short_of_memory():
            self._reason = FREE_MEMORY
        elif hidden & self._hidden:
            self._reason = "disk"
        else:
            self._reason = self._scratch.exceeded(usage)
        now = time.monotonic()
        took, self._hidden = now - began, hidden
        self._look_at = now + min(LAST_LOOK_SECONDS, max(FIRST_LOOK_SECONDS, LOOKING_SHARE * took))
        self._glance_at = now + took

    def _end_of(self, pid: int) -> tuple[int | None, int | None]:
        """Return exit code and signal; the process stays a zombie, so that its id is not reused too early."""
        if self._reason:
            return None, signal.SIGKILL
        status = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert status is not None
        while self._hear():
            pass
        return (status.si_status, None) if status.si_code == os.CLD_EXITED else (None, status.si_status)

    def _hear(self) -> bool:
        """Read a status message of the starting command; return False at the end of the stream."""
        message, descriptors, _, _ = socket.recv_fds(self._status, READ_BYTES, 1)
        if not message:
            self._off(self._status.fileno())
            return False
        if message[:1] == confine.LISTENS:
            assert self._cell.machine is not None
            self._notifications = NotificationListener(
                descriptors[0], self._request.limits, self._cell.machine, process_tree.descendants, self._scratch.owns
            )
            self._on(descriptors[0], self._notifications.answer)
        elif message[:1] == confine.FAILED:
            self._refused = message[1:].decode()
        else:
            self._outputs[1].add(message[1:] + b"\n")
        return True

    def _carry(self, output: Output, end: int) -> None:
        if not output.take(end):
            self._off(end)

    def _feed(self, end: int) -> None:
        try:
            self._input = self._input[os.write(end, self._input[:READ_BYTES]) :] if self._input else self._input
        except BrokenPipeError:
            self._input = self._input[:0]
        if not self._input:
            self._off(end)
            os.close(end)

    def _on(self, place: int, action: Callable[[], object], events: int = select.POLLIN) -> None:
        self._actions[place] = action
        self._poll.register(place, events)

    def _off(self, place: int) -> None:
        if self._actions.pop(place, None):
            self._poll.unregister(place)


def _reason_of(number: int | None) -> str | None:
    """Return the kernel limit that a signal indicates."""
    return REASONS.get(number) if number else None
