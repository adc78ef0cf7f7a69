"""Wire format of orders and answers between a worker and a cell: one line of JSON, then raw bytes.

A cell is stateless: each order states the paths that the command may read and write, and its limits.
"""

import json
import socket
from typing import Any, NamedTuple

from jarvis_workers.sandbox.limits import CommandOutcome, SandboxLimits

LINE_BYTES = 1 << 20
CHUNK_BYTES = 1 << 16


class Order(NamedTuple):
    """A command to run, its root directory, its scratch directory, and further readable paths."""

    argv: tuple[str, ...]
    root: str
    scratch: str
    readable: tuple[str, ...]
    path: str
    limits: SandboxLimits
    stdin: bytes = b""


class SandboxRefusal(Exception):
    """The cell refused to run the command; the message gives the reason."""


def pack_order(order: Order) -> bytes:
    said = order._asdict() | {"stdin": len(order.stdin)}
    return json.dumps(said).encode() + b"\n" + order.stdin


def receive_order(stream: socket.socket) -> Order:
    """Read an order. Raises EOFError if the client has disconnected."""
    with stream.makefile("rb") as lines:
        said = json.loads(lines.readline(LINE_BYTES) or b"null")
        if said is None:
            raise EOFError
        stdin = lines.read(said["stdin"])
    return Order(
        tuple(said["argv"]),
        said["root"],
        said["scratch"],
        tuple(said["readable"]),
        said["path"],
        SandboxLimits(*said["limits"]),
        stdin,
    )


def pack_outcome(outcome: CommandOutcome) -> bytes:
    said: dict[str, Any] = outcome._asdict()
    said |= {"stdout": len(outcome.stdout), "stderr": len(outcome.stderr)}
    return json.dumps(said).encode() + b"\n" + outcome.stdout + outcome.stderr


def pack_refusal(why: str) -> bytes:
    return json.dumps({"refused": why}).encode() + b"\n"


def read_answer(answer: bytes) -> CommandOutcome:
    """Parse an answer. Raises SandboxRefusal if the command was not run, EOFError if the answer is incomplete."""
    line, _, rest = answer.partition(b"\n")
    if not line:
        raise EOFError
    said = json.loads(line)
    if "refused" in said:
        raise SandboxRefusal(said["refused"])
    stdout, stderr = said["stdout"], said["stderr"]
    if len(rest) != stdout + stderr:
        raise EOFError
    return CommandOutcome(**(said | {"stdout": rest[:stdout], "stderr": rest[stdout:]}))
