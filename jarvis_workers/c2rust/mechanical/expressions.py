"""Expressions: one translator per kind of node, for its value or only for its effect."""

from collections.abc import Callable

from jarvis_workers.c2rust.mechanical.arithmetic import arithmetic, offset
from jarvis_workers.c2rust.mechanical.assignments import (
    COMPARISONS,
    INCREMENTS,
    assigned_value,
    assignment,
    convert,
    increment,
    incremented_value,
    is_assignment,
    negated,
    null,
    truth,
)
from jarvis_workers.c2rust.mechanical.builtins import BUILTINS, call, check_name, function_value
from jarvis_workers.c2rust.mechanical.code import ATOM, UNARY, Code, block, braces, choice, infix
from jarvis_workers.c2rust.mechanical.context import (
    ARRAYS,
    INT,
    BodyContext,
    Unstructured,
    decay,
    is_floating,
    is_function_pointer,
    is_transparent,
    literal,
    operand,
    plain,
    present,
    scalar,
    target_of,
    uncast,
)
from jarvis_workers.c2rust.mechanical.initializers import initial_value
from jarvis_workers.c2rust.mechanical.places import address, decayed_pointer, place
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

# Conditions: C expressions that are used as truth values, translated to `bool`.

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


def value(ctx: BodyContext, node: SyntaxNode) -> Code:
    """Return the value of an expression."""
    return VALUES.get(node.kind, _unknown)(ctx, node)


