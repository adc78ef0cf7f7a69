"""Symbolic arithmetic on sizes in C code, without compiling it.

An amount is a sum of products of names, such as 4 × n + 1; an unknown part remains symbolic, under its own text.
Thus `strlen(s)` is one less than `strlen(s) + 1` although neither value is known.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from jarvis_workers.source.lazy_regex import lazy

EXPRESSION_MAX = 240
DEPTH_MAX = 12
TERMS_MAX = 12
LARGEST = 1 << 64
SHIFT_MAX = 62
TOKEN = re.compile(
    rb"""\s*+(?:
      (?P<number>0[xX][0-9a-fA-F]++|[0-9]++)[uUlLzZ]*+(?![\w.])
    | sizeof\b\s*+(?:\(\s*+(?P<of>[^()]++(?>\([^()]*+\)[^()]*+)*+)\)
      |(?P<plain>[*\s]*+[A-Za-z_]\w*+(?>(?:->|\.)\w++|\[[^][]*+\])*+))
    | (?P<name>[A-Za-z_]\w*+(?>\s*+(?:->|\.|::)\s*+\w++|\s*+\[[^][]*+\])*+(?>\s*+\([^()]*+(?>\([^()]*+\)[^()]*+)*+\))?+)
    | (?P<operator><<|[-+*/()])
    | (?P<literal>"[^"]*+"|'[^']*+')
    )""",
    re.VERBOSE,
)
NAME = lazy(rb"[A-Za-z_]\w*+")
CAST = lazy(
    rb"""\s*+(?:
      \(\s*+(?>const\s++|struct\s++|enum\s++)*+[A-Za-z_]\w*+(?>\s++\w++)*+[\s*]*+\)(?=\s*+[\w(])
    | (?:static|reinterpret|const)_cast\s*+<[^<>;]++>(?=\s*+\()
    )""",
    re.VERBOSE,
)
TYPES = (
    (1, b"char bool _Bool uint8_t int8_t u8 s8 __u8 __s8 byte BYTE UCHAR CHAR uchar guint8 gchar guchar uint8 int8"),
    (2, b"short uint16_t int16_t u16 s16 __u16 __s16 WORD USHORT __le16 __be16 guint16 uint16 int16"),
    (4, b"int uint32_t int32_t u32 s32 __u32 __s32 DWORD UINT INT float __le32 __be32 guint32 wchar_t uint gint guint"),
    (4, b"uint32 int32 char32_t"),
    (8, b"long uint64_t int64_t u64 s64 __u64 __s64 size_t ssize_t double uintptr_t intptr_t ptrdiff_t off_t __le64"),
    (8, b"__be64 guint64 gsize ULONGLONG uint64 int64 loff_t"),
)
TYPE_BYTES: Mapping[bytes, int] = {name: size for size, names in TYPES for name in names.split()}
QUALIFIERS = frozenset(b"const volatile static register struct union enum extern inline auto signed restrict".split())
POINTER_BYTES = 8
FIXED = (b"sizeof", b"offsetof")

Terms = dict[tuple[bytes, ...], int]


class Amount(NamedTuple):
    """Sum of products, each with its sorted factors and its coefficient; the constant term has no factors."""

    terms: tuple[tuple[tuple[bytes, ...], int], ...]

    @classmethod
    def of(cls, number: int) -> "Amount":
        return Amount((((), number),) if number else ())

    @classmethod
    def named(cls, name: bytes) -> "Amount":
        return Amount((((name,), 1),))

    @property
    def number(self) -> int | None:
        """The amount, if it is a plain number, otherwise None."""
        if not self.terms:
            return 0
        (factors, times), *more = self.terms
        return times if not factors and not more else None

    @property
    def names(self) -> frozenset[bytes]:
        return frozenset(name for factors, _ in self.terms for name in factors)

    @property
    def is_plain(self) -> bool:
        """Whether the amount depends only on sizes of types and values of macros."""
        return all(_is_something(factors) for factors, _ in self.terms)

    @property
    def raising(self) -> frozenset[bytes]:
        """Names with a positive coefficient, without those that are fixed at compile time."""
        return frozenset(name for factors, times in self.terms if times > 0 for name in factors if not is_fixed(name))

    def plus(self, other: "Amount", sign: int = 1) -> "Amount":
        sums: Terms = dict(self.terms)
        for factors, times in other.terms:
            sums[factors] = sums.get(factors, 0) + sign * times
        return _amount(sums)

    def times(self, other: "Amount") -> "Amount":
        products: Terms = {}
        for factors, many in self.terms:
            for more, times in other.terms:
                key = tuple(sorted(factors + more))
                products[key] = products.get(key, 0) + many * times
        return _amount(products)

    def compared(self, other: "Amount") -> str:
        """Return "more", "no more", "perhaps" (more unless the names are 0), or "" if that depends on the names."""
        rest = self.plus(other, -1).terms
        signs = {times > 0 for _, times in rest}
        if signs == {True}:
            return "more" if any(_is_something(factors) for factors, _ in rest) else "perhaps"
        return "" if True in signs else "no more"


Lookup = Callable[[str, bytes], Amount | None]


def read_amount(expression: bytes, lookup: Lookup) -> Amount | None:
    """Parse masked text, or return None; `lookup("name" or "sizeof", text)` may resolve a symbol."""
    if len(expression) > EXPRESSION_MAX:
        return None
    if NAME.fullmatch(expression) and not expression.startswith(b"sizeof"):
        return lookup("name", expression) or Amount.named(expression)
    return _Reader(expression, lookup).read()


def literal_length(content: bytes) -> int:
    """Return the number of characters in a literal, given the text between its quotes."""
    return len(re.sub(rb"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|.)", b"c", content, flags=re.DOTALL))


def is_fixed(name: bytes) -> bool:
    """Return whether a name is fixed at compile time: the size of a type, or an upper-case macro, called or not."""
    return name.startswith(FIXED) or name.partition(b"(")[0].isupper()


def squeezed(text: bytes) -> bytes:
    """Remove white space, except in text with literals, whose masked contents are white space."""
    return text.strip() if b'"' in text else b"".join(text.split())


def size_of_type(words: bytes) -> Amount:
    """Return the size in bytes of a type such as `unsigned char` or `struct node *`, on a 64-bit machine."""
    if words.rstrip()[-1:] in (b"*", b"&"):
        return Amount.of(POINTER_BYTES)
    left = [word for word in words.split() if word not in QUALIFIERS]
    named = [word for word in left if word != b"unsigned"] or [b"int"]
    size = TYPE_BYTES.get(named[0]) or TYPE_BYTES.get(named[-1])
    return Amount.of(size) if size else Amount.named(b"sizeof(%b)" % b" ".join(named))


def _is_something(factors: tuple[bytes, ...]) -> bool:
    """Return whether a product is known to be positive, as are sizes of types and upper-case macros."""
    return all(is_fixed(name) for name in factors)


def _amount(terms: Terms) -> Amount:
    return Amount(tuple(sorted((factors, times) for factors, times in terms.items() if times)))


class _Reader:
    """Parser of sums of products, from left to right."""

    def __init__(self, expression: bytes, lookup: Lookup) -> None:
        self._text = expression
        self._at = 0
        self._lookup = lookup
        self._depth = 0

    def read(self) -> Amount | None:
        amount = self._sum()
        return amount if amount is not None and not self._text[self._at :].strip() else None

    def _sum(self) -> Amount | None:
        total = self._product()
        while total is not None and (sign := self._take(b"+", b"-")):
            more = self._product()
            total = None if more is None else total.plus(more, 1 if sign == b"+" else -1)
            if total is not None and len(total.terms) > TERMS_MAX:
                return None
        return total

    def _product(self) -> Amount | None:
        total = self._operand()
        while total is not None and (operator := self._take(b"*", b"/", b"<<")):
            more = self._operand()
            total = None if more is None else _combined(total, operator, more)
        return total

    def _take(self, *operators: bytes) -> bytes | None:
        token = TOKEN.match(self._text, self._at)
        if token is None or token["operator"] not in operators:
            return None
        self._at = token.end()
        return token["operator"]

    def _operand(self) -> Amount | None:
        self._skip_casts()
        token = TOKEN.match(self._text, self._at)
        if token is None:
            return None
        self._at = token.end()
        if token["operator"] == b"(":
            return self._bracketed()
        if token["number"]:
            return _number(token["number"])
        if of := token["of"] or token["plain"]:
            text = of.strip() if b'"' in of else b" ".join(of.split())
            return self._lookup("sizeof", text) or Amount.named(b"sizeof(%b)" % text)
        if token["name"]:
            name = squeezed(token["name"])
            return self._lookup("name", name) or Amount.named(name)
        return None

    def _bracketed(self) -> Amount | None:
        self._depth += 1
        inner = self._sum() if self._depth <= DEPTH_MAX else None
        self._depth -= 1
        return inner if self._take(b")") else None

    def _skip_casts(self) -> None:
        while cast := CAST.match(self._text, self._at):
            self._at = cast.end()


def _number(text: bytes) -> Amount | None:
    base = 16 if text[:2] in (b"0x", b"0X") else 8 if text[:1] == b"0" and text.isdigit() else 10
    try:
        number = int(text, base)
    except ValueError:
        return None
    return Amount.of(number) if number < LARGEST else None


def _combined(left: Amount, operator: bytes, right: Amount) -> Amount | None:
    if operator == b"*":
        if len(left.terms) * len(right.terms) > TERMS_MAX:
            return None
        return left.times(right)
    by = right.number
    if by is None or by < 0:
        return None
    if operator == b"<<":
        return left.times(Amount.of(1 << by)) if by <= SHIFT_MAX else None
    if by == 0 or any(times % by for _, times in left.terms):
        return None
    return Amount(tuple((factors, times // by) for factors, times in left.terms))
