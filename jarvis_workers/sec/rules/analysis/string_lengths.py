"""String lengths at a site, and the numeric and string constants that the macros of a file define."""

import re
from collections.abc import Callable

from jarvis_workers.sec.rules.analysis.declarations import LATER, NAME, Scope, bare
from jarvis_workers.sec.rules.analysis.symbolic_sizes import LARGEST, Amount, literal_length, read_amount
from jarvis_workers.sec.rules.rule import SourceText
from jarvis_workers.source.lazy_regex import lazy

REACH = 1_024
INITIALIZER_MAX = 320
DEFINE = lazy(rb"#[ \t]*+define[ \t]++(\w++)[ \t]++([^\n\\]{1,96}+)(?=\n|\Z)")
TEXT_MACRO = lazy(rb'#[ \t]*+define[ \t]++(\w++)[ \t]++L?"([^"]{0,400}+)"[ \t]*+\r?(?=\n|\Z)')
CUT = lazy(rb"\s*+\[([^][]{1,64})\]\s*+=\s*+(?:0|L?'[^']*+')\s*+;")
EMPTIED = lazy(rb"\s*+=\s*+(?:0|L?'[^']*+')\s*+;")
ASSIGNED = lazy(
    rb"""\s*+(?>\[[^][]*+\]\s*+)?+=\s*+
    (?:(?P<empty>\{\s*+0?\s*+\}|L?"")|(?P<value>L?"[^"]*+"|[A-Z_][A-Z0-9_]*+))\s*+;""",
    re.VERBOSE,
)
QUOTED = lazy(rb'"([^"]*+)"')
DOTTED_QUAD = lazy(rb"inet_ntoa\s*+\(")
OPENED = lazy(rb"([A-Za-z_]\w*+)\s*+\(\s*+(?:\([^()]*+\)\s*+)?\Z")
READERS = frozenset(b"strlen wcslen strcmp memcmp strchr strrchr if while puts printf sizeof free return".split())


def length_of(
    scope: Scope, expression: bytes, read: Callable[[bytes], Amount | None], at: int | None = None
) -> Amount | None:
    """Return the length of a literal, or of a variable whose last change was an assigned literal or a truncation.

    `read` evaluates an index; `at` is an offset at or shortly before the expression, if that is not at the site.
    """
    name = bare(expression)
    if DOTTED_QUAD.match(name):
        return Amount.of(len("255.255.255.255"))
    if name.startswith((b'"', b'L"')):
        start = scope.site.start if at is None else at
        return _literal(scope, name, scope.text.find(name, start, start + REACH))
    if not NAME.match(name):
        return None
    return _literal(scope, name, scope.site.start) if name.isupper() else _length_of_variable(scope, name, read)


def _is_emptied_at(scope: Scope, name: bytes, at: int) -> bool:
    """Return whether a mention is in `*name = 0`, and not in a declaration `char *name = 0`."""
    behind = at + len(name)
    if scope.text[at - 1 : at] != b"*" or not EMPTIED.match(scope.text, behind, behind + 32):
        return False
    declaration = scope.declared(name)
    return declaration is None or declaration.at != at


def initializer_length(source: SourceText, at: int) -> int | None:
    """Return the length of the literal that initializes the array `char s[] = "text"` declared at `at`."""
    opened = source.text.find(b'"', at, at + 96)
    closed = source.text.find(b'"', opened + 1, opened + INITIALIZER_MAX) if opened >= 0 else -1
    before = source.text[at:opened]
    if closed < 0 or b";" in before or b"{" in before or source.text[closed + 1 : closed + 2] != b";":
        return None
    return literal_length(source.content[opened + 1 : closed])


def _length_of_variable(scope: Scope, name: bytes, read: Callable[[bytes], Amount | None]) -> Amount | None:
    text = scope.text
    for at in scope.mentions_before(name, scope.site.start):
        behind = at + len(name)
        if cut := CUT.match(text, behind, behind + 96):
            return read(cut[1])
        if _is_emptied_at(scope, name, at):
            return Amount.of(0)
        if match := ASSIGNED.match(text, behind, behind + 160):
            return Amount.of(0) if match["empty"] else _literal(scope, match["value"], match.start("value"))
        if _is_changed(text, at, behind):
            return None
    return None


def numbers_of(source: SourceText) -> dict[bytes, int]:
    """Return the numbers that macros of a file define, by name."""
    return source.once("numbers", lambda: _numbers(source.text))


def _numbers(text: bytes) -> dict[bytes, int]:
    result: dict[bytes, int] = {}
    twice: set[bytes] = set()
    for match in DEFINE.finditer(text):
        amount = read_amount(match[2], lambda _kind, name: Amount.of(result[name]) if name in result else None)
        number = amount.number if amount else None
        # A number larger than any type is meaningless, and macros defined by earlier ones could grow without bound.
        if number is None or abs(number) >= LARGEST or result.setdefault(match[1], number) != number:
            twice.add(match[1])
    return {name: number for name, number in result.items() if name not in twice}


def _literal(scope: Scope, masked: bytes, start: int) -> Amount | None:
    """Return the length of a literal, or of a macro that expands to one."""
    if start < 0:
        return None
    if masked.startswith((b'"', b'L"')):
        if QUOTED.sub(b"", masked).strip(b" \t\r\n\\L"):
            return None
        literal = scope.site.source.content[start : start + len(masked)]
        parts = [literal[slice(*match.span(1))] for match in QUOTED.finditer(masked)]
        return Amount.of(sum(map(literal_length, parts)))
    source = scope.site.source
    length = source.once("texts", lambda: _texts(source)).get(masked)
    return None if length is None else Amount.of(length)


def _texts(source: SourceText) -> dict[bytes, int]:
    return {
        match[1]: literal_length(source.content[match.start(2) : match.end(2)])
        for match in TEXT_MACRO.finditer(source.text)
    }


def _is_changed(text: bytes, at: int, behind: int) -> bool:
    """Return whether a mention may change the string: passed to a function that writes, or assigned."""
    if LATER.match(text, behind, behind + 16) or text[behind : behind + 8].lstrip()[:1] == b"[":
        return True
    call = OPENED.search(text[max(0, at - 64) : at])
    return call is not None and call[1] not in READERS
