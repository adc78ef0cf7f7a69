"""Which parts of a `for` are left out: libclang shows only those that are there, so its semicolons tell.

The header is read where `for` is written: in the file, in the argument of a macro, or in the text of a macro.
"""

import re

from jarvis_workers.source.clang.libclang import Cursor
from jarvis_workers.source.clang.macro_text import ExpansionText
from jarvis_workers.source.clang.macros import OPAQUE

# Initialisation, condition and increment: whether each is there.
ForParts = tuple[bool, bool, bool]

FOR = re.compile(rb"\bfor\s*\(")
# Bytes of a header that are looked at.
MAX_HEADER = 10_000
DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def for_parts(source: ExpansionText, cursor: Cursor, count: int) -> ForParts | None:
    """Return which of the three parts a `for` has, of which `count` are there; None if that cannot be told."""
    if count in (0, 3):
        return (count == 3,) * 3
    written = source.from_written(cursor, MAX_HEADER)
    texts = [written] if FOR.match(written) else []
    if not texts:
        texts = [words[match.start() :] for words in source.of_macros(cursor) for match in FOR.finditer(words)]
    fitting = {parts for parts in map(parts_of_header, texts) if parts is not None and sum(parts) == count}
    return fitting.pop() if len(fitting) == 1 else None


def parts_of_header(words: bytes) -> ForParts | None:
    """Return the parts of the header of the `for` that a text begins with; None if it has no two semicolons."""
    opened = FOR.match(words)
    if opened is None:
        return None
    depth, parts = 1, [False]
    header = words[opened.end() : opened.end() + MAX_HEADER].replace(b"\\\n", b" ")
    for byte in OPAQUE.sub(lambda match: b" " if match.group().startswith(b"/") else b"x", header):
        character = chr(byte)
        depth += DEPTHS.get(character, 0)
        if depth == 0:
            return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
        if character == ";" and depth == 1:
            parts.append(False)
        elif not character.isspace():
            parts[-1] = True
    return None
