"""Declarations printed by clang without bodies and initialisers, to find attributes that have no cursor kind."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_void_p

from jarvis_workers.source.clang.libclang import Cursor, library, text

# CXPrintingPolicyProperty.
SUPPRESS_INITIALIZERS, ANONYMOUS_TAG_LOCATIONS, TERSE_OUTPUT = 6, 8, 17
ATTRIBUTE = "__attribute__(("


class PrettyPrinter:
    def __init__(self, policy: c_void_p) -> None:
        self._policy = policy

    def print(self, cursor: Cursor) -> str:
        return text(library().clang_getCursorPrettyPrinted(cursor, self._policy))


@contextmanager
def pretty_printer(unit: Cursor) -> Iterator[PrettyPrinter]:
    """Yield a printer for the declarations of a unit."""
    lib = library()
    policy = c_void_p(lib.clang_getCursorPrintingPolicy(unit))
    for name, value in ((SUPPRESS_INITIALIZERS, 1), (ANONYMOUS_TAG_LOCATIONS, 0), (TERSE_OUTPUT, 1)):
        lib.clang_PrintingPolicy_setProperty(policy, name, value)
    try:
        yield PrettyPrinter(policy)
    finally:
        lib.clang_PrintingPolicy_dispose(policy)


def attributes(printed: str) -> dict[str, str]:
    """Return the attributes of a printed declaration, with their arguments as text."""
    pieces = [_balanced(printed, match.end()) for match in re.finditer(re.escape(ATTRIBUTE), printed)]
    pieces += re.findall(r"\[\[(?:gnu|clang)::(.*?)\]\]", printed)
    return {name: arguments for piece in pieces for name, arguments in re.findall(r"^(\w+)(?:\((.*)\))?", piece)}


def without_attributes(printed: str) -> str:
    """Return a printed declaration without its attributes."""
    while (start := printed.find(ATTRIBUTE)) >= 0:
        inside = _balanced(printed, start + len(ATTRIBUTE))
        printed = printed[:start] + printed[start + len(ATTRIBUTE) + len(inside) + len("))") :]
    return printed


def _balanced(words: str, begin: int) -> str:
    """Return the text from the parenthesis at `begin` to the one that closes it."""
    depth = 0
    for index in range(begin, len(words)):
        depth += {"(": 1, ")": -1}.get(words[index], 0)
        if depth < 0:
            return words[begin:index]
    return words[begin:]
