"""Conditions: C expressions that are used as truth values, translated to `bool`."""

from jarvis_workers.c2rust.mechanical.assignments import COMPARISONS
from jarvis_workers.c2rust.mechanical.code import Code, infix
from jarvis_workers.c2rust.mechanical.context import BodyContext, is_transparent, operand, plain, uncast
from jarvis_workers.c2rust.mechanical.conversions import convert, negated, truth
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

LOGICAL = ("&&", "||")


def condition(ctx: BodyContext, node: SyntaxNode) -> Code:
    """Return the Rust condition that an expression is not zero."""
    inner = plain(node)
    truthful = _truth_value(inner)
    if truthful is None:
        return truth(ctx.value(inner), ctx.type_of(inner))
    if truthful.operator == "!":
        return negated(condition(ctx, operand(truthful)))
    if truthful.operator in LOGICAL:
        left, right = condition(ctx, operand(truthful)), condition(ctx, operand(truthful, 1))
        return infix(left, truthful.operator, right)
    return _comparison(ctx, truthful)


def is_condition(node: SyntaxNode) -> bool:
    """Return whether this is an operator whose value is 0 or 1."""
    if node.kind == "binary":
        return node.operator in COMPARISONS or node.operator in LOGICAL
    return node.kind == "unary" and node.operator == "!"


def _truth_value(node: SyntaxNode) -> SyntaxNode | None:
    """Return the operator with value 0 or 1 inside parentheses, implicit casts and `__builtin_expect`."""
    while not is_condition(node):
        if node.kind == "implicit_cast" or is_transparent(node):
            node = operand(node)
        elif node.kind == "call" and uncast(operand(node)).name == "__builtin_expect":
            node = operand(node, 1)
        else:
            return None
    return node


def _comparison(ctx: BodyContext, node: SyntaxNode) -> Code:
    first, second = operand(node), operand(node, 1)
    if node.operator in ("==", "!="):
        for pointer, other in ((first, second), (second, first)):
            if ctx.type_of(pointer).kind == "pointer" and is_null(ctx, other):
                code = truth(ctx.value(pointer), ctx.type_of(pointer))
                return code if node.operator == "!=" else negated(code)
    left, right = ctx.type_of(first), ctx.type_of(second)
    code, other_code = ctx.value(first), convert(ctx, ctx.value(second), right, left, node)
    return infix(code, node.operator, other_code)


def is_null(ctx: BodyContext, node: SyntaxNode) -> bool:
    """Return whether this is a null pointer constant."""
    inner = uncast(node)
    return inner.kind == "integer" and inner.value == 0 and ctx.type_of(inner).kind == "integer"
