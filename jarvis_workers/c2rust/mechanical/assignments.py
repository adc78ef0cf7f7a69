"""Assignments, compound assignments and increments, as statements and as values."""

from dataclasses import replace

from jarvis_workers.c2rust.mechanical.arithmetic import SHIFTS, arithmetic, incremented, offset
from jarvis_workers.c2rust.mechanical.code import ATOM, BLOCK, CAST, COMPARE, UNARY, Code, block, infix
from jarvis_workers.c2rust.mechanical.context import (
    ARITHMETIC,
    BodyContext,
    common,
    is_floating,
    is_function_pointer,
    is_transparent,
    literal,
    operand,
    promoted,
    scalar,
)
from jarvis_workers.c2rust.mechanical.places import Lvalue, bit_width, place
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

# Conversions between C types, made explicit in Rust.

# A float that is out of range wraps around in a wider register, as on the machines that C runs on.
THROUGH = {"u8": "i32", "i8": "i32", "u16": "i32", "i16": "i32", "u32": "i64"}


def convert(ctx: BodyContext, code: Code, source: CType, to: CType, node: SyntaxNode) -> Code:
    """Return an expression of type `source` as one of type `to`."""
    if to.kind == "void":
        return Code(f"{{ {code.text}; }}", BLOCK, code.effects)
    name = ctx.rust(to, node)
    if ctx.rust(source, node) == name:
        return code
    if code.value is not None:
        return _constant(code.value, to, name, node)
    if to.kind in ARITHMETIC and (source.kind in ARITHMETIC or to.kind == "bool"):
        return _number(code, source, to)
    if is_function_pointer(source) or is_function_pointer(to):
        return _function(ctx, code, source, to, name, node)
    return _pointer(ctx, code, source, to, name, node)


def _constant(value: float, to: CType, name: str, node: SyntaxNode) -> Code:
    if to.kind in ARITHMETIC:
        return literal(value, to)
    if to.kind != "pointer":
        refuse("cast", node)
    if is_function_pointer(to):
        return Code("None", value=None if value else 0) if not value else _address(int(value), name)
    if value:
        return Code(f"{int(value) % (1 << 64)}usize as {name}", CAST)
    return null(name)


def _address(value: int, name: str) -> Code:
    return Code(f"core::mem::transmute::<usize, {name}>({value % (1 << 64)})")


def null(name: str) -> Code:
    """Return the null pointer of a Rust type."""
    kind, _, pointee = name.partition(" ")
    function = "null_mut" if kind == "*mut" else "null"
    return Code(f"core::ptr::{function}::<{pointee}>()", bare=f"core::ptr::{function}()")


def _number(code: Code, source: CType, to: CType) -> Code:
    name = scalar(to)
    if name == "bool":
        return truth(code, source)
    if source.kind == "bool" and is_floating(to):
        return code.cast("u8").cast(name)
    if is_floating(source) and name in THROUGH:
        return code.cast(THROUGH[name]).cast(name)
    return code.cast(name)


def _function(ctx: BodyContext, code: Code, source: CType, to: CType, name: str, node: SyntaxNode) -> Code:
    if to.kind in ARITHMETIC:
        if ctx.static:
            refuse("initializer", node)
        number = Code(f"core::mem::transmute::<{ctx.rust(source)}, usize>({code.text})", ATOM, code.effects)
        return number if name == "usize" else number.cast(name)
    if source.kind in ARITHMETIC:
        return Code(f"core::mem::transmute::<usize, {name}>({code.cast('usize').text})", ATOM, code.effects)
    if source.kind != "pointer" or to.kind != "pointer":
        refuse("cast", node)
    return Code(f"core::mem::transmute::<{ctx.rust(source)}, {name}>({code.text})", ATOM, code.effects)


def _pointer(ctx: BodyContext, code: Code, source: CType, to: CType, name: str, node: SyntaxNode) -> Code:
    if to.kind == "pointer" and source.kind == "pointer":
        pointer = code.pointer or code.at(CAST)
        return Code(f"{pointer} as {name}", CAST, code.effects, pointer=pointer)
    if to.kind in ARITHMETIC and source.kind == "pointer":
        if ctx.static:
            refuse("initializer", node)
        return code.cast(name)
    if source.kind in ARITHMETIC and to.kind == "pointer":
        return (code if scalar(source) == "usize" else code.cast("usize")).cast(name)
    return refuse("cast", node)


def truth(code: Code, type_: CType) -> Code:
    """Return the Rust condition that a value is not zero."""
    if code.value is not None:
        return Code("true" if code.value else "false", value=int(bool(code.value)))
    if type_.kind == "bool":
        return code
    if is_function_pointer(type_):
        return code.method("is_some")
    if type_.kind == "pointer":
        return Code(f"!{code.at(ATOM)}.is_null()", UNARY, code.effects)
    return infix(code, "!=", literal(0, type_))


