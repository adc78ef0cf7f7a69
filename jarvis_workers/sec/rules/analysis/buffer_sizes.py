"""Sizes of the buffers that a pointer points to, and maximum lengths of strings.

A pointer that may point to several buffers has several capacities.  An unmodified parameter has the capacities of the
arguments that callers in the same file pass.
"""

import re
from collections.abc import Iterator

from jarvis_workers.sec.rules.analysis.callers import arguments_of_callers, has_all_callers_here, once_per_function
from jarvis_workers.sec.rules.analysis.declarations import NAME, Assigned, bare, value_at
from jarvis_workers.sec.rules.analysis.string_lengths import INDEXED, SizeEvaluator, length_of
from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount, read_amount, size_of_type, squeezed
from jarvis_workers.source.lazy_regex import lazy

FOLLOWED_MAX = 3
ARGUMENTS_MAX = 4
NOTHING = lazy(rb"\(*(?:\(void\s*\*\)\s*)?(?:NULL|nullptr|0)\)*\Z")
CALL = lazy(rb"\s*+(?:::|std::)?([A-Za-z_]\w*+)\s*+\(")
NEW_ARRAY = lazy(
    rb"""\s*+(?:::)?new\s*+(?:\(\s*+(?:std::)?nothrow\s*+\)\s*+)?
    ([A-Za-z_][\w:]*+(?>\s++\w++)*+[\s*]*+)\[([^][]*+)\]\s*+(?>\(\s*+\))?+\s*+\Z""",
    re.VERBOSE,
)
ELEMENT = lazy(rb"&\s*+([A-Za-z_]\w*+)\s*+\[([^][]*+)\]\s*+\Z")
ADDRESS = lazy(rb"&\s*+([A-Za-z_]\w*+)\s*+\Z")

# Positions of the size arguments of each allocator; two sizes are multiplied.
ALLOCATORS: dict[bytes, tuple[int, ...]] = {
    name: places
    for places, names in (
        (
            (0,),
            b"malloc xmalloc zmalloc ztrymalloc g_malloc g_malloc0 kmalloc kzalloc kvmalloc kvzalloc vmalloc vzalloc "
            b"alloca _alloca __builtin_alloca hi_malloc s_malloc sqlite3_malloc OPENSSL_malloc av_malloc valloc",
        ),
        ((0, 1), b"calloc xcalloc kcalloc kvcalloc kmalloc_array hi_calloc g_malloc_n g_malloc0_n"),
        ((1,), b"realloc xrealloc zrealloc krealloc kvrealloc g_realloc hi_realloc aligned_alloc devm_kzalloc"),
        ((1, 2), b"reallocarray krealloc_array devm_kcalloc"),
    )
    for name in names.split()
}
COPIES = frozenset(b"strdup xstrdup zstrdup g_strdup kstrdup hi_strdup".split())


