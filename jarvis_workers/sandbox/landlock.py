"""Restrict a process to a list of paths with Landlock, through its three system calls.

Older kernels support fewer access rights; the seccomp filter refuses the calls that these would control.
"""

import os
import stat
import struct
from collections.abc import Iterable

from jarvis_workers.sandbox import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1
PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
REFER, TRUNCATE = 1 << 13, 1 << 14
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
# The number of access rights in each ABI version of Landlock.
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
SCOPE_SIGNALS = 2
SCOPES_SINCE = 6

READ = EXECUTE | READ_FILE | READ_DIR
DEVICE = READ_FILE | WRITE_FILE


def version() -> int:
    """Return the kernel's Landlock ABI version, 0 if it is not supported."""
    try:
        return kernel.call(CREATE_RULESET, None, 0, VERSION)
    except OSError:
        return 0


def restrict(rules: Iterable[tuple[str, int]], handled: int) -> None:
    """Restrict this process to paths, given as (path, access rights); raises OSError.

    Missing paths are skipped. `handled` is the Landlock ABI version to use.
    """
    every = (1 << RIGHTS[min(handled, max(RIGHTS))]) - 1
    attributes = struct.pack("QQQ", every, 0, SCOPE_SIGNALS) if handled >= SCOPES_SINCE else struct.pack("Q", every)
    ruleset = kernel.call(CREATE_RULESET, attributes, len(attributes), 0)
    for path, rights in rules:
        _allow(ruleset, path, rights & every)
    kernel.call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def write_rights() -> int:
    """Return all access rights except creating devices and sockets."""
    return ((1 << 15) - 1) & ~(MAKE_CHAR | MAKE_SOCK | MAKE_BLOCK)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= OF_FILES
    kernel.call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    os.close(place)
