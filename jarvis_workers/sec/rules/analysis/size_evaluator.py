"""Evaluate size expressions as symbolic amounts: `sizeof`, `strlen`, constants, macros and variables.

An unknown part remains symbolic in the amount.  The number of lookups per site is limited, since each lookup may
require others.
"""

from collections.abc import Iterator

from jarvis_workers.sec.rules.analysis.declarations import NAME, Declaration, Scope
from jarvis_workers.sec.rules.analysis.string_lengths import initializer_length, length_of, numbers_of
from jarvis_workers.sec.rules.analysis.symbolic_sizes import (
    POINTER_BYTES,
    TYPE_BYTES,
    Amount,
    read_amount,
    size_of_type,
    squeezed,
)
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

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
