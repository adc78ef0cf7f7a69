"""Copy a labelled tree with every name that its support headers define replaced by a hash.

python -m tests.bench.juliet_names TREE SUPPORT COPY

TREE is a set for eval_juliet.py, SUPPORT the directory of the suite's own headers (`std_testcase.h` and those that it
includes).  A rule that knows a name of these headers scores better on TREE than on COPY, which has the same labels.
"""

import re
import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

SOURCES = (".c", ".cpp", ".h")
DIGITS = 8
NAME = re.compile(rb"[A-Za-z_]\w*")
COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
DEFINED = re.compile(
    rb"^[ \t]*\#[ \t]*define[ \t]+(?P<macro>\w+) | \b(?:class|struct|union|enum)\s+(?P<tag>\w+)\s*\{"
    rb"| (?:\w[ \t]|\*)[ \t]*(?P<function>\w+)\s*\([^()]*\)\s*;"
    rb"| \w[\w \t]*[ \t*](?P<variable>\w+)\s*; | \}\s*(?P<type>\w+)\s*;",
    re.MULTILINE | re.VERBOSE,
)
# Names of the language and of system headers, which the support headers only configure.
OF_THE_SYSTEM = re.compile(rb"_CRT_\w+|__\w+|true|false|_WIN32")


def defined_names(headers: Iterable[bytes]) -> frozenset[bytes]:
    """Return the macros, types, functions, variables and members that headers define."""
    names = {match[match.lastgroup or 0] for text in headers for match in DEFINED.finditer(COMMENT.sub(b" ", text))}
    return frozenset(name for name in names if not OF_THE_SYSTEM.fullmatch(name))


def without_names(text: bytes, names: frozenset[bytes]) -> bytes:
    """Replace each of the names by `n` and the start of its hash; the lines stay the same."""

    def hashed(match: re.Match[bytes]) -> bytes:
        name = match[0]
        return b"n" + sha256(name).hexdigest()[:DIGITS].encode() if name in names else name

    return NAME.sub(hashed, text)


def main(tree: Path, support: Path, copy: Path) -> None:
    names = defined_names(file.read_bytes() for file in sorted(support.glob("*.h")))
    for file in sorted(tree.rglob("*")):
        if file.is_file():
            target = copy / file.relative_to(tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_bytes()
            target.write_bytes(without_names(text, names) if file.suffix in SOURCES else text)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