def effect(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    """Return the statements of an expression whose value is not used."""
    inner = plain(node)
    if is_assignment(inner) or (inner.kind == "unary" and inner.operator in INCREMENTS):
        return assignment(ctx, inner) if inner.kind == "binary" else increment(ctx, inner)
    if inner.kind == "cast" and ctx.type_of(inner).kind == "void":
        return effect(ctx, operand(inner))
    if inner.kind == "binary" and inner.operator == ",":
        return [*effect(ctx, operand(inner)), *effect(ctx, operand(inner, 1))]
    if inner.kind == "statement_expression":
        return ctx.statement(operand(inner))
    branching = inner.kind == "conditional" or inner.operator in ("&&", "||")
    statements = _branches(ctx, inner) if branching else None
    return _evaluated(ctx.value(inner)) if statements is None else statements


def _evaluated(code: Code) -> list[str]:
    words = "" if code.level == ATOM else "let _ = "
    return [f"{words}{code.text};"] if code.effects else []


def _branches(ctx: BodyContext, node: SyntaxNode) -> list[str] | None:
    """Return `a ? b : c`, `a && b` or `a || b` as a statement; None if that has no effect."""
    if len(node.children) == 2 and node.kind == "conditional":
        return None
    tested = condition(ctx, operand(node))
    if node.kind != "conditional":
        tested = tested if node.operator == "&&" else negated(tested)
        lines = effect(ctx, operand(node, 1))
        return [braces(f"if {tested.text}", lines)] if lines else None
    first, second = effect(ctx, operand(node, 1)), effect(ctx, operand(node, 2))
    if not first and not second:
        return None
    text = braces(f"if {tested.text}", first)
    return [braces(f"{text} else", second) if second else text]


def _unknown(_ctx: BodyContext, node: SyntaxNode) -> Code:
    if node.kind == "va_arg":
        refuse("va_list", node)
    return refuse("expression", node)


def _literal(ctx: BodyContext, node: SyntaxNode) -> Code:
    if node.value is None:
        refuse("vla" if node.kind == "sizeof" else "expression", node)
    type_ = ctx.type_of(node)
    if type_.kind == "other":
        ctx.rust(type_, node)
    return literal(node.value, type_)


def _name(ctx: BodyContext, node: SyntaxNode) -> Code:
    if node.value is not None:
        return _literal(ctx, node)
    if not node.local and ctx.type_of(node).kind == "function":
        return function_value(ctx, node)
    return _read(ctx, node)


def _read(ctx: BodyContext, node: SyntaxNode) -> Code:
    ctx.rust(ctx.type_of(node), node)
    return place(ctx, node).read()


def _inner(ctx: BodyContext, node: SyntaxNode) -> Code:
    return ctx.value(operand(node))


def _unary(ctx: BodyContext, node: SyntaxNode) -> Code:
    operator, inner = node.operator, operand(node)
    if operator in INCREMENTS:
        return incremented_value(ctx, node)
    if operator == "*":
        return ctx.value(inner) if ctx.type_of(node).kind == "function" else _read(ctx, node)
    if operator == "&":
        pointer = ctx.type_of(node)
        return ctx.value(inner) if is_function_pointer(pointer) else address(ctx, inner, pointer)
    if operator == "!":
        return _as_int(negated(condition(ctx, inner)))
    return _signed(ctx, node, ctx.value(inner), ctx.type_of(node))


def _signed(ctx: BodyContext, node: SyntaxNode, code: Code, type_: CType) -> Code:
    ctx.rust(type_, node)
    if node.operator == "-":
        if code.value is not None:
            return literal(-code.value, type_)
        return Code(f"-{code.at(UNARY)}", UNARY, code.effects) if is_floating(type_) else code.method("wrapping_neg")
    if node.operator == "~":
        if code.value is not None:
            return literal(~int(code.value), type_)
        return Code(f"!{code.at(UNARY)}", UNARY, code.effects)
    if node.operator in ("__real", "__imag"):
        refuse("complex", node)
    return code if node.operator in ("+", "__extension__") else refuse("expression", node)


def _as_int(code: Code) -> Code:
    return literal(code.value, INT) if code.value is not None else code.cast("i32")


def _binary(ctx: BodyContext, node: SyntaxNode) -> Code:
    operator, first, second = node.operator, operand(node), operand(node, 1)
    if operator == ",":
        return block(ctx.effect(first), ctx.value(second))
    if is_condition(node):
        return _as_int(condition(ctx, node))
    if is_assignment(node):
        return assigned_value(ctx, node)
    return _calculation(ctx, node, first, second)


def _calculation(ctx: BodyContext, node: SyntaxNode, first: SyntaxNode, second: SyntaxNode) -> Code:
    left, right, type_ = ctx.type_of(first), ctx.type_of(second), ctx.type_of(node)
    ctx.rust(type_, node)
    if left.kind == "pointer" and right.kind == "pointer":
        return _difference(ctx, first, second, type_)
    if left.kind == "pointer":
        return offset(ctx.value(first), ctx.value(second), right, minus=node.operator == "-")
    if right.kind == "pointer":
        return offset(ctx.value(second), ctx.value(first), left)
    if not scalar(left):
        refuse("cast", node)
    return arithmetic(node.operator, ctx.value(first), ctx.value(second), type_)


def _difference(ctx: BodyContext, first: SyntaxNode, second: SyntaxNode, type_: CType) -> Code:
    pointee = target_of(ctx.type_of(first))
    size = 1 if pointee.kind in ("void", "function") else pointee.size
    if size < 1:
        refuse("type", first)
    distance = ctx.value(first).cast("isize").method("wrapping_sub", ctx.value(second).cast("isize"))
    return (infix(distance, "/", Code(str(size))) if size > 1 else distance).cast(scalar(type_))


def _conditional(ctx: BodyContext, node: SyntaxNode) -> Code:
    type_ = ctx.type_of(node)
    branches = [operand(node, 1), operand(node, len(node.children) - 1)]
    if type_.kind == "void":
        return block([*effect(ctx, node)], Code("()"))
    values = [convert(ctx, ctx.value(one), ctx.type_of(one), type_, one) for one in branches]
    if len(node.children) > 2:
        return choice(condition(ctx, operand(node)), *values)
    first, given = operand(node), ctx.type_of(operand(node))
    name = ctx.temporary()
    chosen = convert(ctx, Code(name), given, type_, node)
    return block([f"let {name} = {ctx.value(first).text};"], choice(truth(Code(name), given), chosen, values[1]))


def _cast(ctx: BodyContext, node: SyntaxNode) -> Code:
    inner, type_ = operand(node), ctx.type_of(node)
    if type_.kind == "void":
        return block(ctx.effect(inner), Code("()"))
    if type_.kind == "pointer" and is_null(ctx, inner):
        return Code("None") if is_function_pointer(type_) else null(ctx.rust(type_, node))
    given = ctx.type_of(inner)
    if given.kind in ARRAYS:
        if type_.kind != "pointer":
            refuse("cast", node)
        return decayed_pointer(ctx, inner, target_of(given), ctx.rust(type_, node))
    if type_.kind == "bool":
        return condition(ctx, inner)
    return convert(ctx, ctx.value(inner), decay(given), type_, node)


def _statement_expression(ctx: BodyContext, node: SyntaxNode) -> Code:
    statements = present(operand(node).children)
    with ctx.scope():
        if ctx.type_of(node).kind == "void" or not statements:
            lines = [line for one in statements for line in ctx.statement(one)]
            return block(lines, Code("()"))
        if any(one.kind in ("label", "case", "default") for one in statements):
            refuse("label_in_expression", node)
        lines = [line for one in statements[:-1] for line in ctx.statement(one)]
        return block(lines, ctx.value(statements[-1]))


def _compound_literal(ctx: BodyContext, node: SyntaxNode) -> Code:
    type_ = ctx.type_of(node)
    ctx.rust(type_, node)
    return initial_value(ctx, type_, operand(node, len(node.children) - 1))


def _initializers(ctx: BodyContext, node: SyntaxNode) -> Code:
    return initial_value(ctx, ctx.type_of(node), node)


def _generic(ctx: BodyContext, node: SyntaxNode) -> Code:
    if node.value is not None:
        return _literal(ctx, node)
    chosen = [one for one in present(node.children[1:]) if one.type == node.type]
    return ctx.value(chosen[0]) if len(chosen) == 1 else refuse("expression", node)


def _builtin(ctx: BodyContext, node: SyntaxNode) -> Code:
    check_name(node)
    if node.name not in BUILTINS:
        refuse("atomic" if "atomic" in node.name else "builtin", node)
    return BUILTINS[node.name](ctx, node, present(node.children))


def _address_of_label(ctx: BodyContext, node: SyntaxNode) -> Code:
    if ctx.machine is None:
        raise Unstructured
    return Code(f"{ctx.machine.state_of(node.name)}usize").cast(ctx.rust(ctx.type_of(node), node))


VALUES: dict[str, Callable[[BodyContext, SyntaxNode], Code]] = {
    **dict.fromkeys(("integer", "floating", "character", "sizeof"), _literal),
    **dict.fromkeys(("member", "subscript", "string"), _read),
    **dict.fromkeys(("cast", "implicit_cast"), _cast),
    "name": _name,
    "parentheses": _inner,
    "unary": _unary,
    "binary": _binary,
    "call": call,
    "conditional": _conditional,
    "statement_expression": _statement_expression,
    "compound_literal": _compound_literal,
    "initializers": _initializers,
    "generic": _generic,
    "builtin": _builtin,
    "address_of_label": _address_of_label,
}
