"""Calls that are spelled in another way: `(strcpy)(a, b)`, `__builtin_strcpy(a, b)`, a name that is pasted or spliced.

A compiler sees the same call. What is rewritten has the same length and the same lines, so that places stay. Calls by
another name (`asm` labels, pointers to functions) are aliases; what no text shows as a call is told as not checked.
"""

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from jarvis_workers.source.c_tokens import BLANK, SPLICE
from jarvis_workers.source.lazy_regex import lazy

# Functions whose call is a finding by itself; of others, a pointer may be set to something else later.
DANGEROUS = frozenset(b"strcpy strcat stpcpy wcscpy wcscat gets sprintf vsprintf system popen".split())
REACH, ARGUMENTS_MAX, DEFINES_MAX = 256, 4, 200
# What may stand between a name in brackets and the arguments of its call.
CLOSED = lazy(rb"([A-Za-z_]\w{1,40})(\s{0,40}+(?:[;)}]\s{0,40}+){0,8}?\))\s{0,40}+\(")
CALLED = re.compile(rb"\)\s{0,40}+\(")
# A splice, also with the trigraph of a backslash.
JOINT = SPLICE + rb"|\?\?/[ \t\f\v]*+\r?\n"
SPLICED = lazy(rb"(?<![\w\\])[A-Za-z_]\w{0,40}(?:(?:" + JOINT + rb")\w{1,40}){1,8}(?!\w)")
JOINTS = lazy(JOINT)
UNIVERSAL = lazy(rb"[\w\\]{0,80}\\(?:u00|U000000)[0-9a-fA-F]{2}[\w\\]{0,80}")
CHARACTER = lazy(rb"\\(?:u00|U000000)([0-9a-fA-F]{2})")
BUILTIN = lazy(rb"(?<!\w)__builtin_(\w{2,40}?)(?=\s{0,40}+\()")
CHECKED = lazy(rb"(?<!\w)(?:__builtin_)?__(\w{2,20})_chk(?=\s{0,40}+\()")
PASTE = lazy(
    rb"#[ \t]*define[ \t]+(\w{1,60})\(([\w, \t]{1,120})\)[ \t]+(\w+(?:[ \t]*##[ \t]*\w+){1,3})[ \t]*\r?$", re.MULTILINE
)
LABEL = lazy(
    rb"\b(\w{1,60})\s{0,40}+\([^;{}()]{0,200}\)\s{0,40}+"
    rb"(?:__asm__|__asm|asm)\s{0,40}+\(\s{0,40}+\"(\w{1,40})\"\s{0,40}+\)"
    rb"|\b(\w{1,60})\s{0,40}+\([^;{}()]{0,200}\)\s{0,40}+__attribute__\s{0,40}+\(\(\s{0,40}+_{0,2}(?:weakref|alias)_{0,2}"
    rb"\s{0,40}+\(\s{0,40}+\"(\w{1,40})\""
)
POINTER = lazy(
    rb"\(\s{0,40}+\*\s{0,40}+(?:const\s{1,40}+)?(\w{1,60})\s{0,40}+\)\s{0,40}+\([^;{}=]{0,200}\)\s{0,40}+="
    rb"\s{0,40}+&?(\w{1,40})\s{0,40}+;"
    rb"|\bauto\s{1,40}+[*&]?\s{0,40}+(\w{1,60})\s{0,40}+=\s{0,40}+&?(\w{1,40})\s{0,40}+;"
)
# A call in assembler, or the look-up of a function by its name.
UNSEEN = lazy(
    rb"\b(?:__asm__|__asm|asm)\b[^;{}]{0,300}?\"[^\";]{0,200}?\b(?:callq?|jmpq?|bl?)[ \t]{1,20}(\w{2,40})"
    rb"|\bdlv?sym\s{0,40}+\([^;\"]{0,120}\"(\w{2,40})\""
)


class Respelled(NamedTuple):
    """A text in which calls are spelled plainly, and the aliases of functions that it has besides."""

    content: bytes
    aliases: dict[bytes, bytes]
    problem: str | None


def respelled(content: bytes, names: Collection[bytes]) -> Respelled:
    """Return a text in C or C++ with the calls of these functions spelled plainly; mostly it is the text itself."""
    for mark, rewrite in REWRITES:
        if mark in content:
            content = rewrite(content, names)
    if CALLED.search(content):
        content = _without_brackets(content, names)
    aliases = dict(_aliases(content, names))
    return Respelled(content, aliases, _problem(content, names))


def _without_brackets(content: bytes, names: Collection[bytes]) -> bytes:
    """Blank the brackets around a name that is called: `(strcpy)(`, `(0, strcpy)(`, `({ strcpy; })(`."""
    text: bytearray | None = None
    for match in CLOSED.finditer(content):
        if match[1] not in names:
            continue
        text = text or bytearray(content)
        closers = match[2]
        opener = {ord(")"): ord("("), ord("}"): ord("{")}
        at, waiting = match.start(1) - 1, [opener[one] for one in closers if one in opener]
        text[match.start(2) : match.end(2)] = closers.translate(BLANK)
        depth, floor = 0, max(0, match.start() - REACH)
        while waiting and at >= floor:
            if content[at] in b")}":
                depth += 1
            elif content[at] in b"({" and depth:
                depth -= 1
            elif content[at] == waiting[0]:
                text[at] = ord(" ")
                waiting.pop(0)
            elif content[at] in b"({":
                break
            at -= 1
        for place in range(match.start(1) - 1, max(floor, at), -1):
            if content[place] in b"*& \t":
                text[place] = ord(" ")
            else:
                break
    return content if text is None else bytes(text)


