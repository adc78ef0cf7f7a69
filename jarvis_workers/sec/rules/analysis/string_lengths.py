"""String lengths at a site, and the numeric and string constants that the macros of a file define."""

import re
from collections.abc import Callable, Iterator

from jarvis_workers.sec.rules.analysis.declarations import LATER, NAME, Declaration, Scope, bare
from jarvis_workers.sec.rules.analysis.symbolic_sizes import (
    LARGEST,
    POINTER_BYTES,
    TYPE_BYTES,
    Amount,
    literal_length,
    read_amount,
    size_of_type,
    squeezed,
)
from jarvis_workers.sec.rules.rule import Site, SourceText
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


# Evaluate size expressions as symbolic amounts: `sizeof`, `strlen`, constants, macros and variables.

SUBSTITUTIONS_MAX = 3
LOOKS_MAX, NESTED_MAX = 100, 4
INDEXED = lazy(rb"([A-Za-z_]\w*+)\s*+\[[^][]*+\]\s*+\Z")
MEMBER_NAME = lazy(rb"(?:->|\.)\s*+([A-Za-z_]\w*+)\s*+\Z")
MEMBER_END = lazy(rb"\s*+(?>\[[^][]{0,80}\]\s*+)?+;")
TYPE = lazy(rb"[\w\s]+[\s*]*\Z")
FLEXIBLE = (b"", b"0", b"1")


class SizeEvaluator(Scope):
    """Evaluator for sizes in the function around a site, up to the site."""

    def __init__(self, site: Site, depth: int = 0) -> None:
        super().__init__(site, depth)
        self._looks_left = LOOKS_MAX
        self._nested = 0
        self._read: dict[bytes, Amount | None] = {}

    def size(self, expression: bytes, before: int | None = None, follow: int = SUBSTITUTIONS_MAX) -> Amount | None:
        """Evaluate a size; variables with a single assigned value are substituted."""
        amount = self.plain_size(expression)
        for _ in range(follow):
            if amount is None or not amount.names:
                return amount
            more = self.substitute(amount, before)
            if more is None:
                return amount
            amount = more
        return amount

    def plain_size(self, expression: bytes) -> Amount | None:
        """Evaluate a size in which variables remain symbolic."""
        if expression not in self._read:
            self._read[expression] = read_amount(expression, self.lookup)
        return self._read[expression]

    def length(self, expression: bytes) -> Amount | None:
        """Return the length of a string that was initialized from a literal or truncated with `s[n] = 0`."""
        return length_of(self, expression, self.plain_size)

    def element_size(self, name: bytes) -> Amount | None:
        """Return the size of the elements of a pointer or an array."""
        declaration = self.declared(name)
        if declaration is None or declaration.stars + len(declaration.dimensions) == 0:
            return None
        if declaration.stars + len(declaration.dimensions) > 1:
            return Amount.of(POINTER_BYTES)
        return size_of_type(declaration.type)

    def declared_size(self, declaration: Declaration) -> Amount:
        size = Amount.of(POINTER_BYTES) if declaration.stars else size_of_type(declaration.type)
        for dimension in declaration.dimensions:
            count = read_amount(dimension, self.lookup)
            size = size.times(count if count is not None else Amount.named(squeezed(dimension)))
        return size

    def array_size(self, declaration: Declaration) -> Amount | None:
        """Return the size of a declared array; `char s[] = "text"` includes the NUL."""
        whole = self.declared_size(declaration)
        if declaration.dimensions[0].strip():
            return whole
        length = initializer_length(self.site.source, declaration.at)
        return None if length is None else Amount.of(length + 1).times(size_of_type(declaration.type))

    def member_capacities(self, expression: bytes) -> list[Amount]:
        """Return the size of an array member, if all structures of the file with a member of that name agree."""
        member = MEMBER_NAME.search(expression)
        if member is None or expression.startswith(b"&"):
            return []
        cache: dict[bytes, list[Amount]] = self.site.source.once("member capacities", dict)
        if member[1] not in cache:
            declarations = list(self._member_declarations(member[1]))
            capacities = {self.declared_size(one) for one in declarations}
            fixed = all(one.dimensions and one.dimensions[0].strip() not in FLEXIBLE for one in declarations)
            cache[member[1]] = list(capacities) if fixed and len(capacities) == 1 else []
        return cache[member[1]]

    def _member_declarations(self, name: bytes) -> Iterator[Declaration]:
        for mark in (b"[", b";"):
            for at in self.occurrences(name + mark, self.site.start):
                behind = at + len(name)
                if MEMBER_END.match(self.text, behind, behind + 96) and not self.site.source.functions.at(at):
                    declared = self.declaration_at(max(0, at - 64), name, at)
                    if declared:
                        yield declared

    def substitute(self, amount: Amount, before: int | None) -> Amount | None:
        """Substitute each plain variable that has a single value; return None if nothing changes."""
        changed = False
        total = Amount.of(0)
        for factors, times in amount.terms:
            product = Amount.of(times)
            for name in factors:
                value = self._single_value(name, before)
                changed = changed or value is not None
                product = product.times(value or Amount.named(name))
            total = total.plus(product)
        return total if changed else None

    def _single_value(self, name: bytes, before: int | None) -> Amount | None:
        if not NAME.match(name) or name.isupper():
            return None
        values = self.values(name, before)
        if len(values) != 1 or not values[0].text or self.counts_on(name):
            return None
        value = read_amount(values[0].text, self.lookup)
        return None if value is None or name in value.names else value

    def lookup(self, kind: str, text: bytes) -> Amount | None:
        """Look up a name, within limits on the nesting and the total number of lookups."""
        if self._looks_left <= 0 or self._nested >= NESTED_MAX:
            return None
        self._looks_left -= 1
        self._nested += 1
        amount = self._evaluate(kind, text)
        self._nested -= 1
        return amount

    def _evaluate(self, kind: str, text: bytes) -> Amount | None:
        if kind == "sizeof":
            return self._sizeof(text)
        if text.startswith((b"strlen(", b"wcslen(")):
            return self.length(text[7:-1])
        value = numbers_of(self.site.source).get(text)
        return None if value is None else Amount.of(value)

    def _sizeof(self, text: bytes) -> Amount | None:
        if text.startswith(b'"'):
            length = self.length(text)
            return Amount.of(length.number + 1 if length and length.number is not None else len(text) - 1)
        if text.startswith(b"*"):
            pointed = text[1:].strip()
            return self.element_size(pointed) if NAME.match(pointed) else None
        if NAME.match(text):
            return self._sizeof_name(text)
        if indexed := INDEXED.match(text):
            return self.element_size(indexed[1])
        if whole := self.member_capacities(text):
            return whole[0]
        return size_of_type(text) if TYPE.match(text) else None

    def _sizeof_name(self, name: bytes) -> Amount | None:
        if name in TYPE_BYTES:
            # In `short length;` the word stands before a name, as a variable after its type.
            return size_of_type(name)
        declaration = self.declared(name)
        if declaration is None:
            return size_of_type(name)
        if self.is_pointer(name):
            return Amount.of(POINTER_BYTES)
        return self.array_size(declaration) if declaration.dimensions else self.declared_size(declaration)
