"""Initialisers: braces, brace elision and designators (C11 6.7.9), as struct literals, arrays or assignments."""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from jarvis_workers.c2rust.mechanical.assignments import convert, null
from jarvis_workers.c2rust.mechanical.code import BLOCK, Code, block, braces, wrapped
from jarvis_workers.c2rust.mechanical.context import (
    ARITHMETIC,
    BodyContext,
    is_function_pointer,
    literal,
    operand,
    plain,
    present,
    target_of,
)
from jarvis_workers.c2rust.mechanical.literals import byte_array, code_units
from jarvis_workers.c2rust.mechanical.places import Lvalue, field_place
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

AGGREGATES = ("record", "array", "incomplete_array")
# An array with more elements that are not initialised is assigned to element by element.
FEW_ZEROS = 16
LONGEST_PADDING = 64
DESIGNATOR = re.compile(r"\.[^.\[]+|\[(?:\.\.\.)?\]")
ZERO = Code("core::mem::zeroed()")


@dataclass
class Aggregate:
    """The values of an initialiser list for members of a record or elements of an array, by index."""

    type: CType
    items: "dict[int, Aggregate | SyntaxNode]" = field(default_factory=dict)


# A designator: its first number, its last, and the numbers of the members below.
Path = Sequence[tuple[int, int]]


def initial_value(ctx: BodyContext, type_: CType, node: SyntaxNode) -> Code:
    """Return the initial value of an object of this type."""
    return _code(ctx, _whole(ctx, type_, node), type_, node)


def zero(ctx: BodyContext, type_: CType) -> Code:
    """Return the value of a static object without initialiser."""
    if type_.kind in ARITHMETIC:
        return literal(0, type_)
    if is_function_pointer(type_):
        return Code("None")
    return null(ctx.rust(type_)) if type_.kind == "pointer" else ZERO


def _whole(ctx: BodyContext, type_: CType, node: SyntaxNode) -> Aggregate | SyntaxNode:
    if node.kind != "initializers":
        return node
    children = present(node.children)
    if type_.kind == "incomplete_array" and children:
        refuse("initializer", node)
    if type_.kind not in AGGREGATES:
        return _whole(ctx, type_, children[0]) if children else Aggregate(type_)
    if len(children) == 1 and _is_string_for(type_, children[0]):
        return children[0]
    aggregate = Aggregate(type_)
    _InitializerReader(ctx, deque(children)).fill(aggregate, braced=True)
    return aggregate


def _is_string_for(type_: CType, node: SyntaxNode) -> bool:
    return type_.kind != "record" and plain(node).kind == "string" and target_of(type_).kind == "integer"


@dataclass
class _InitializerReader:
    """Assigns initialisers to members, including members of inner aggregates without braces."""

    ctx: BodyContext
    remaining: deque[SyntaxNode]

    def fill(self, aggregate: Aggregate, *, braced: bool, path: Path = ()) -> None:
        members = self._members(aggregate.type)
        position = 0
        while self.remaining:
            if not path and self.remaining[0].kind == "designated":
                if not braced:
                    return
                path = self._designators(aggregate.type, self.remaining[0])
                self.remaining[0] = operand(self.remaining[0], len(self.remaining[0].children) - 1)
            if path:
                position = path[0][0]
            if position not in members:
                return
            self._clear_union(aggregate, position)
            self._fill_member(aggregate, position, path)
            if path and path[0][1] > position:
                aggregate.items.update(dict.fromkeys(range(position, path[0][1] + 1), aggregate.items[position]))
                position = path[0][1]
            position, path = self._following(aggregate.type, members, position), ()

    def _clear_union(self, aggregate: Aggregate, position: int) -> None:
        if self._is_union(aggregate.type) and position not in aggregate.items:
            aggregate.items.clear()

    def _is_union(self, type_: CType) -> bool:
        return type_.kind == "record" and self.ctx.record(type_).kind == "union"

    def _following(self, type_: CType, members: Sequence[int], position: int) -> int:
        if isinstance(members, range):
            return position + 1
        number = members.index(position) + 1
        return members[number] if number < len(members) and not self._is_union(type_) else -1

    def _members(self, type_: CType) -> Sequence[int]:
        if type_.kind == "array":
            return range(type_.length)
        if type_.kind != "record":
            return range(0)
        record = self.ctx.record(type_)
        return tuple(number for number, one in enumerate(record.fields) if one.name or one.type.kind == "record")

    def _fill_member(self, aggregate: Aggregate, position: int, path: Path) -> None:
        type_ = member_type(self.ctx, aggregate.type, position)
        node = self.remaining[0]
        inner = aggregate.items.get(position)
        if len(path) > 1:
            below = inner if isinstance(inner, Aggregate) else Aggregate(type_)
            aggregate.items[position] = below
            self.fill(below, braced=False, path=path[1:])
        elif node.kind == "initializers" or type_.kind not in AGGREGATES or self._initializes_whole(type_, node):
            aggregate.items[position] = _whole(self.ctx, type_, self.remaining.popleft())
        else:
            below = Aggregate(type_)
            aggregate.items[position] = below
            self.fill(below, braced=False)

    def _initializes_whole(self, type_: CType, node: SyntaxNode) -> bool:
        if type_.kind != "record":
            return _is_string_for(type_, node)
        given = self.ctx.type_of(node)
        return given.kind == "record" and given.key == type_.key

    def _designators(self, type_: CType, node: SyntaxNode) -> list[tuple[int, int]]:
        """Return the indices of the members that a designator names, outermost first."""
        indices = iter(node.children)
        path: list[tuple[int, int]] = []
        for word in DESIGNATOR.findall(node.name):
            if word.startswith("["):
                first = _index(next(indices, None), node)
                steps = [(first, _index(next(indices, None), node) if "..." in word else first)]
            else:
                steps = self._field_path(type_, word[1:]) or refuse("initializer", node)
            for number, _ in steps:
                type_ = member_type(self.ctx, type_, number)
            path.extend(steps)
        return path

    def _field_path(self, type_: CType, name: str) -> list[tuple[int, int]]:
        """Return the member indices that lead from a record to a field, including anonymous members."""
        if type_.kind != "record":
            return []
        for number, one in enumerate(self.ctx.record(type_).fields):
            if one.name == name:
                return [(number, number)]
            below = self._field_path(one.type, name) if not one.name else []
            if below:
                return [(number, number), *below]
        return []


