"""The targets of the attacks, and code that the attacks share.

Each attack has its own files, named after it: one in `outside`, which the sandbox must not reach at all, and one in
`tree`, which is read-only.
"""

import ctypes
import os
import platform
from collections.abc import Callable
from typing import Any, NamedTuple

from jarvis_workers.sandbox.syscalls import machine_of

NOT_CHANGED = "as it was\n"
# The target process has the secret plus this suffix among its arguments; the attack's own arguments lack the suffix.
SECRET_ARGUMENT = "-argument"
Attack = Callable[["Target"], bool]

_library = ctypes.CDLL(None, use_errno=True)
_library.syscall.restype = ctypes.c_long


class Target(NamedTuple):
    """Disposable files, a process and servers of the same user."""

    outside: str
    tree: str
    scratch: str
    secret: str
    process: int
    parent: int
    secret_descriptor: int
    tcp: int
    udp: int
    stream: str
    datagrams: str
    abstract: str

    def out(self, attack: Any) -> str:
        """Return the attack's file outside the tree."""
        return f"{self.outside}/{_name(attack)}"

    def inside(self, attack: Any) -> str:
        """Return the attack's file in the tree."""
        return f"{self.tree}/{_name(attack)}"

    def own(self, attack: Any) -> str:
        """Return the attack's path in the scratch directory."""
        return f"{self.scratch}/{_name(attack)}"


def _name(attack: Any) -> str:
    return str(attack if isinstance(attack, str) else attack.__name__)


def call(name: str | int, *arguments: Any) -> int:
    """Make a system call by name or number; raises OSError."""
    machine = machine_of(platform.machine())
    assert machine is not None
    number = machine.numbers[name] if isinstance(name, str) else name
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    answer = int(_library.syscall(ctypes.c_long(number), *passed))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def write(path: str, text: str = "changed\n", mode: str = "w") -> bool:
    with open(path, mode) as file:
        file.write(text)
    return True


def read(path: str) -> str:
    with open(path, errors="replace") as file:
        return file.read()
