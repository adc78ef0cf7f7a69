"""Local variables: declared in place, hoisted if a jump passes the declaration, and items if static."""

import re
from dataclasses import replace

from jarvis_workers.c2rust.mechanical.code import Code, braces
from jarvis_workers.c2rust.mechanical.context import BodyContext, decay, present
from jarvis_workers.c2rust.mechanical.conversions import convert
from jarvis_workers.c2rust.mechanical.initializers import initial_value, zero
from jarvis_workers.c2rust.mechanical.numbers import ARITHMETIC
from jarvis_workers.c2rust.mechanical.refusals import REFUSALS, refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

# A value of an item that needs no `unsafe` block.
SAFE = re.compile(r"[\w\s\[\],.;-]*")


def declaration_statements(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    return [line for one in present(node.children) if one.kind == "variable" for line in _variable(ctx, one)]


def _variable(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    if node.operator in REFUSALS:
        refuse(node.operator, node)
    if node.operator == "extern" or not node.local:
        return []
    type_ = ctx.type_of(node)
    rust = ctx.rust(type_, node)
    initializer = node.children[0] if node.children else None
    if node.operator == "static":
        name = ctx.fresh(f"{ctx.symbol.removeprefix('r#')}_static_{node.name}")
        ctx.taken.add(name)
        ctx.locals[node.local] = name
        ctx.items.append(static_item(ctx, name, type_, node, public=False))
        return []
    hoist = ctx.hoisting
    name = ctx.declare(node, hoist=hoist)
    if not hoist and initializer is not None and not _mentions(initializer, node.local):
        return [f"let mut {name}: {rust} = {initial_value(ctx, type_, initializer).short};"]
    zeroed = f"let mut {name}: {rust} = {zero(ctx, type_).short};"
    if hoist:
        ctx.hoisted.append(zeroed)
    assigned = [] if initializer is None else [f"{name} = {initial_value(ctx, type_, initializer).short};"]
    return assigned if hoist else [zeroed, *assigned]


def _mentions(node: SyntaxNode, local: int) -> bool:
    return any(one.local == local for one in walk(node))


def static_item(ctx: BodyContext, name: str, type_: CType, node: SyntaxNode, *, public: bool) -> str:
    """Return the items of a variable with static storage: first those that its initialiser needs."""
    initializer = node.children[0] if node.children else None
    static, ctx.static = ctx.static, True
    value = zero(ctx, type_) if initializer is None else initial_value(ctx, type_, initializer)
    ctx.static = static
    head = f"{'pub ' if public else ''}static mut {name}: {ctx.rust(type_, node)} ="
    if SAFE.fullmatch(value.short) or value.short == "None":
        return f"{head} {value.short};"
    if "\n" in value.text:
        return braces(f"{head} unsafe", [value.short]) + ";"
    return f"{head} unsafe {{ {value.short} }};"


def parameter(ctx: BodyContext, node: SyntaxNode, number: int, function: CType) -> tuple[str, list[str]]:
    """Return a parameter, and the statements that convert it, since callers of a K&R function pass promoted values."""
    written = decay(ctx.type_of(node))
    passed = written
    if function.prototyped and number < len(function.parameters):
        passed = decay(function.parameters[number])
    type_ = written if passed.kind in ARITHMETIC else passed
    ctx.parameters[node.local] = type_
    name = ctx.declare(node if node.name else replace(node, name=f"unnamed_{number}"), hoist=True)
    rust = ctx.rust(type_, node)
    if ctx.rust(passed, node) == rust:
        return f"mut {name}: {rust}", []
    converted = convert(ctx, Code(name), passed, type_, node)
    return f"{name}: {ctx.rust(passed, node)}", [f"let mut {name}: {rust} = {converted.text};"]