def _index(node: SyntaxNode | None, parent: SyntaxNode) -> int:
    if node is None or node.value is None:
        refuse("initializer", parent)
    return int(node.value)


def member_type(ctx: BodyContext, type_: CType, position: int) -> CType:
    return ctx.record(type_).fields[position].type if type_.kind == "record" else target_of(type_)


def _code(ctx: BodyContext, item: Aggregate | SyntaxNode, type_: CType, node: SyntaxNode) -> Code:
    if isinstance(item, SyntaxNode):
        if _is_string_for(type_, item) and type_.kind != "pointer":
            return _string(ctx, type_, plain(item))
        return convert(ctx, ctx.value(item), ctx.type_of(item), type_, node)
    if not item.items:
        return zero(ctx, type_)
    if type_.kind == "record":
        return _record(ctx, item, node)
    return _array(ctx, item, node)


def _string(ctx: BodyContext, type_: CType, node: SyntaxNode) -> Code:
    element, length = target_of(type_), type_.length
    units = code_units(node.name, element)[:length]
    padding = length - len(units)
    if element.size == 1 and padding <= LONGEST_PADDING:
        return byte_array([*units, *[0] * padding], element)
    values = {number: literal(unit, element) for number, unit in enumerate(units)}
    return _elements(ctx, type_, values)


def _array(ctx: BodyContext, item: Aggregate, node: SyntaxNode) -> Code:
    element = target_of(item.type)
    values = {number: _code(ctx, one, element, node) for number, one in sorted(item.items.items())}
    return _elements(ctx, item.type, values)


def _elements(ctx: BodyContext, type_: CType, values: dict[int, Code]) -> Code:
    if not values:
        return ZERO
    missing = type_.length - len(values)
    first = next(iter(values.values()))
    if type_.length > 1 and not missing and all(one.bare and one == first for one in values.values()):
        return Code(f"[{first.text}; {type_.length}]", value=None)
    if missing <= FEW_ZEROS:
        absent = zero(ctx, target_of(type_))
        items = [values.get(number, absent).short for number in range(type_.length)]
        text = wrapped(items)
        return Code(f"[\n{text}\n]" if "\n" in text else f"[{text}]", effects=_any_effects(values.values()))
    name = ctx.temporary("array")
    statements = [f"let mut {name}: {ctx.rust(type_)} = core::mem::zeroed();"]
    statements += [f"{name}[{number}] = {one.short};" for number, one in values.items()]
    return _lines(statements, name)


def _lines(statements: list[str], name: str) -> Code:
    if len(statements) <= 3:
        return block(statements, Code(name))
    return Code(braces("", [*statements, name]), BLOCK, effects=True)


def _any_effects(codes: Iterable[Code]) -> bool:
    return any(code.effects for code in codes)


def _record(ctx: BodyContext, item: Aggregate, node: SyntaxNode) -> Code:
    record, type_ = ctx.record(item.type), item.type
    rust = ctx.rust(type_, node)
    fields = record.fields
    values = {number: _code(ctx, one, fields[number].type, node) for number, one in sorted(item.items.items())}
    if record.kind == "union" or any(one.bit_field for one in fields):
        name = ctx.temporary("value")
        owner = Lvalue(Code(name), type_)
        bits = {number: one for number, one in values.items() if fields[number].bit_field and ctx.static}
        assignments = [
            field_place(ctx, owner, type_.key, number, replace(fields[number].type, volatile=False)).write(one)
            for number, one in values.items()
            if number not in bits
        ]
        assignments += _constant_bits(ctx, owner, bits, node)
        return _lines([f"let mut {name}: {rust} = core::mem::zeroed();", *assignments], name)
    names = [ctx.names.types.field_name(type_.key, number) or refuse("type", node) for number in values]
    words = [f"{name}: {one.short}" for name, one in zip(names, values.values(), strict=True)]
    if len(values) < len(fields) or ctx.names.types.is_padded(type_.key):
        words.append("..core::mem::zeroed()")
    text = wrapped(words)
    between = "\n" if "\n" in text else " "
    return Code(f"{rust} {{{between}{text}{between}}}", BLOCK, _any_effects(values.values()))


def _constant_bits(ctx: BodyContext, owner: Lvalue, values: dict[int, Code], node: SyntaxNode) -> list[str]:
    """Return assignments to the bytes of bit-fields, since a constant cannot call their accessors."""
    blobs: dict[str, int] = {}
    for number, code in values.items():
        where = ctx.names.types.bit_field(owner.type.key, number)
        if where is None or code.value is None:
            refuse("initializer", node)
        bits = int(code.value) & ((1 << where.field.width) - 1)
        blobs[where.blob] = blobs.get(where.blob, 0) | bits << where.first
    return [
        f"{owner.text}.{blob}[{number}] = {byte};"
        for blob, bits in blobs.items()
        for number, byte in enumerate(bits.to_bytes((bits.bit_length() + 7) // 8, "little"))
        if byte
    ]
