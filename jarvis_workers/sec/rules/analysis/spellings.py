"""Calls that are spelled in another way: `(strcpy)(a, b)`, `__builtin_strcpy(a, b)`, a name that is pasted or spliced.

A compiler sees the same call. What is rewritten has the same length and the same lines, so that places stay. Calls by
another name (`asm` labels, pointers to functions) are aliases; what no text shows as a call is told as not checked.
"""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import NamedTuple

from jarvis_workers.source.c_tokens import BLANK, SPLICE
from jarvis_workers.source.lazy_regex import lazy

# Functions whose call is a finding by itself; of others, a pointer may be set to something else later.
DANGEROUS = frozenset(b"strcpy strcat stpcpy wcscpy wcscat gets sprintf vsprintf system popen".split())
REACH, ARGUMENTS_MAX, DEFINES_MAX, CHECKED_MAX = 256, 4, 200, 2_000
BEFORE, OPENED_BY = 32, {ord(")"): ord("("), ord("}"): ord("{")}
# What may stand between a name in brackets and the arguments of its call.
CLOSED = lazy(rb"(?<!\w)([A-Za-z_]\w{1,60}+)(\s{0,40}+(?:[;)}]\s{0,40}+){0,8}?\))\s{0,40}+\(")
CALLED = re.compile(rb"\)\s{0,40}+\(")
# A splice, also with the trigraph of a backslash.
JOINT = SPLICE + rb"|\?\?/[ \t\f\v]*+\r?\n"
CONDITION = lazy(rb"\b(?:if|while|for|switch)\s{0,8}+\(\s{0,8}+\Z")
SPLICED = lazy(rb"(?<![\w\\])[A-Za-z_]\w{0,40}(?:(?:" + JOINT + rb")\w{1,40}){1,8}(?!\w)")
JOINTS = lazy(JOINT)
UNIVERSAL = lazy(rb"[\w\\]{0,80}\\(?:u00|U000000)[0-9a-fA-F]{2}[\w\\]{0,80}")
CHARACTER = lazy(rb"\\(?:u00|U000000)([0-9a-fA-F]{2})")
BUILTIN = lazy(rb"(?<!\w)__builtin_(\w{2,40}?)(?=\s{0,40}+\()")
CHECKED = lazy(rb"(?<!\w)(?:__builtin_)?__(\w{2,20})_chk(?=\s{0,40}+\()")
BRACKET = lazy(rb"[(),]")
PASTE = lazy(
    rb"#[ \t]*define[ \t]+(\w{1,60})\(([\w, \t]{1,120})\)[ \t]+(\w+(?:[ \t]*##[ \t]*\w+){1,3})[ \t]*\r?$", re.MULTILINE
)
LABEL = lazy(
    rb"\b(\w{1,60})\s{0,40}+\([^;{}()]{0,200}\)\s{0,40}+"
    rb"(?:__asm__|__asm|asm)\s{0,40}+\(\s{0,40}+\"(\w{1,40})\"\s{0,40}+\)"
    rb"|\b(\w{1,60})\s{0,40}+\([^;{}()]{0,200}\)\s{0,40}+__attribute__\s{0,40}+\(\(\s{0,40}+_{0,2}(?:weakref|alias)_{0,2}"
    rb"\s{0,40}+\(\s{0,40}+\"(\w{1,40})\""
)
# At the top of a file: a pointer in a function is one of this function alone.
POINTER = lazy(
    rb"^(?:\w[\w \t*]{0,80}?)\(\s{0,40}+\*\s{0,40}+(?:const\s{1,40}+)?(\w{1,60})\s{0,40}+\)\s{0,40}+"
    rb"\([^;{}=]{0,200}\)\s{0,40}+=\s{0,40}+&?(\w{1,40})\s{0,40}+;"
    rb"|^(?:static[ \t]++)?(?:auto|__auto_type)\s{1,40}+[*&]?\s{0,40}+(\w{1,60})\s{0,40}+=\s{0,40}+"
    rb"&?(\w{1,40})\s{0,40}+;",
    re.MULTILINE,
)
# A call in assembler, or the look-up of a function by its name, and what stands before it.
UNSEEN = lazy(rb"(?:callq?|jmpq?|bl?)[ \t]{1,20}(%b)(?!\w)|\"(%b)\"" % ((b"|".join(sorted(DANGEROUS)),) * 2))
ASSEMBLER, LOOK_UP = lazy(rb"\b(?:__asm__|__asm|asm)\b[^;{}]*\Z"), lazy(rb"\bdlv?sym\s*+\([^;\"]*\Z")


# Functions that copy without a bound, and what follows the name in a call.
# The ends of all these names, which few searches find.
TAILS = (b"cpy", b"cat", b"printf", b"gets", b"system", b"popen")
COPYING = (b"strcpy", b"strcat", b"stpcpy", b"wcscpy", b"wcscat", b"sprintf", b"vsprintf")
FOLLOWED = lazy(rb"\w|(?:\s|\\){0,80}+\(")
WITHIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.>")
BUILTIN_PREFIX = b"__builtin_"
DIRECTIVE = lazy(rb"^[ \t]*+#[^\n]*\Z", re.MULTILINE)


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
    is_dangerous = any(tail in content for tail in TAILS)
    aliases = dict(_aliases(content, names)) if is_dangerous or b"asm" in content or b"__attribute__" in content else {}
    return Respelled(content, aliases, _problem(content, names) if is_dangerous else None)


def names_copy(content: bytes) -> bool:
    """Return whether a text has, outside of a call, the name of a function that copies without a bound."""
    return any(tail in content for tail in TAILS[:3]) and next(_uncalled(content), None) is not None


