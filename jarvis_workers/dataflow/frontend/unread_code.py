"""Find code that is not lowered, so that it is named and does not look like code without defects.

It stands outside of the functions that are found, as between braces from macros, or is a part of a function that
lowering skips. A declaration is no code; what looks like a statement is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jarvis_workers.dataflow.frontend.grammar import NO_SEMICOLON, Reading
from jarvis_workers.dataflow.frontend.lowering import UNPARSED, ParsedSource, hides_release, name_of
from jarvis_workers.dataflow.frontend.places import FunctionPlace

OUTSIDE = "code outside of functions"
NO_FUNCTION = "the parser finds no function around it"
NOT_LOWERED = "it is a macro whose text is not understood"
# Code of their own: the variables that a lambda names are handed to it, and a local class has none of the function.
APART = ("lambda", "local class")
# Statements that are no declarations, behind another one, a brace, or a macro that stands for a brace. Macros that
# declare something are called, too: of calls, those count that the flow rules look at, and those of values by a name
# that is not in capitals.
CALL = rb"(?:\w*+(?<=free|FREE)|f?close|mem(?:cpy|move|set)|strn?c(?:py|at)|s[nw]?printf|gets|read)\s*+\([^;{}]*+;"
OBJECT = rb"(?>\w++\s*+(?:::|->|\.)\s*+)*+"
VALUE = rb"(?>&\s*+|\*++)?+[\w:]++(?>->\w++|\.\w++|\[[^\[\];{}()]*+\])*+"
NO_VALUE = rb"(?:void|static|int|char|long|bool|float|double|unsigned|size_t)\b"
VALUES = rb"(?!%b)%b(?>\s*+,\s*+%b)*+" % (NO_VALUE, VALUE, VALUE)
STATEMENT = re.compile(
    rb"""(?:[;{}]|\)\s*+[A-Za-z_]\w*+\s)\s*+(?P<statement>
      (?:if|for|while|switch)\s*+\( | (?:return|goto|delete|do|else|case)\b
      | (?>\(\s*+void\s*+\)\s*+)?+%(object)b%(call)b | \(\s*+\w++\s*+\)\s*+\(\s*+%(values)b\s*+\)\s*+;)
    | [;{]\s*+(?P<assignment>\**+\w++(?>->\w++|\.\w++|\[[^\[\];{}]*+\])*+\s*+[-+*/%%&|^]?=(?!=)
      [^;{}(),]*+(?:\([^;{}]*+)?;)
    | ,\s*+(?P<deletion>delete\s++\w[^;{}()]*+;)
    | [;{}]\s*+(?P<ordinary>(?>\(\s*+void\s*+\)\s*+)?+%(object)b(?=[A-Z\d_]*+[a-z]|\w*?(?:DELETE|RELEASE|DESTROY)\b)
      (?!static_assert\b)[A-Za-z_]\w*+\s*+\(\s*+%(values)b\s*+\)\s*+;)"""
    % {b"call": CALL, b"object": OBJECT, b"values": VALUES},
    re.VERBOSE,
)
# In a macro: a function, a block in an expression, or a statement that copies or releases memory.
MACRO_CODE = re.compile(
    rb"""\(\s*+\{
    | \b(?!else\b|do\b)\w++[\s*&]++(?!(?:if|for|while|switch)\b)[\w#]++\s*+
      \((?>[^(){};]++|\([^(){};]*+\))*+\)\s*+\{
    | [;{}]\s*+%(call)b"""
    % {b"call": CALL},
    re.VERBOSE,
)
INCLUDED_FILE = re.compile(rb'"(?:([\w./+-]{1,200})")?')
CONTINUED = re.compile(rb"\\[ \t]*+\r?\n")
NAME, WORD = re.compile(rb"\s*+(\w+)"), re.compile(rb"\w++")


class UnreadCode(NamedTuple):
    """Code that is not lowered: the function that it is in or OUTSIDE, the line of this, the reason, and the text.

    `hides_from` is the function that this code may be a part of.
    """

    name: str
    line: int
    reason: str
    code: bytes
    hides_from: str = ""


def skipped_parts(lowered: Mapping[str, Any], reading: Reading) -> Iterator[UnreadCode]:
    """Yield the parts of a function that were skipped when it was lowered."""
    for what, start, end in reading.skipped:
        line = reading.first_line + reading.source.count(b"\n", 0, start)
        reason = f"its {what} in line {line} is not analyzed"
        is_part = what in (UNPARSED, NO_SEMICOLON) and hides_release(reading.source, start, end)
        code = reading.source if is_part else reading.source[start:end]
        yield UnreadCode(lowered["name"], lowered["line"], reason, code, "" if what in APART else lowered["name"])


def unread_code(
    source: ParsedSource, code: bytes, functions: list[FunctionPlace], opaque: set[str]
) -> Iterator[UnreadCode]:
    """Yield what is not lowered of a file; `code` is its masked text without directives."""
    yield from stray_code(code, functions)
    yield from included_parts(source, functions)
    yield from with_half_blocks(source, code, functions)
    yield from opaque_macros(source, opaque)


def stray_code(code: bytes, functions: list[FunctionPlace]) -> Iterator[UnreadCode]:
    """Yield the functions that seem to end too early, and the statements between functions.

    What follows a function may be a part of it: both count as one.
    """
    line, at, behind, before = 1, 0, 0, 0
    for one, start in zip((None, *functions), (*(place.start for place in functions), len(code)), strict=True):
        if one is not None:
            before, behind = one.function.body[0], one.function.body[1] + 1
        if one is not None and code.count(b"{", before, behind - 1) > code.count(b"}", before, behind - 1):
            line, at = line + code.count(b"\n", at, one.start), one.start
            last = line + code.count(b"\n", at, behind)
            reason = f"its braces do not match: it seems to end in line {last}"
            yield UnreadCode(name_of(one), line, reason, code[before:start], name_of(one))
            continue
        statement = STATEMENT.search(code, max(0, behind - 1), start)
        if statement is not None:
            since = statement.start(statement.lastgroup or 0)
            line, at = line + code.count(b"\n", at, since), since
            is_rest = code.count(b"}", behind, start) > code.count(b"{", behind, start)
            name = name_of(one) if one is not None and is_rest else ""
            yield UnreadCode(OUTSIDE, line, NO_FUNCTION, code[before if is_rest else behind : start], name)


def partly_read(source: ParsedSource, functions: list[FunctionPlace], unread: list[UnreadCode]) -> set[str]:
    """Return the names of the functions that are not lowered as a whole, or use a macro that is not."""
    names = {one.hides_from for one in unread}
    macros = {one.name.encode("latin-1") for one in unread if one.reason == NOT_LOWERED}
    if macros:
        for place in functions:
            first, last = place.function.body
            if not macros.isdisjoint(WORD.findall(source.text, first, last)):
                names.add(name_of(place))
    return names


def included_parts(source: ParsedSource, functions: list[FunctionPlace]) -> Iterator[UnreadCode]:
    """Yield the functions that include a file of the project in their body; of it, nothing is known."""
    starts = [one.function.body[0] for one in functions]
    before, line, at = -1, 1, 0
    for one in source.branches.live():
        place = bisect_right(starts, one.start) - 1
        if one.word != b"include" or place == before or place < 0 or one.start >= functions[place].function.body[1]:
            continue
        file = INCLUDED_FILE.search(source.content, one.start, one.end)
        if file is None:
            continue
        before, function = place, functions[place]
        line, at = line + source.text.count(b"\n", at, function.start), function.start
        first, last = function.function.body
        reason = f"it includes {file[1].decode('latin-1') if file[1] else 'a file'}"
        yield UnreadCode(name_of(function), line, reason, source.text[first:last], name_of(function))


def with_half_blocks(source: ParsedSource, code: bytes, functions: list[FunctionPlace]) -> Iterator[UnreadCode]:
    """Yield the functions with a macro of the file that opens or closes a block: its statements have no such block."""
    halves = {
        name[1]
        for one in source.branches.live()
        if one.word == b"define" and one.rest.count(b"{") != one.rest.count(b"}") and (name := NAME.match(one.rest))
    }
    if not halves:
        return
    line, at = 1, 0
    for place in functions:
        first, last = place.function.body
        macro = next((word[0] for word in WORD.finditer(code, first, last) if word[0] in halves), None)
        if macro is None:
            continue
        line, at = line + code.count(b"\n", at, place.start), place.start
        reason = f"its macro {macro.decode('latin-1')} opens or closes a block"
        yield UnreadCode(name_of(place), line, reason, code[first:last], name_of(place))


def opaque_macros(source: ParsedSource, names: set[str]) -> Iterator[UnreadCode]:
    """Yield the macros of some names that consist of statements."""
    line, at = 1, 0
    for one in source.branches.live():
        if one.word != b"define" or b";" not in one.rest:
            continue
        name = NAME.match(one.rest)
        if name is None or name[1].decode("latin-1") not in names:
            continue
        text = CONTINUED.sub(b" \n", one.rest)
        if MACRO_CODE.search(text) is None:
            continue
        line, at = line + source.text.count(b"\n", at, one.start), one.start
        yield UnreadCode(name[1].decode("latin-1"), line, NOT_LOWERED, text)
