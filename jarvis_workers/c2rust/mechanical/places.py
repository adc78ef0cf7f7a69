"""Lvalues: how to locate, read and write them, and how to take their address.

A place is a variable or a dereferenced pointer, followed by fields and constant indices.  An lvalue can be evaluated
once and used twice, since its pointer is stored in a temporary.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from jarvis_workers.c2rust.mechanical.arithmetic import offset
from jarvis_workers.c2rust.mechanical.code import ATOM, BLOCK, CAST, UNARY, Code, block
from jarvis_workers.c2rust.mechanical.context import ARRAYS, BodyContext, operand, plain, target_of
from jarvis_workers.c2rust.mechanical.literals import string_pointer
from jarvis_workers.c2rust.mechanical.names import SymbolUse
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType, Field
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

# A longer pointer goes into a temporary even if it could be evaluated twice.
LONGEST_TWICE = 60
# A copy of a record that may be misaligned; no variable has this name.
COPY = "packed_record"


@dataclass(frozen=True, slots=True)
class Lvalue:
    """An lvalue of type `type`.

    `bits` is the name of the accessors of a bit-field, whose record is at `path`; `packed` means that this record may
    be misaligned.  `temporary` is the type of `base` if `base` is a value, which has no address.
    """

    base: Code
    type: CType
    dereferenced: bool = False
    path: str = ""
    bits: str = ""
    packed: bool = False
    temporary: CType | None = None

    @property
    def text(self) -> str:
        if not self.dereferenced:
            return self.base.at(ATOM) + self.path
        return f"(*{self.base.at(UNARY)}){self.path}" if self.path else f"*{self.base.at(UNARY)}"

    @property
    def code(self) -> Code:
        return Code(self.text, UNARY if self.dereferenced and not self.path else ATOM, self.base.effects)

    @property
    def twice(self) -> bool:
        """Whether the lvalue may be evaluated twice."""
        return not self.base.effects and len(self.base.text) <= LONGEST_TWICE

    def read(self) -> Code:
        if self.bits:
            record = Code(f"{{ {self.text} }}", BLOCK, self.base.effects) if self.packed else self.code
            return record.method(self.bits)
        if self.type.volatile:
            return self.address(constant=True).method("read_volatile").with_effects()
        return self.code

    def write(self, value: Code) -> str:
        if self.bits:
            return self._write_bits(value)
        if self.type.volatile:
            return f"{self.address().method('write_volatile', value).text};"
        return f"{self.text} = {value.short};"

    def _write_bits(self, value: Code) -> str:
        if self.packed:
            copy = f"let mut {COPY} = {self.text};"
            return f"{{ {copy} {COPY}.set_{self.bits}({value.short}); {self.text} = {COPY}; }}"
        record = self.code.at(ATOM)
        if not self.dereferenced and (value.effects or "addr_of_mut!" in value.text):
            record = f"(*core::ptr::addr_of_mut!({self.text}))"
        return f"{record}.set_{self.bits}({value.short});"

    def address(self, *, constant: bool = False) -> Code:
        """Return a pointer to the lvalue.

        If `constant`, a `*const`, as items may only contain such pointers to statics.
        """
        if self.dereferenced and not self.path:
            return self.base
        macro = "addr_of" if constant else "addr_of_mut"
        return Code(f"core::ptr::{macro}!({self.text})", ATOM, self.base.effects)

    def member(self, path: str, type_: CType) -> "Lvalue":
        return replace(self, path=self.path + path, type=type_)


def place(ctx: BodyContext, node: SyntaxNode) -> Lvalue:
    """Return the place of an lvalue, or of a value whose member is read."""
    node = plain(node)
    if node.kind == "unary" and node.operator == "*":
        return Lvalue(ctx.value(operand(node)), ctx.type_of(node), dereferenced=True)
    translate = PLACES.get(node.kind)
    if translate is None:
        return Lvalue(ctx.value(node), ctx.type_of(node), temporary=ctx.type_of(node))
    return translate(ctx, node)


def _stored(ctx: BodyContext, found: Lvalue, type_: CType, stem: str = "value") -> Lvalue:
    """Assign the base, a value without an address, to a local variable, and return the place in it."""
    name = ctx.temporary(stem)
    ctx.hoisted.append(f"let mut {name}: {ctx.rust(type_)} = core::mem::zeroed();")
    pointer = block([f"{name} = {found.base.short};"], Code(f"core::ptr::addr_of_mut!({name})"))
    return replace(found, base=pointer, dereferenced=True, temporary=None)


def _string(ctx: BodyContext, node: SyntaxNode) -> Lvalue:
    type_ = ctx.type_of(node)
    pointer = string_pointer(node.name, target_of(type_)).cast(f"*mut {ctx.rust(type_, node)}")
    return Lvalue(pointer, type_, dereferenced=True)


def _variable(ctx: BodyContext, node: SyntaxNode) -> Lvalue:
    type_ = ctx.type_of(node)
    if node.operator == "thread_local":
        refuse("thread_local", node)
    if node.local:
        return Lvalue(Code(ctx.locals.get(node.local) or refuse("expression", node)), type_)
    ctx.use(SymbolUse("global", node.target, node.name, type_))
    ctx.rust(type_, node)
    return Lvalue(Code(ctx.names.symbol(node.target, node.name)), type_)


def _member(ctx: BodyContext, node: SyntaxNode) -> Lvalue:
    inner = operand(node)
    if node.operator == "->":
        owner = Lvalue(ctx.value(inner), target_of(ctx.type_of(inner)), dereferenced=True)
    else:
        owner = place(ctx, inner)
    ctx.rust(owner.type, node)
    return field_place(ctx, owner, node.target, int(node.value or 0), ctx.type_of(node))


def field_place(ctx: BodyContext, owner: Lvalue, key: str, index: int, type_: CType) -> Lvalue:
    name = ctx.names.types.field_name(key, index) or refuse("type")
    if any(one.type.align > ctx.unit.records[key].align for one in ctx.unit.records[key].fields):
        owner = replace(owner, packed=True)
    if field_of(ctx, key, index).bit_field:
        return replace(owner, bits=name, type=type_)
    return owner.member(f".{name}", type_)


def field_of(ctx: BodyContext, key: str, index: int) -> Field:
    record = ctx.unit.records.get(key)
    if record is None or index >= len(record.fields):
        refuse("type")
    return record.fields[index]


def bit_width(ctx: BodyContext, node: SyntaxNode) -> int:
    """Return the width of a bit-field, or 0 for any other expression."""
    inner = plain(node)
    return field_of(ctx, inner.target, int(inner.value or 0)).width if inner.kind == "member" else 0


def _element(ctx: BodyContext, node: SyntaxNode) -> Lvalue:
    array, index = operand(node), operand(node, 1)
    if ctx.type_of(array).kind not in ("pointer", *ARRAYS):
        array, index = index, array
    type_, number = ctx.type_of(node), ctx.value(index)
    inner = plain(array)
    if inner.kind == "implicit_cast" and number.value is not None and plain(operand(inner)).kind != "string":
        whole = ctx.type_of(operand(inner))
        if whole.kind == "array" and 0 <= number.value < whole.length:
            return place(ctx, operand(inner)).member(f"[{number.short}]", type_)
    pointer = offset(ctx.value(array), number, ctx.type_of(index))
    return Lvalue(pointer, type_, dereferenced=True)


def _compound_literal(ctx: BodyContext, node: SyntaxNode) -> Lvalue:
    type_, literal = ctx.type_of(node), operand(node, len(node.children) - 1)
    rust = ctx.rust(type_, node)
    if ctx.static:
        name = ctx.temporary(f"{ctx.symbol.removeprefix('r#')}_literal")
        ctx.items.append(f"static mut {name}: {rust} = unsafe {{ {ctx.value(literal).short} }};")
        return Lvalue(Code(name), type_)
    return _stored(ctx, Lvalue(ctx.value(literal), type_), type_, "literal")


def decayed_pointer(ctx: BodyContext, node: SyntaxNode, element: CType, name: str) -> Code:
    """Return a pointer of the Rust type `name` to the first element of an array."""
    inner = plain(node)
    if inner.kind == "string":
        literal = string_pointer(inner.name, element)
        return replace(literal.cast(name), pointer=literal.text)
    found = place(ctx, node)
    found = found if found.temporary is None else _stored(ctx, found, found.temporary)
    pointer = found.address(constant=ctx.static or name.startswith("*const"))
    return Code(f"{pointer.at(CAST)} as {name}", CAST, pointer.effects, pointer=pointer.at(CAST))


def address(ctx: BodyContext, node: SyntaxNode, type_: CType) -> Code:
    """Return `&operand`, of the pointer type `type_`."""
    name = ctx.rust(type_, node)
    found = place(ctx, node)
    if found.bits:
        refuse("expression", node)
    constant = ctx.static or name.startswith("*const")
    pointer = found.address(constant=constant)
    word = "const" if constant and pointer is not found.base else "mut"
    if pointer is found.base or f"*{word} {ctx.rust(found.type, node)}" == name:
        return pointer
    return Code(f"{pointer.at(CAST)} as {name}", CAST, pointer.effects, pointer=pointer.at(CAST))


PLACES: dict[str, Callable[[BodyContext, SyntaxNode], Lvalue]] = {
    "name": _variable,
    "member": _member,
    "subscript": _element,
    "string": _string,
    "compound_literal": _compound_literal,
}
