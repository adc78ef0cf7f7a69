"""Code that a change moves out of some files into others, whole or in part, by its lines.

Compared is what rules see as code: lines without white space, comments and the content of strings. The cost grows with
the size of the changed files only, and they may be many, so git's limit on the detection of renames does not apply.
"""

from collections.abc import Iterable
from typing import NamedTuple

from jarvis_workers.source.lex import mask

# Code that is shorter moves unseen, unless it is half of its file.
FEW = 5
PASSAGE_LINES = 3
# Braces and the like are in all files.
SHORTEST_LINE = 4
NO_CODE = b"#include"


class CodeLines(NamedTuple):
    """The lines of code, and each passage of PASSAGE_LINES of them, by their hashes."""

    lines: frozenset[int] = frozenset()
    passages: frozenset[int] = frozenset()

    def __sub__(self, other: "CodeLines") -> "CodeLines":
        return CodeLines(self.lines - other.lines, self.passages - other.passages)

    def __and__(self, other: "CodeLines") -> "CodeLines":
        return CodeLines(self.lines & other.lines, self.passages & other.passages)


def is_moved(before: CodeLines, after: CodeLines, elsewhere: CodeLines) -> bool:
    """Return whether code of a file is no longer in `after` but `elsewhere`: most of what is lost, or passages."""
    lost = before - after
    moved = lost & elsewhere
    few = max(1, min(FEW, (len(before.lines) + 1) // 2))
    is_most = len(moved.lines) >= few and 2 * len(moved.lines) >= len(lost.lines)
    return is_most or len(moved.passages) >= FEW


def code_of(path: bytes, content: bytes) -> CodeLines:
    """Return the code of a file."""
    masked = mask(content, "rust" if path.endswith(b".rs") else "c/cpp")
    # Text that the rules do not read to its end may be compiled, or read elsewhere.
    text = masked.text + (b"" if masked.end == len(masked.text) else b"\n" + content)
    short = (b"".join(line.split()) for line in text.splitlines())
    lines = [hash(line) for line in short if len(line) >= SHORTEST_LINE and not line.startswith(NO_CODE)]
    passages = zip(*(lines[start:] for start in range(PASSAGE_LINES)), strict=False)
    return CodeLines(frozenset(lines), frozenset(map(hash, passages)))


def code_of_all(codes: Iterable[CodeLines]) -> CodeLines:
    """Return the code of several files together."""
    every = list(codes)
    return CodeLines(
        frozenset().union(*(one.lines for one in every)), frozenset().union(*(one.passages for one in every))
    )