def negated(condition: Code) -> Code:
    """Return `!condition`, without the negation if the condition is negated already."""
    if condition.value is not None:
        return Code("false" if condition.value else "true", value=int(not condition.value))
    if condition.level == UNARY and condition.text.startswith("!"):
        return Code(condition.text[1:], ATOM, condition.effects)
    if condition.negation:
        return Code(condition.negation, COMPARE, condition.effects)
    return Code(f"!{condition.at(ATOM)}", UNARY, condition.effects)


COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
INCREMENTS = ("x++", "x--", "++", "--")


def is_assignment(node: SyntaxNode) -> bool:
    return node.kind == "binary" and node.operator.endswith("=") and node.operator not in COMPARISONS


def assignment(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    """Return the statements of an assignment whose value is not used."""
    if node.operator != "=":
        return _update(ctx, node)[0]
    found = place(ctx, operand(node))
    statements, code = _chained(ctx, operand(node, 1))
    return [*statements, found.write(code)]


def _chained(ctx: BodyContext, node: SyntaxNode) -> tuple[list[str], Code]:
    """Return the value of the right side; a nested assignment is emitted first."""
    inner, casts = node, []
    while inner.kind == "implicit_cast" or is_transparent(inner):
        casts.append(inner)
        inner = operand(inner)
    if not is_assignment(inner) or inner.operator != "=":
        return [], ctx.value(node)
    found = place(ctx, operand(inner))
    if not found.twice or found.type.volatile or found.bits:
        return [], ctx.value(node)
    code, type_ = found.read(), found.type
    for one in reversed(casts):
        code, type_ = convert(ctx, code, type_, ctx.type_of(one), one), ctx.type_of(one)
    return assignment(ctx, inner), code


def assigned_value(ctx: BodyContext, node: SyntaxNode) -> Code:
    """Return the value of an assignment, which is the new value of its left side."""
    if node.operator != "=":
        statements, found = _update(ctx, node)
        return block(statements, found.read())
    found = place(ctx, operand(node))
    statements, code = _chained(ctx, operand(node, 1))
    if found.bits:
        statements, found = _stable(ctx, found, statements)
        return block([*statements, found.write(code)], found.read())
    if found.twice and not found.type.volatile:
        return block([*statements, found.write(code)], found.read())
    name = ctx.temporary()
    type_ = ctx.rust(found.type, node)
    return block([*statements, f"let {name}: {type_} = {code.short};", found.write(Code(name))], Code(name))


def _stable(ctx: BodyContext, found: Lvalue, statements: list[str]) -> tuple[list[str], Lvalue]:
    """Return a place that can be evaluated twice, after these statements."""
    if found.twice or not found.dereferenced:
        return statements, found
    name = ctx.temporary()
    return [*statements, f"let {name} = {found.base.text};"], replace(found, base=Code(name))


def _update(ctx: BodyContext, node: SyntaxNode) -> tuple[list[str], Lvalue]:
    """Return the statements of a compound assignment, and the place."""
    target, amount = operand(node), operand(node, 1)
    statements: list[str] = []
    code, given = ctx.value(amount), ctx.type_of(amount)
    # Compilers evaluate the right side first; it may change the left one.
    if code.effects:
        name = ctx.temporary()
        statements, code = [f"let {name} = {code.text};"], Code(name)
    statements, found = _stable(ctx, place(ctx, target), statements)
    operator, type_ = node.operator[:-1], found.type
    if type_.kind == "pointer":
        result = offset(found.read(), code, given, minus=operator == "-")
    elif type_.kind in ARITHMETIC and given.kind in ARITHMETIC:
        computed = promoted(type_, bit_width(ctx, target))
        if operator not in SHIFTS:
            computed = common(computed, promoted(given))
            code = convert(ctx, code, given, computed, node)
        left = convert(ctx, found.read(), type_, computed, node)
        result = convert(ctx, arithmetic(operator, left, code, computed), computed, type_, node)
    else:
        refuse("cast", node)
    return [*statements, found.write(result)], found


def increment(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    """Return the statements of an increment or decrement whose value is not used."""
    statements, found = _stable(ctx, place(ctx, operand(node)), [])
    return [*statements, found.write(incremented(found.read(), found.type, minus="-" in node.operator))]


def incremented_value(ctx: BodyContext, node: SyntaxNode) -> Code:
    if not node.operator.startswith("x"):
        statements, found = _stable(ctx, place(ctx, operand(node)), [])
        result = incremented(found.read(), found.type, minus="-" in node.operator)
        return block([*statements, found.write(result)], found.read())
    statements, found = _stable(ctx, place(ctx, operand(node)), [])
    old = Code(ctx.temporary())
    statements.append(f"let {old.text} = {found.read().text};")
    return block([*statements, found.write(incremented(old, found.type, minus="-" in node.operator))], old)
