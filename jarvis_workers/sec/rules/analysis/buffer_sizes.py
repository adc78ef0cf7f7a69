"""Say how many bytes there are where a pointer points, and how much a size or a string comes to.

What cannot be known stands for itself in an amount; where a variable may hold one of several things, there are as
many answers.  A parameter that is not changed holds what the callers in the same file pass.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypeVar, cast

from jarvis_workers.sec.rules.analysis.declarations import (
    GLOBALS_MAX,
    NAME,
    Assigned,
    Declaration,
    Scope,
    bare,
    value_at,
)
from jarvis_workers.sec.rules.analysis.string_lengths import length_of, numbers_of
from jarvis_workers.sec.rules.analysis.symbolic_sizes import (
    POINTER_BYTES,
    Amount,
    literal_length,
    read_amount,
    size_of_type,
    squeezed,
)
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

__all__ = ["BufferSizes"]

T = TypeVar("T")
FOLLOWED_MAX = 3
LOOKS_MAX, NESTED_MAX, SEARCHED_MAX = 100, 4, 1_000
ARGUMENTS_MAX = 4
TEXT_MAX = 320
LEFT = 128
NOTHING = lazy(rb"\(*(?:\(void\s*\*\)\s*)?(?:NULL|nullptr|0)\)*\Z")
CALL = lazy(rb"\s*+(?:::|std::)?([A-Za-z_]\w*+)\s*+\(")
NEW_ARRAY = lazy(
    rb"""\s*+(?:::)?new\s*+(?:\(\s*+(?:std::)?nothrow\s*+\)\s*+)?
    ([A-Za-z_][\w:]*+(?>\s++\w++)*+[\s*]*+)\[([^][]*+)\]\s*+(?>\(\s*+\))?+\s*+\Z""",
    re.VERBOSE,
)
ELEMENT = lazy(rb"&\s*+([A-Za-z_]\w*+)\s*+\[([^][]*+)\]\s*+\Z")
INDEXED = lazy(rb"([A-Za-z_]\w*+)\s*+\[[^][]*+\]\s*+\Z")
ADDRESS = lazy(rb"&\s*+([A-Za-z_]\w*+)\s*+\Z")
MEMBER_NAME = lazy(rb"(?:->|\.)\s*+([A-Za-z_]\w*+)\s*+\Z")
MEMBER_END = lazy(rb"\s*+(?>\[[^][]{0,80}\]\s*+)?+;")
PARAMETER = lazy(rb"([A-Za-z_]\w*+)\s*+(?>\[[^][]*+\]\s*+)*+\Z")
TYPE = lazy(rb"[\w\s]+[\s*]*\Z")
FLEXIBLE = (b"", b"0", b"1")

# Where the size stands among the arguments of what gives memory; two are multiplied.
ALLOCATORS: dict[bytes, tuple[int, ...]] = {
    name: places
    for places, names in (
        (
            (0,),
            b"malloc xmalloc zmalloc ztrymalloc g_malloc g_malloc0 kmalloc kzalloc kvmalloc kvzalloc vmalloc vzalloc "
            b"alloca _alloca __builtin_alloca ALLOCA hi_malloc s_malloc sqlite3_malloc OPENSSL_malloc av_malloc valloc",
        ),
        ((0, 1), b"calloc xcalloc kcalloc kvcalloc kmalloc_array hi_calloc g_malloc_n g_malloc0_n"),
        ((1,), b"realloc xrealloc zrealloc krealloc kvrealloc g_realloc hi_realloc aligned_alloc devm_kzalloc"),
        ((1, 2), b"reallocarray krealloc_array devm_kcalloc"),
    )
    for name in names.split()
}
COPIES = frozenset(b"strdup xstrdup zstrdup g_strdup kstrdup hi_strdup".split())


class BufferSizes(Scope):
    """What is known of sizes in the function around a site, as far as the site."""

    def __init__(self, site: Site, depth: int = 0) -> None:
        super().__init__(site, depth)
        self._looks_left = LOOKS_MAX
        self._nested = 0
        self._read: dict[bytes, Amount | None] = {}

    def size(self, expression: bytes, before: int | None = None, follow: int = FOLLOWED_MAX) -> Amount | None:
        """Read a size; a variable that was given one value stands for it."""
        found = self.plain_size(expression)
        for _ in range(follow):
            if found is None or not found.names:
                return found
            more = self._followed(found, before)
            if more is None:
                return found
            found = more
        return found

    def plain_size(self, expression: bytes) -> Amount | None:
        """Read a size in which variables stand for themselves."""
        if expression not in self._read:
            self._read[expression] = read_amount(expression, self._lookup)
        return self._read[expression]

    def rooms(self, expression: bytes, before: int | None = None, depth: int = FOLLOWED_MAX) -> list[Amount]:
        """Return how many bytes there may be from where a pointer points; none if that is not known."""
        expression = bare(expression)
        if NAME.match(expression):
            return self._rooms_of(expression, before, depth)
        if element := ELEMENT.match(expression):
            return self._rooms_behind(element[1], element[2], before, depth)
        if address := ADDRESS.match(expression):
            found = self.declared(address[1])
            return [self._bytes_of(found)] if found and found.at < self.site.start else []
        base, plus, offset = expression.partition(b"+")
        if plus and NAME.match(base.strip()):
            return self._rooms_behind(base.strip(), offset, before, depth)
        if indexed := INDEXED.match(expression):
            found = self.declared(indexed[1])
            inner = found.dimensions[1:] if found else ()
            return [self._bytes_of(found._replace(dimensions=inner))] if found and inner else []
        return self._member_room(expression)

    def length(self, expression: bytes) -> Amount | None:
        """Return how long a string is, where it was made from a literal or was cut with `s[n] = 0`."""
        return length_of(self, expression, self.plain_size)

    def longest(self, expression: bytes) -> Amount | None:
        """Return how long a string in an array, or a parameter of the file's own function, can be at most."""
        rooms = self.rooms(expression)
        step = self.element_bytes(bare(expression)) if len(rooms) == 1 else None
        number, each = rooms[0].number if rooms else None, step.number if step else None
        if number and each:
            return Amount.of(number // each - 1)
        name = bare(expression)
        return self.literals_given(name) if NAME.match(name) and self._has_all_callers_here() else None

    def literals_given(self, name: bytes) -> Amount | None:
        """Return the length of the longest literal that callers in this file pass, if they pass nothing else."""
        if not self.is_parameter(name) or self.values(name):
            return None
        return self._once("literals given", name, lambda: self._longest_literal(name))

    def _longest_literal(self, name: bytes) -> Amount | None:
        passed = [(scope, given) for scope, given in self._given_by_callers(name) if not NOTHING.match(given.strip())]
        lengths = [scope.length(given) for scope, given in passed]
        numbers = [length.number for length in lengths if length is not None and length.number is not None]
        return Amount.of(max(numbers)) if numbers and len(numbers) == len(lengths) else None

    def element_bytes(self, name: bytes) -> Amount | None:
        """Return the size of what a pointer points to, or an array holds."""
        found = self.declared(name)
        if found is None or found.stars + len(found.dimensions) == 0:
            return None
        if found.stars + len(found.dimensions) > 1:
            return Amount.of(POINTER_BYTES)
        return size_of_type(found.type)

    def is_given_bounded(self, name: bytes) -> bool:
        """Tell whether all callers in this file pass literals, or memory whose size they know."""
        return self._once("bounded by callers", name, lambda: self._is_bounded(name))

    def _is_bounded(self, name: bytes) -> bool:
        given = list(self._given_by_callers(name))
        return bool(given) and all(scope.length(text) or scope.rooms(text) for scope, text in given)

    def _rooms_of(self, name: bytes, before: int | None, depth: int) -> list[Amount]:
        found = self.declared(name)
        if found and found.dimensions and not self.is_parameter(name):
            whole = self._bytes_of(found)
            return [whole] if found.dimensions[0].strip() else self._initial_room(found)
        if depth <= 0 or found is None:
            return []
        rooms: list[Amount] = []
        values = self.values(name, before)
        if not values and self.is_parameter(name):
            return self._once("rooms from callers", name, lambda: self._rooms_from_callers(name))
        for value in values:
            if NOTHING.match(value.text):
                continue
            more = self._room_of_value(name, value, depth)
            if not more:
                return []
            rooms += more
        return rooms

    def _rooms_from_callers(self, name: bytes) -> list[Amount]:
        rooms: list[Amount] = []
        for scope, given in self._given_by_callers(name):
            more = scope.rooms(given)
            if not more or any(not room.is_plain for room in more):
                return []
            rooms += more
        return rooms

    def _given_by_callers(self, name: bytes) -> Iterator[tuple["BufferSizes", bytes]]:
        """Yield what the callers in this file pass for a parameter, one step up."""
        function = self.site.function
        if function is None or self.depth or not self._may_search():
            return
        given = self.text[slice(*function.parameters)].split(b",")
        named = [found[1] if (found := PARAMETER.search(one)) else b"" for one in given]
        index = named.index(name) if name in named else len(named)
        calls = self._once("calls", b"", lambda: list(self.found(function.name + b"(", len(self.text))))
        for at in calls:
            caller = self.site.source.functions.at(at)
            if caller is not None and caller != function:
                site = Site(self.site.source, function.name, at, at + len(function.name))
                yield BufferSizes(site, depth=1), site.masked(index)

    def _has_all_callers_here(self) -> bool:
        """Tell a static function that is only called, and not so often that not all calls are looked at."""
        function = self.site.function
        if function is None or b"static" not in self.text[max(0, function.start - LEFT) : function.start]:
            return False
        return self._may_search() and self._once("is only called", b"", lambda: self._is_only_called(function.name))

    def _may_search(self) -> bool:
        """Bound for how many functions of a file all of its text is searched."""
        searched = cast("set[int]", self.site.source.remembered.setdefault("callers searched", set()))
        if len(searched) < SEARCHED_MAX:
            searched.add(self._start)
        return self._start in searched

    def _is_only_called(self, name: bytes) -> bool:
        calls = self.text.count(name + b"(")
        return calls < GLOBALS_MAX and calls == self.text.count(name)

    def _once(self, what: str, name: bytes, work: Callable[[], T]) -> T:
        """Work out once a function what does not depend on the site in it."""
        if self.depth:
            return work()
        known = cast("dict[tuple[int, bytes], T]", self.site.source.remembered.setdefault(what, {}))
        key = (self._start, name)
        if key not in known:
            known[key] = work()
        return known[key]

    def _room_of_value(self, name: bytes, value: Assigned, depth: int) -> list[Amount]:
        given = bare(value.text)
        if not given or given == name:
            return []
        call = CALL.match(given)
        if call and call[1] in ALLOCATORS:
            size = self._allocated(given, call, value.at)
            return [size] if size else []
        if call and call[1] in COPIES:
            return [self._copied(value_at(given, call.end()), value.at)]
        if array := NEW_ARRAY.match(given):
            count = self.size(array[2], value.at)
            return [count.times(size_of_type(array[1]))] if count else []
        return [] if call else self.rooms(given, value.at, depth - 1)

    def _copied(self, source: bytes, at: int) -> Amount:
        """Return what a copy of a string takes."""
        length = length_of(self, source, self.plain_size, at)
        return (Amount.named(b"strlen(%b)" % squeezed(source)) if length is None else length).plus(Amount.of(1))

    def _allocated(self, given: bytes, call: re.Match[bytes], at: int) -> Amount | None:
        parts = _split(given, call.end())
        total = Amount.of(1)
        for index in ALLOCATORS[call[1]]:
            size = read_amount(parts[index], self._lookup) if index < len(parts) else None
            if size is None:
                return None
            total = total.times(size)
        return self._settled(total, at)

    def _settled(self, amount: Amount, at: int) -> Amount | None:
        """Take a size as it was where the memory was given; what its names hold may have changed since."""
        for name in amount.names:
            if NAME.match(name) and not name.isupper():
                later = [value for value in self.values(name) if value.at > at]
                if later:
                    more = self._followed(amount, at)
                    return more if more and name not in more.names else None
        return amount

    def _rooms_behind(self, name: bytes, offset: bytes, before: int | None, depth: int) -> list[Amount]:
        step, skipped = self.element_bytes(name), self.plain_size(offset)
        if step is None or skipped is None:
            return []
        return [room.plus(skipped.times(step), -1) for room in self._rooms_of(name, before, depth)]

    def _bytes_of(self, found: Declaration) -> Amount:
        size = Amount.of(POINTER_BYTES) if found.stars else size_of_type(found.type)
        for dimension in found.dimensions:
            count = read_amount(dimension, self._lookup)
            size = size.times(count if count is not None else Amount.named(squeezed(dimension)))
        return size

    def _initial_room(self, found: Declaration) -> list[Amount]:
        """`char s[] = "text"` holds the text and its end."""
        content = self.site.source.content
        opened = self.text.find(b'"', found.at, found.at + 96)
        closed = self.text.find(b'"', opened + 1, opened + TEXT_MAX) if opened >= 0 else -1
        if closed < 0 or b";" in self.text[found.at : opened] or b"{" in self.text[found.at : opened]:
            return []
        length = literal_length(content[opened + 1 : closed]) + 1
        return [Amount.of(length).times(size_of_type(found.type))] if self.text[closed + 1 : closed + 2] == b";" else []

    def _member_room(self, expression: bytes) -> list[Amount]:
        """The size of an array in a structure, if all structures of the file that name it agree."""
        member = MEMBER_NAME.search(expression)
        if member is None or expression.startswith(b"&"):
            return []
        known = cast("dict[bytes, list[Amount]]", self.site.source.remembered.setdefault("member rooms", {}))
        if member[1] not in known:
            found = list(self._member_declarations(member[1]))
            rooms = {self._bytes_of(one) for one in found}
            fixed = all(one.dimensions and one.dimensions[0].strip() not in FLEXIBLE for one in found)
            known[member[1]] = list(rooms) if fixed and len(rooms) == 1 else []
        return known[member[1]]

    def _member_declarations(self, name: bytes) -> Iterator[Declaration]:
        for mark in (b"[", b";"):
            for at in self.found(name + mark, self.site.start):
                behind = at + len(name)
                if MEMBER_END.match(self.text, behind, behind + 96) and not self.site.source.functions.at(at):
                    declared = self.typed(max(0, at - 64), name, at)
                    if declared:
                        yield declared

    def _followed(self, amount: Amount, before: int | None) -> Amount | None:
        """Put in for each plain variable what it was given, if that is one thing; None if nothing changes."""
        changed = False
        total = Amount.of(0)
        for factors, times in amount.terms:
            product = Amount.of(times)
            for name in factors:
                value = self._single(name, before)
                changed = changed or value is not None
                product = product.times(value or Amount.named(name))
            total = total.plus(product)
        return total if changed else None

    def _single(self, name: bytes, before: int | None) -> Amount | None:
        if not NAME.match(name) or name.isupper():
            return None
        values = self.values(name, before)
        if len(values) != 1 or not values[0].text or self.counts_on(name):
            return None
        found = read_amount(values[0].text, self._lookup)
        return None if found is None or name in found.names else found

    def _lookup(self, kind: str, text: bytes) -> Amount | None:
        """Look a name up, unless that leads from one to the next: each may ask for others."""
        if self._looks_left <= 0 or self._nested >= NESTED_MAX:
            return None
        self._looks_left -= 1
        self._nested += 1
        found = self._looked_up(kind, text)
        self._nested -= 1
        return found

    def _looked_up(self, kind: str, text: bytes) -> Amount | None:
        if kind == "sizeof":
            return self._sizeof(text)
        if text.startswith((b"strlen(", b"wcslen(")):
            return self.length(text[7:-1])
        value = self._macros.get(text)
        return None if value is None else Amount.of(value)

    @cached_property
    def _macros(self) -> dict[bytes, int]:
        return numbers_of(self.site.source)

    def _sizeof(self, text: bytes) -> Amount | None:
        if text.startswith(b'"'):
            length = self.length(text)
            return Amount.of(length.number + 1 if length and length.number is not None else len(text) - 1)
        if text.startswith(b"*"):
            pointed = text[1:].strip()
            return self.element_bytes(pointed) if NAME.match(pointed) else None
        if NAME.match(text):
            return self._size_of_name(text)
        if indexed := INDEXED.match(text):
            return self.element_bytes(indexed[1])
        if whole := self._member_room(text):
            return whole[0]
        return size_of_type(text) if TYPE.match(text) else None

    def _size_of_name(self, name: bytes) -> Amount | None:
        found = self.declared(name)
        if found is None:
            return size_of_type(name)
        if self.is_pointer(name):
            return Amount.of(POINTER_BYTES)
        rooms = self._rooms_of(name, None, 0) if found.dimensions else [self._bytes_of(found)]
        return rooms[0] if rooms else None


def _split(text: bytes, at: int) -> list[bytes]:
    """Return the first arguments of the call whose parenthesis ends at `at`."""
    parts: list[bytes] = []
    closed = text + b";"
    while at < len(text) and len(parts) < ARGUMENTS_MAX:
        part = value_at(closed, at)
        parts.append(part)
        at = text.find(part, at) + len(part)
        if text[at : at + 1] != b",":
            break
        at += 1
    return parts
