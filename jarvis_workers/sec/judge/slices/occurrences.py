"""What a name is where it stands: the definition of a type, macro or global variable, a call, or an address taken."""

import re
from collections.abc import Iterator

from jarvis_workers.sec.judge.slices.places import SourceFile
from jarvis_workers.source.calls import opening

MENTIONS_LOOKED_AT = 64
MACRO_LINES = 500
BODY_MAX = 8_192
MACRO = re.compile(rb"[ \t]*#[ \t]*define[ \t]+\Z")
MACRO_LINE = re.compile(rb"[ \t]*#[ \t]*define\b")
KIND = re.compile(rb"\b(?:struct|union|enum|class|trait)\s+\Z")
CONSTANT = re.compile(rb"\b(?:const|static)\s+(?:mut\s+)?\Z")
# What stands before the body of a type, and before the name of a global variable on its line.
TYPE_HEAD = re.compile(rb"\b(?:struct|union|enum|class)\b[^;{}()=]{0,200}\Z")
GLOBAL_HEAD = re.compile(rb"(?!typedef|return|using|goto)[A-Za-z_][\w \t*]*[ \t*]")
GLOBAL_TAIL = re.compile(rb"[ \t]*+(?:\[[^]\n]*\][ \t]*+){0,4}(?:;|=[^=])")
BODY = re.compile(rb"[^;(){}=]{0,100}\{")
WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# A name that may be that of a function whose address is taken: an argument, an initializer or an assigned value.
GIVEN = re.compile(rb"[=,({&?:][ \t\n]*+&?([A-Za-z_]\w*+)[ \t\n]*+(?=[,;)}:])")


def mentions_of(text: bytes, name: bytes, most: int = MENTIONS_LOOKED_AT) -> Iterator[int]:
    """Yield at most `most` offsets of a name."""
    at = text.find(name)
    while at >= 0 and most > 0:
        end = at + len(name)
        if (at == 0 or text[at - 1] not in WORD) and (end == len(text) or text[end] not in WORD):
            most -= 1
            yield at
        at = text.find(name, end)


def use_at(file: SourceFile, start: int, end: int) -> str | None:
    """Return whether a function is called where its name stands, or its address is taken; None if neither."""
    text = file.masked
    if opening(text, end) is None:
        is_given = GIVEN.match(text, _before(text, start)) is not None
        return "address" if is_given or _in_macro(text, start) else None
    place = file.at(file.line_of(start))
    inside = place.function and place.function.body[0] <= start <= place.function.body[1]
    return "call" if inside or _in_macro(text, start) else None


def _before(text: bytes, at: int) -> int:
    """Return the offset of the character before a name, without blanks and `&`."""
    before = text[max(0, at - 200) : at].rstrip(b" \t\n")
    before = before[:-1].rstrip(b" \t\n") if before.endswith(b"&") and not before.endswith(b"&&") else before
    return max(0, at - 200) + len(before) - 1 if before else at


def _in_macro(text: bytes, at: int) -> bool:
    """Return whether an offset is in the replacement text of a macro."""
    line = text.rfind(b"\n", 0, at) + 1
    for _ in range(MACRO_LINES):
        if line < 2 or not text[max(0, line - 3) : line - 1].endswith((b"\\", b"\\\r")):
            break
        line = text.rfind(b"\n", 0, line - 1) + 1
    return MACRO_LINE.match(text, line, at) is not None and not MACRO.match(text, line, at)


def defined_at(file: SourceFile, start: int, end: int) -> tuple[int, int] | None:
    """Return the first and last byte of the definition of the name at `start`, or None if it is not defined there."""
    text = file.masked
    line = text.rfind(b"\n", 0, start) + 1
    if MACRO.match(text, line, start):
        return line, _end_of_macro(text, end)
    before, behind = text[max(0, start - 60) : start], text[end : end + 60].lstrip()
    if KIND.search(before) and (opened := BODY.match(text, end)):
        return line, _closing(text, opened.end())
    if before.rstrip().endswith(b"}") and behind.startswith((b";", b"[", b",")):
        return _type_before(text, start, end)
    return _declared_at(file, line, start, end)


def _type_before(text: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Return the type whose closing brace stands before a name: `typedef struct { … } name;`."""
    opened_at = _opening(text, text.rfind(b"}", 0, start))
    head = TYPE_HEAD.search(text, max(0, opened_at - 300), opened_at)
    return (text.rfind(b"\n", 0, head.start()) + 1, end) if head else None


def _declared_at(file: SourceFile, line: int, start: int, end: int) -> tuple[int, int] | None:
    """Return the typedef, the global variable or the constant of Rust whose name this is."""
    text = file.masked
    behind = text[end : end + 60].lstrip()
    statement = max(text.rfind(mark, max(0, start - 300), start) for mark in (b";", b"{", b"}", b"\n#")) + 1
    if text[statement:start].lstrip().startswith(b"typedef") and behind.startswith((b";", b"[")):
        return start - len(text[statement:start].lstrip()), end
    if CONSTANT.search(text, line, start) and behind.startswith(b":"):
        return line, max(end, text.find(b";", end, end + BODY_MAX))
    if not GLOBAL_HEAD.fullmatch(text, line, start) or not GLOBAL_TAIL.match(text, end):
        return None
    return None if file.at(file.line_of(start)).function else (line, end)


def _end_of_macro(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    while end > 0 and text[at:end].rstrip(b"\r").endswith(b"\\") and end - at < BODY_MAX:
        end = text.find(b"\n", end + 1)
    return end - 1 if end > 0 else len(text) - 1


def _closing(text: bytes, at: int) -> int:
    """Return the end of the block opened before `at`, within BODY_MAX."""
    depth = 1
    for place in range(at, min(len(text), at + BODY_MAX)):
        depth += {123: 1, 125: -1}.get(text[place], 0)
        if depth == 0:
            return place
    return min(len(text), at + BODY_MAX) - 1


def _opening(text: bytes, at: int) -> int:
    """Return the start of the block that ends at `at`, within BODY_MAX."""
    depth = 0
    for place in range(at, max(-1, at - BODY_MAX), -1):
        depth += {125: 1, 123: -1}.get(text[place], 0)
        if depth == 0:
            return place
    return max(0, at - BODY_MAX)
