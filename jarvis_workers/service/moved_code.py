"""Code that a change moves out of some files into others, whole or in part, by its statements.

Compared is what rules see as code: statements without white space, comments and the content of strings. The cost grows
with the size of the changed files only, and they may be many: git's limit on the detection of renames does not apply.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from jarvis_workers.sec.scanner import language_of
from jarvis_workers.source.lex import mask

# Code that is shorter moves unseen, unless it is half of its file.
FEW = 5
PASSAGE_STATEMENTS = 3
# Shorter ones are in all files, and so are names of headers.
SHORTEST_STATEMENT = 4
NO_CODE = b"#include"
# Directives end with their lines.
END = re.compile(rb"[;{}]|^[ \t]*+(#.*)$", re.MULTILINE)


class Statements(NamedTuple):
    """The statements of code, and each passage of PASSAGE_STATEMENTS of them, by their hashes."""

    single: frozenset[int] = frozenset()
    passages: frozenset[int] = frozenset()

    def __sub__(self, other: "Statements") -> "Statements":
        return Statements(self.single - other.single, self.passages - other.passages)

    def __and__(self, other: "Statements") -> "Statements":
        return Statements(self.single & other.single, self.passages & other.passages)


def is_moved(before: Statements, after: Statements, elsewhere: Statements) -> bool:
    """Return whether code of a file is no longer in `after` but `elsewhere`: most of what is lost, or passages."""
    lost = before - after
    moved = lost & elsewhere
    few = max(1, min(FEW, (len(before.single) + 1) // 2))
    is_most = len(moved.single) >= few and 2 * len(moved.single) >= len(lost.single)
    return is_most or len(moved.passages) >= FEW


def code_of(path: bytes, content: bytes) -> Statements:
    """Return the code of a file."""
    masked = mask(content, language_of(path) or "c/cpp")
    # Text that the rules do not read to its end may be compiled, or read elsewhere.
    text = masked.text + (b"" if masked.end == len(masked.text) else b"\n" + content)
    short = (b"".join(one.split()) for one in END.split(text) if one)
    hashes = [hash(one) for one in short if len(one) >= SHORTEST_STATEMENT and not one.startswith(NO_CODE)]
    passages = zip(*(hashes[start:] for start in range(PASSAGE_STATEMENTS)), strict=False)
    return Statements(frozenset(hashes), frozenset(map(hash, passages)))


def code_of_all(codes: Iterable[Statements]) -> Statements:
    """Return the code of several files together."""
    every = list(codes)
    return Statements(
        frozenset().union(*(one.single for one in every)), frozenset().union(*(one.passages for one in every))
    )
