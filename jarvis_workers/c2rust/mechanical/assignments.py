"""Assignments, compound assignments and increments, as statements and as values."""

from dataclasses import replace

from jarvis_workers.c2rust.mechanical.arithmetic import SHIFTS, arithmetic, incremented, offset
from jarvis_workers.c2rust.mechanical.code import Code, block
from jarvis_workers.c2rust.mechanical.context import BodyContext, is_transparent, operand
from jarvis_workers.c2rust.mechanical.conversions import convert
from jarvis_workers.c2rust.mechanical.numbers import ARITHMETIC, common, promoted
from jarvis_workers.c2rust.mechanical.places import Lvalue, bit_width, place
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

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
