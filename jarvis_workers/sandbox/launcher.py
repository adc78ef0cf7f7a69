"""Start cells, and ask them to run commands.

A worker makes one Starter early and keeps it: the process behind it is started apart, with nothing of the worker's
environment, descriptors or memory, and forks fast because it is small.
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

PACKAGES = Path(__file__).resolve().parents[2]
BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from jarvis_workers.sandbox.zygote import main; main()"
ERROR_BYTES = 500
NOTHING: Mapping[str, str] = MappingProxyType({})


class ZygoteSocket(NamedTuple):
    """A socket that a cell listens to, and where it writes why it died."""

    control: socket.socket
    errors: int

    def ask(self, what: Mapping[str, Any], held: Collection[int] = ()) -> None:
        """Ask for something, and hand over descriptors; raises SandboxError when the cell is dead."""
        try:
            socket.send_fds(self.control, [json.dumps(what).encode()], list(held))
        except OSError as error:
            raise self.broken() from error

    def run(self) -> socket.socket:
        """Return the stream that takes an order and gives the answer; closing it ends the command."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self.ask({"run": True}, [theirs.fileno()])
            except SandboxError:
                ours.close()
                raise
        return ours

    def broken(self) -> SandboxError:
        """Return how it died, in its own words."""
        said = b""
        with contextlib.suppress(OSError):
            said = os.pread(self.errors, ERROR_BYTES, max(0, os.fstat(self.errors).st_size - ERROR_BYTES))
        last = said.decode(errors="replace").strip().rpartition("\n")[2]
        return SandboxError(last or "the process that starts commands has died")

    def close(self) -> None:
        self.control.close()
        os.close(self.errors)


class Starter:
    """The process that starts commands.

    `without` and `known` are for the probe alone: layers to leave out, and the newest version of landlock to use.
    `environ` is what its process is to see of an environment: nothing.
    """

    def __init__(
        self, *, without: Collection[str] = (), known: int | None = None, environ: Mapping[str, str] = NOTHING
    ) -> None:
        self.kind = {"without": sorted(without), "landlock": known}
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
        """Return how a cell is started that listens on a descriptor."""
        kind = json.dumps(self.kind)
        return [os.path.realpath(sys.executable), "-I", "-S", "-c", BOOT, str(PACKAGES), str(control), kind]

    def outer_command(self, control: int) -> list[str]:
        """Return how the first cell is started, the one outside bubblewrap."""
        return self.command(control)

    @property
    def pid(self) -> int:
        return self._process.pid

    def start_inside(self, bubblewrap: list[str]) -> ZygoteSocket:
        """Start a further cell inside bubblewrap."""
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
        """End all that it has started, and wait until nothing is left."""
        self.line.close()
        self._process.wait()


def _make_line() -> tuple[ZygoteSocket, socket.socket, int]:
    """Return our end, the cell's end, and where the cell writes errors: a file without a name."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryFile() as file:
        return ZygoteSocket(ours, os.dup(file.fileno())), theirs, os.dup(file.fileno())


@contextlib.contextmanager
def borrowed(starter: Starter | None) -> Iterator[Starter]:
    """Give a starter that there is, or one of its own."""
    if starter is not None:
        yield starter
        return
    with Starter() as own:
        yield own