class BufferSizes(SizeEvaluator):
    """Capacities of buffers, in bytes, in the function around a site."""

    def capacities(self, expression: bytes, before: int | None = None, depth: int = FOLLOWED_MAX) -> list[Amount]:
        """Return the possible distances in bytes from a pointer to the end of its buffer; empty if unknown."""
        expression = bare(expression)
        if NAME.match(expression):
            return self._variable_capacities(expression, before, depth)
        if element := ELEMENT.match(expression):
            return self._offset_capacities(element[1], element[2], before, depth)
        if address := ADDRESS.match(expression):
            declaration = self.declared(address[1])
            return [self.declared_size(declaration)] if declaration and declaration.at < self.site.start else []
        base, plus, offset = expression.partition(b"+")
        if plus and NAME.match(base.strip()):
            return self._offset_capacities(base.strip(), offset, before, depth)
        if indexed := INDEXED.match(expression):
            declaration = self.declared(indexed[1])
            inner = declaration.dimensions[1:] if declaration else ()
            return [self.declared_size(declaration._replace(dimensions=inner))] if declaration and inner else []
        return self.member_capacities(expression)

    def max_length(self, expression: bytes) -> Amount | None:
        """Return the maximum length of a string in an array, or in a parameter of a static function."""
        capacities = self.capacities(expression)
        step = self.element_size(bare(expression)) if len(capacities) == 1 else None
        number, each = capacities[0].number if capacities else None, step.number if step else None
        if number and each:
            return Amount.of(number // each - 1)
        name = bare(expression)
        return self.passed_literal_length(name) if NAME.match(name) and has_all_callers_here(self) else None

    def passed_literal_length(self, name: bytes) -> Amount | None:
        """Return the length of the longest literal that callers in this file pass, if they pass only literals."""
        if not self.is_parameter(name) or self.values(name):
            return None
        return once_per_function(self, "passed literals", name, lambda: self._longest_literal(name))

    def _longest_literal(self, name: bytes) -> Amount | None:
        passed = [
            (scope, argument) for scope, argument in self._caller_arguments(name) if not NOTHING.match(argument.strip())
        ]
        lengths = [scope.length(argument) for scope, argument in passed]
        numbers = [length.number for length in lengths if length is not None and length.number is not None]
        return Amount.of(max(numbers)) if numbers and len(numbers) == len(lengths) else None

    def is_bounded_by_callers(self, name: bytes) -> bool:
        """Return whether all callers in this file pass literals or memory of known size."""
        return once_per_function(self, "bounded by callers", name, lambda: self._is_bounded(name))

    def _is_bounded(self, name: bytes) -> bool:
        arguments = list(self._caller_arguments(name))
        return bool(arguments) and all(scope.length(text) or scope.capacities(text) for scope, text in arguments)

    def _variable_capacities(self, name: bytes, before: int | None, depth: int) -> list[Amount]:
        declaration = self.declared(name)
        if declaration and declaration.dimensions and not self.is_parameter(name):
            size = self.array_size(declaration)
            return [] if size is None else [size]
        if depth <= 0 or declaration is None:
            return []
        capacities: list[Amount] = []
        values = self.values(name, before)
        if not values and self.is_parameter(name):
            return once_per_function(self, "capacities from callers", name, lambda: self._caller_capacities(name))
        for value in values:
            if NOTHING.match(value.text):
                continue
            more = self._value_capacities(name, value, depth)
            if not more:
                return []
            capacities += more
        return capacities

    def _caller_capacities(self, name: bytes) -> list[Amount]:
        capacities: list[Amount] = []
        for scope, argument in self._caller_arguments(name):
            more = scope.capacities(argument)
            if not more or any(not capacity.is_plain for capacity in more):
                return []
            capacities += more
        return capacities

    def _caller_arguments(self, name: bytes) -> Iterator[tuple["BufferSizes", bytes]]:
        """Yield the arguments that callers in this file pass for a parameter, one level up."""
        return ((BufferSizes(site, depth=1), argument) for site, argument in arguments_of_callers(self, name))

    def _value_capacities(self, name: bytes, value: Assigned, depth: int) -> list[Amount]:
        expression = bare(value.text)
        if not expression or expression == name:
            return []
        call = CALL.match(expression)
        if call and _size_arguments(call[1]):
            size = self._allocation_size(expression, call, value.at)
            return [size] if size else []
        if call and call[1] in COPIES:
            return [self._copy_size(value_at(expression, call.end()), value.at)]
        if array := NEW_ARRAY.match(expression):
            count = self.size(array[2], value.at)
            return [count.times(size_of_type(array[1]))] if count else []
        return [] if call else self.capacities(expression, value.at, depth - 1)

    def _copy_size(self, source: bytes, at: int) -> Amount:
        """Return the size of a copy of a string."""
        length = length_of(self, source, self.plain_size, at)
        return (Amount.named(b"strlen(%b)" % squeezed(source)) if length is None else length).plus(Amount.of(1))

    def _allocation_size(self, expression: bytes, call: re.Match[bytes], at: int) -> Amount | None:
        parts = _split(expression, call.end())
        total = Amount.of(1)
        for index in _size_arguments(call[1]):
            size = read_amount(parts[index], self.lookup) if index < len(parts) else None
            if size is None:
                return None
            total = total.times(size)
        return self._size_at(total, at)

    def _size_at(self, amount: Amount, at: int) -> Amount | None:
        """Evaluate a size at the allocation; its variables may have changed since then."""
        for name in amount.names:
            if NAME.match(name) and not name.isupper():
                later = [value for value in self.values(name) if value.at > at]
                if later:
                    more = self.substitute(amount, at)
                    return more if more and name not in more.names else None
        return amount

    def _offset_capacities(self, name: bytes, offset: bytes, before: int | None, depth: int) -> list[Amount]:
        step, skipped = self.element_size(name), self.plain_size(offset)
        if step is None or skipped is None:
            return []
        return [capacity.plus(skipped.times(step), -1) for capacity in self._variable_capacities(name, before, depth)]


def _size_arguments(name: bytes) -> tuple[int, ...]:
    """Return which arguments of an allocation function are multiplied; a name in capitals is taken for the function."""
    return ALLOCATORS.get(name.lower() if name.isupper() else name, ())


def _split(text: bytes, at: int) -> list[bytes]:
    """Return the first arguments of the call whose argument list begins at `at`."""
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
