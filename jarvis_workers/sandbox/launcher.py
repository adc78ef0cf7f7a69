"""Start zygotes and request commands from them.

A worker creates one Starter early and keeps it: the zygote is a separate process without the environment, descriptors
or memory of the worker, and forks fast because it is small.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self

from jarvis_workers.errors import SandboxError
from jarvis_workers.sandbox.confine import DESCRIPTORS
from jarvis_workers.sandbox.protocol import GroupFiles

PACKAGES = Path(__file__).resolve().parents[2]
BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from jarvis_workers.sandbox.zygote import main; main()"
ERROR_BYTES = 500
NOTHING: Mapping[str, str] = MappingProxyType({})


class ZygoteSocket(NamedTuple):
    """The control socket of a zygote, and the file that receives the zygote's error messages."""

    control: socket.socket
    errors: int

    def ask(self, what: Mapping[str, Any], descriptors: Collection[int] = ()) -> None:
        """Send a request with descriptors. Raises SandboxError if the zygote has died."""
        try:
            socket.send_fds(self.control, [json.dumps(what).encode()], list(descriptors))
        except OSError as error:
            raise self.broken() from error

    def run(self, group: GroupFiles | None = None) -> socket.socket:
        """Return the stream for one request and its answer; closing the stream kills the command.

        The command enters the control group, if there is one.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self.ask({"run": True}, [theirs.fileno(), *(group or ())])
            except SandboxError:
                ours.close()
                raise
        return ours

    def broken(self) -> SandboxError:
        """Return the error for a dead zygote, with the last line of its error messages."""
        errors = b""
        with contextlib.suppress(OSError):
            errors = os.pread(self.errors, ERROR_BYTES, max(0, os.fstat(self.errors).st_size - ERROR_BYTES))
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        return SandboxError(last or "the process that starts commands has died")

    def close(self) -> None:
        self.control.close()
        os.close(self.errors)


class Starter:
    """The zygote process that starts commands.

    `without` (layers of protection to omit) and `known` (the newest Landlock version to use) are for the probe only.
    `environ` is the environment of the zygote: empty, except in the probe.
    """

    def __init__(
        self, *, without: Collection[str] = (), rights: int | None = None, environ: Mapping[str, str] = NOTHING
    ) -> None:
        self.kind = {"without": sorted(without), "landlock": rights}
        self.line, theirs, errors = _make_line()
        closing = DESCRIPTORS not in without
        theirs.set_inheritable(True)
        try:
            with theirs:
                self._process = subprocess.Popen(
                    self.outer_command(theirs.fileno()),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=dict(environ),
                    cwd="/",
                    close_fds=closing,
                    pass_fds=(theirs.fileno(),) if closing else (),
                    start_new_session=True,
                )
        except OSError as error:
            self.line.close()
            raise SandboxError(f"{sys.executable}: cannot be started: {error.strerror}") from error
        finally:
            os.close(errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def command(self, control: int) -> list[str]:
        """Return the command line of a zygote that reads requests from a descriptor."""
        kind = json.dumps(self.kind)
        return [os.path.realpath(sys.executable), "-I", "-S", "-c", BOOT, str(PACKAGES), str(control), kind]

    def outer_command(self, control: int) -> list[str]:
        """Return the command line of the first zygote, which runs outside bubblewrap."""
        return self.command(control)

    @property
    def pid(self) -> int:
        return self._process.pid

    def start_inside(self, bubblewrap: list[str]) -> ZygoteSocket:
        """Start another zygote inside bubblewrap."""
        line, theirs, errors = _make_line()
        try:
            self.line.ask({"bubblewrap": bubblewrap + self.command(3)}, [theirs.fileno(), errors])
        except SandboxError:
            line.close()
            raise
        finally:
            theirs.close()
            os.close(errors)
        return line

    def close(self) -> None:
        """Kill everything that the zygote has started, and wait for it to exit."""
        self.line.close()
        self._process.wait()


def _make_line() -> tuple[ZygoteSocket, socket.socket, int]:
    """Return our end of the socket, the zygote's end, and the descriptor of an unnamed file for the zygote's errors."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryFile() as file:
        return ZygoteSocket(ours, os.dup(file.fileno())), theirs, os.dup(file.fileno())


@contextlib.contextmanager
def borrowed(starter: Starter | None) -> Iterator[Starter]:
    """Yield the given starter, or a temporary one."""
    if starter is not None:
        yield starter
        return
    with Starter() as own:
        yield own
