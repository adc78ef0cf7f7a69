"""Determine which parts of a `for` are omitted: libclang shows only the parts present, so its semicolons are read.

The header is read at the location of the keyword `for`: in the file, in a macro argument, or in the text of a macro.
"""

import re

from jarvis_workers.source.clang.libclang import Cursor
from jarvis_workers.source.clang.macro_text import ExpansionText
from jarvis_workers.source.clang.macros import OPAQUE

# Whether initialisation, condition and increment are present.
ForParts = tuple[bool, bool, bool]

FOR = re.compile(rb"\bfor\s*\(")
# Maximum number of bytes of a header that are read.
MAX_HEADER = 10_000
DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def for_parts(source: ExpansionText, cursor: Cursor, count: int) -> ForParts | None:
    """Return which of the three parts of a `for` are present, given their number `count`; None if that is unclear."""
    if count in (0, 3):
        return (count == 3,) * 3
    written = source.from_written(cursor, MAX_HEADER)
    texts = [written] if FOR.match(written) else []
    if not texts:
        texts = [words[match.start() :] for words in source.of_macros(cursor) for match in FOR.finditer(words)]
    fitting = {parts for parts in map(parts_of_header, texts) if parts is not None and sum(parts) == count}
    return fitting.pop() if len(fitting) == 1 else None


def parts_of_header(words: bytes) -> ForParts | None:
    """Return the parts present in the `for` header at the start of a text; None unless it has two semicolons."""
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
