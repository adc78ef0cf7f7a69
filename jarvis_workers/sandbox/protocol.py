"""Wire format of requests and answers between a worker and a zygote: one line of JSON, then raw bytes.

A zygote is stateless: each request states the paths that the command may read and write, and its limits.
"""

import json
import socket
from typing import Any, NamedTuple

from jarvis_workers.sandbox.limits import CommandOutcome, SandboxLimits

LINE_BYTES = 1 << 20
CHUNK_BYTES = 1 << 16


class Request(NamedTuple):
    """A command to run, its root directory, its scratch directory, and further readable paths.

    With `loopback`, it may use TCP and UDP, in a namespace that has no other interface. `in_memory`: the scratch
    directory is on a file system with a size, mounted at /tmp, where the command may write anywhere.
    """

    argv: tuple[str, ...]
    root: str
    scratch: str
    readable: tuple[str, ...]
    path: str
    limits: SandboxLimits
    stdin: bytes = b""
    loopback: bool = False
    in_memory: bool = False


class GroupFiles(NamedTuple):
    """Descriptors of the control group of a command: `cgroup.procs`, by which it enters, and `cgroup.kill`."""

    procs: int
    kill: int


class SandboxRefusal(Exception):
    """The zygote refused to run the command; the message gives the reason."""


def pack_request(request: Request) -> bytes:
    fields = request._asdict() | {"stdin": len(request.stdin)}
    return json.dumps(fields).encode() + b"\n" + request.stdin


def receive_request(stream: socket.socket) -> Request:
    """Read a request. Raises EOFError if the client has disconnected."""
    with stream.makefile("rb") as lines:
        fields = json.loads(lines.readline(LINE_BYTES) or b"null")
        if fields is None:
            raise EOFError
        stdin = lines.read(fields["stdin"])
    return Request(
        tuple(fields["argv"]),
        fields["root"],
        fields["scratch"],
        tuple(fields["readable"]),
        fields["path"],
        SandboxLimits(*fields["limits"]),
        stdin,
        fields["loopback"],
        fields["in_memory"],
    )


def pack_outcome(outcome: CommandOutcome) -> bytes:
    fields: dict[str, Any] = outcome._asdict()
    fields |= {"stdout": len(outcome.stdout), "stderr": len(outcome.stderr)}
    return json.dumps(fields).encode() + b"\n" + outcome.stdout + outcome.stderr


def pack_refusal(why: str) -> bytes:
    return json.dumps({"refused": why}).encode() + b"\n"


def read_answer(answer: bytes) -> CommandOutcome:
    """Parse an answer. Raises SandboxRefusal if the command was not run, EOFError if the answer is incomplete."""
    line, _, rest = answer.partition(b"\n")
    if not line:
        raise EOFError
    fields = json.loads(line)
    if "refused" in fields:
        raise SandboxRefusal(fields["refused"])
    stdout, stderr = fields["stdout"], fields["stderr"]
    if len(rest) != stdout + stderr:
        raise EOFError
    fields |= {"stdout": rest[:stdout], "stderr": rest[stdout:], "exits": tuple(fields["exits"])}
    return CommandOutcome(**fields)