def _joined(content: bytes, names: Collection[bytes]) -> bytes:
    """Move the splices within a name behind it: both parts are the name for a compiler."""

    def join(match: re.Match[bytes]) -> bytes:
        name = JOINTS.sub(b"", match[0])
        joints = b"".join(JOINTS.findall(match[0])).replace(b"??/", b"  \\")
        return name + joints if name in names else match[0]

    joints = JOINTS.finditer(content)
    is_within = any(
        content[one.start() - 1 : one.start()].isalnum() and content[one.end() : one.end() + 1].isalnum()
        for one in joints
    )
    return SPLICED.sub(join, content) if is_within else content


def _with_letters(content: bytes, names: Collection[bytes]) -> bytes:
    """Replace the names of characters in a name by these, with blanks behind it."""

    def spell(match: re.Match[bytes]) -> bytes:
        name = CHARACTER.sub(lambda one: bytes((int(one[1], 16) & 127,)), match[0])
        return name.ljust(len(match[0])) if name in names else match[0]

    return UNIVERSAL.sub(spell, content)


def _without_builtin(content: bytes, names: Collection[bytes]) -> bytes:
    return BUILTIN.sub(lambda match: match[1].rjust(len(match[0])) if match[1] in names else match[0], content)


def _without_check(content: bytes, names: Collection[bytes]) -> bytes:
    """Spell `__strcpy_chk(a, b, size)` as `strcpy(a, b)`; of other functions only the name."""
    text: bytearray | None = None
    for match in CHECKED.finditer(content):
        if match[1] in names:
            text = text or bytearray(content)
            text[match.start() : match.end()] = match[1].rjust(len(match[0]))
            start = content.index(b"(", match.end())
            end = _closing(content, start)
            comma = content.rfind(b",", start, end)
            if end and comma > 0 and match[1].endswith((b"cpy", b"cat")):
                text[comma:end] = content[comma:end].translate(BLANK)
    return content if text is None else bytes(text)


def _closing(content: bytes, start: int) -> int:
    """Return the offset of the bracket that closes the one at `start`, 0 if it is far away."""
    depth = 0
    for at in range(start, min(len(content), start + REACH)):
        depth += {40: 1, 41: -1}.get(content[at], 0)
        if depth == 0:
            return at
    return 0


def _pasted(content: bytes, names: Collection[bytes]) -> bytes:
    """Spell the uses of macros that paste their arguments together: `X(str, cpy)(a, b)`."""
    for count, macro in enumerate(PASTE.finditer(content)):
        if count == DEFINES_MAX:
            break
        parameters = [one.strip() for one in macro[2].split(b",")]
        parts = [one.strip() for one in macro[3].split(b"##")]
        use = re.compile(rb"(?<!\w)" + re.escape(macro[1]) + rb"[ \t]{0,40}+\(([\w, \t]{1,80})\)")

        def paste(match: re.Match[bytes], parameters: list[bytes] = parameters, parts: list[bytes] = parts) -> bytes:
            given = [one.strip() for one in match[1].split(b",")]
            if len(given) != len(parameters) or len(given) > ARGUMENTS_MAX:
                return match[0]
            values = dict(zip(parameters, given, strict=True))
            name = b"".join(values.get(part, part) for part in parts)
            return name.ljust(len(match[0])) if name in names and len(name) <= len(match[0]) else match[0]

        content = use.sub(paste, content)
    return content


def _aliases(content: bytes, names: Collection[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the functions that stand for others by a label, an attribute, or as a pointer."""
    shapes: list[tuple[re.Pattern[bytes], Collection[bytes]]]
    shapes = [(POINTER, DANGEROUS)] if any(name in content for name in DANGEROUS) else []
    shapes += [(LABEL, names)] if b"asm" in content or b"__attribute__" in content else []
    for shape, among in shapes:
        for match in shape.finditer(content):
            alias, name = (match[1], match[2]) if match[1] else (match[3], match[4])
            if name in among and name in names and alias not in names:
                yield alias, name


def _problem(content: bytes, names: Collection[bytes]) -> str | None:
    if not any(name in content for name in DANGEROUS):
        return None
    for match in UNSEEN.finditer(content):
        name = match[1] or match[2]
        if name in names and name in DANGEROUS:
            line = content.count(b"\n", 0, match.start()) + 1
            return f"{name.decode('ascii', 'replace')} is called by assembler or by its name as a text (line {line})"
    return None


REWRITES: tuple[tuple[bytes, Callable[[bytes, Collection[bytes]], bytes]], ...] = (
    (b"\\", _joined),
    (b"??/", _joined),
    (b"\\u00", _with_letters),
    (b"\\U00", _with_letters),
    (b"__builtin_", _without_builtin),
    (b"_chk", _without_check),
    (b"##", _pasted),
)