def uncalled(text: bytes, followed: Collection[bytes]) -> str | None:
    """Return what masked code does with a function that copies without a bound, if it is no call and no directive.

    Those of which calls by another name are `followed`, and those that are called on the same line, do not count.
    """
    for start, name in sorted(_uncalled(text)):
        line_start, end = text.rfind(b"\n", 0, start) + 1, start + len(name)
        called = re.compile(re.escape(name) + rb"\s*+\(").search(text, end, end + REACH)
        is_called = called is not None and b"\n" not in text[end : called.start()]
        if name not in followed and not is_called and not DIRECTIVE.search(text, line_start, start):
            line = text.count(b"\n", 0, line_start) + 1
            return f"{name.decode()} is used without a call that rules follow (line {line})"
    return None


def _uncalled(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offsets of names that are not called; an expression would take a hundred times as long."""
    for name in COPYING:
        start = text.find(name)
        while start >= 0:
            before = start - len(BUILTIN_PREFIX) if text.endswith(BUILTIN_PREFIX, 0, start) else start
            is_part = before > 0 and (text[before - 1] in WITHIN or text[before - 1] == ord("_"))
            if not is_part and not FOLLOWED.match(text, start + len(name)):
                yield start, name
            start = text.find(name, start + len(name))


def _without_brackets(content: bytes, names: Collection[bytes]) -> bytes:
    """Blank the brackets around a name that is called: `(strcpy)(`, `(0, strcpy)(`, `({ strcpy; })(`."""
    text: bytearray | None = None
    for match in CLOSED.finditer(content):
        start = match.start()
        if match[1] in names and not CONDITION.search(content, max(0, start - BEFORE), start):
            text = text or bytearray(content)
            text[match.start(2) : match.end(2)] = match[2].translate(BLANK)
            _blank_openers(text, start, [OPENED_BY[one] for one in match[2] if one in OPENED_BY])
    return content if text is None else bytes(text)


def _blank_openers(text: bytearray, start: int, waiting: list[int]) -> None:
    """Blank the brackets that are opened before `start`, the innermost first, and the operators behind the last."""
    depth, at, floor = 0, start - 1, max(0, start - REACH)
    while waiting and at >= floor:
        if text[at] in b")}":
            depth += 1
        elif depth and text[at] in b"({":
            depth -= 1
        elif text[at] == waiting[0]:
            text[at] = ord(" ")
            waiting.pop(0)
        elif text[at] in b"({":
            break
        at -= 1
    at = start - 1
    while at >= floor and text[at] in b"*& \t":
        text[at] = ord(" ")
        at -= 1


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
    for match in islice(CHECKED.finditer(content), CHECKED_MAX):
        if match[1] in names:
            text = text or bytearray(content)
            text[match.start() : match.end()] = match[1].rjust(len(match[0]))
            comma, end = _last_argument(content, content.index(b"(", match.end()))
            if comma and match[1].endswith((b"cpy", b"cat")):
                text[comma:end] = content[comma:end].translate(BLANK)
    return content if text is None else bytes(text)


def _last_argument(content: bytes, start: int) -> tuple[int, int]:
    """Return the offsets of the comma before the last argument and of the closing bracket, 0 if they are far away."""
    depth = comma = 0
    for match in BRACKET.finditer(content, start, start + REACH):
        if match[0] == b",":
            comma = match.start() if depth == 1 else comma
            continue
        depth += 1 if match[0] == b"(" else -1
        if depth == 0:
            return comma, match.start()
    return 0, 0


def _pasted(content: bytes, names: Collection[bytes]) -> bytes:
    """Spell the uses of macros that paste their arguments together: `X(str, cpy)(a, b)`."""
    macros = {macro[1]: macro for macro in islice(PASTE.finditer(content), DEFINES_MAX)}
    if not macros:
        return content

    def paste(match: re.Match[bytes]) -> bytes:
        macro = macros[match[1]]
        parameters = [one.strip() for one in macro[2].split(b",")]
        given = [one.strip() for one in match[2].split(b",")]
        if len(given) != len(parameters) or len(given) > ARGUMENTS_MAX:
            return match[0]
        values = dict(zip(parameters, given, strict=True))
        name = b"".join(values.get(part.strip(), part.strip()) for part in macro[3].split(b"##"))
        return name.ljust(len(match[0])) if name in names and len(name) <= len(match[0]) else match[0]

    listed = b"|".join(map(re.escape, sorted(macros)))
    return re.sub(rb"(?<!\w)(" + listed + rb")[ \t]{0,40}+\(([\w, \t]{1,80})\)", paste, content)


def _aliases(content: bytes, names: Collection[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the functions that stand for others by a label, an attribute, or as a pointer."""
    shapes: list[tuple[re.Pattern[bytes], Collection[bytes]]]
    shapes = [(POINTER, DANGEROUS)]
    shapes += [(LABEL, names)] if b"asm" in content or b"__attribute__" in content else []
    for shape, among in shapes:
        for match in shape.finditer(content):
            alias, name = (match[1], match[2]) if match[1] else (match[3], match[4])
            if name in among and name in names and alias not in names:
                yield alias, name


def _problem(content: bytes, names: Collection[bytes]) -> str | None:
    if b"asm" not in content and b"sym" not in content:
        return None
    for match in UNSEEN.finditer(content):
        name, shape = (match[1], ASSEMBLER) if match[1] else (match[2], LOOK_UP)
        if name in names and shape.search(content, max(0, match.start() - REACH), match.start()):
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
