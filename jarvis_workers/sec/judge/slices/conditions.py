"""The preprocessor conditions that enclose the lines of a file, and whether they hold on Linux.

A condition is evaluated only as far as it names macros that compilers for some platforms predefine; any other is
unknown.  The include guard of a header is not a condition.
"""

import re
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from jarvis_workers.source.lex import LOGICAL_LINE

DIRECTIVE = re.compile(
    rb"^[ \t]*+#[ \t]*+(?P<word>if(?:n?def)?|elif(?:n?def)?|else|endif|define)\b(?P<rest>" + LOGICAL_LINE + rb")",
    re.MULTILINE,
)
ATOM = re.compile(rb"(!*)\s*(?:defined\s*(?:\(\s*(\w+)\s*\)|(\w+))|(\w+))")
# Predefined macros of compilers: on Linux, and on other platforms.
HERE = frozenset(b"__linux__ __linux linux __unix__ __unix unix __GNUC__ __gnu_linux__ 1".split())
ELSEWHERE = frozenset(
    b"""_WIN32 WIN32 _WIN64 WIN64 __WIN32__ __CYGWIN__ __MINGW32__ __MINGW64__ _MSC_VER _WINDOWS __BORLANDC__
    __WATCOMC__ __DJGPP__ MSDOS __MSDOS__ __DOS__ OS2 __OS2__ __EMX__ VMS __VMS __vms __APPLE__ __MACH__ __DARWIN__
    macintosh __FreeBSD__ __NetBSD__ __OpenBSD__ __DragonFly__ __sun __sun__ sun __SVR4 _AIX __hpux hpux __hpux__
    __sgi sgi __osf__ __QNX__ __HAIKU__ __BEOS__ __BeOS AMIGA __AMIGA__ __amigaos__ RISCOS __riscos__ __ANDROID__
    __EMSCRIPTEN__ __MVS__ __TANDEM NETWARE 0""".split()
)
# Directives of a file, and conditions around a line, that are read: no handwritten file has so many.
DIRECTIVES_MAX, DEPTH_MAX = 100_000, 32
EXPRESSION_MAX = 2_000


class Condition(NamedTuple):
    """A branch of a conditional: its directive lines (`#if`, and `#elif` or `#else`), and whether it holds on Linux."""

    lines: tuple[int, ...]
    here: bool | None


class Conditions:
    """The enclosing conditions of each line of a C or C++ file, outermost first; of a deep nest, the innermost ones."""

    def __init__(self, masked: bytes) -> None:
        self._starts, self._inside = [1], [tuple[Condition, ...]()]
        self._read(masked)

    def at(self, line: int) -> tuple[Condition, ...]:
        """Return the conditions under which a line is compiled."""
        return self._inside[bisect_right(self._starts, line) - 1]

    def is_elsewhere(self, line: int) -> bool:
        """Return whether a line is compiled only on other platforms than Linux."""
        return any(condition.here is False for condition in self.at(line))

    def _read(self, masked: bytes) -> None:
        open_branches: list[tuple[Condition | None, bool | None]] = []
        line, behind = 1, 0
        matches = [match for match, _ in zip(DIRECTIVE.finditer(masked), range(DIRECTIVES_MAX), strict=False)]
        guard = _guard(masked, matches)
        for match in matches:
            line += masked.count(b"\n", behind, match.start())
            behind = match.start()
            word = match["word"]
            if word == b"define":
                continue
            if word.startswith(b"if"):
                value = _value(word, match["rest"])
                open_branches.append((None if match is guard else Condition((line,), value), value))
            elif not open_branches:
                continue
            elif word == b"endif":
                open_branches.pop()
            else:
                open_branches.append(_next_branch(open_branches.pop(), line, word, match["rest"]))
            self._starts.append(line + 1 + match[0].count(b"\n"))
            self._inside.append(tuple(condition for condition, _ in open_branches[-DEPTH_MAX:] if condition))
        if len(matches) == DIRECTIVES_MAX:
            self._starts.append(self._starts[-1] + 1)
            self._inside.append(())


def _next_branch(
    before: tuple[Condition | None, bool | None], line: int, word: bytes, rest: bytes
) -> tuple[Condition | None, bool | None]:
    """Return a branch after `#elif` or `#else`, and whether it or one before it holds."""
    condition, taken = before
    value = True if word == b"else" else _value(word[2:], rest)
    here = _and(value, _not(taken))
    first = condition.lines[:1] if condition else ()
    return Condition((*first, line), here), _or(taken, value)


def _guard(masked: bytes, matches: list[re.Match[bytes]]) -> re.Match[bytes] | None:
    """Return the directive that opens an include guard: the first of the file, defined in the next line."""
    for first, second in pairwise(matches[:2]):
        is_guard = first["word"] == b"ifndef" and second["word"] == b"define"
        if is_guard and second["rest"].split()[:1] == first["rest"].split()[:1]:
            return None if masked[: first.start()].strip() else first
    return None


def _value(word: bytes, rest: bytes) -> bool | None:
    if word == b"ifdef":
        return _is_predefined(rest.strip())
    if word == b"ifndef":
        return _not(_is_predefined(rest.strip()))
    if len(rest) > EXPRESSION_MAX:
        return None
    result: bool | None = False
    for alternative in _without_parentheses(rest.replace(b"\\\n", b" ").strip()).split(b"||"):
        value: bool | None = True
        for atom in alternative.split(b"&&"):
            value = _and(value, _atom(atom.strip()))
        result = _or(result, value)
    return result


def _without_parentheses(text: bytes) -> bytes:
    """Return an expression without the parentheses around the whole of it."""
    depth = 0
    for at, byte in enumerate(text):
        depth += {40: 1, 41: -1}.get(byte, 0)
        if depth == 0:
            return text[1:-1].strip() if 0 < at == len(text) - 1 else text
    return text


def _atom(text: bytes) -> bool | None:
    match = ATOM.fullmatch(_without_parentheses(text))
    if match is None:
        return None
    value = _is_predefined(match[2] or match[3] or match[4])
    return _not(value) if len(match[1]) % 2 else value


def _is_predefined(macro: bytes) -> bool | None:
    return True if macro in HERE else False if macro in ELSEWHERE else None


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _and(one: bool | None, other: bool | None) -> bool | None:
    return False if one is False or other is False else None if one is None or other is None else True


def _or(one: bool | None, other: bool | None) -> bool | None:
    return _not(_and(_not(one), _not(other)))
