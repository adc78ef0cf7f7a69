"""Statements: structured statements one to one, `goto` and fall-through as labelled blocks and loops."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from jarvis_workers.c2rust.mechanical.assignments import convert, negated
from jarvis_workers.c2rust.mechanical.code import Code, braces
from jarvis_workers.c2rust.mechanical.context import (
    ARITHMETIC,
    BodyContext,
    JumpTarget,
    Unstructured,
    decay,
    operand,
    present,
)
from jarvis_workers.c2rust.mechanical.control_flow import (
    constant_truth,
    diverges,
    has_continue,
    is_endless,
    labelled,
    switch,
)
from jarvis_workers.c2rust.mechanical.expressions import condition
from jarvis_workers.c2rust.mechanical.gotos import Interval, intervals
from jarvis_workers.c2rust.mechanical.initializers import initial_value, zero
from jarvis_workers.c2rust.mechanical.names import rust_label
from jarvis_workers.c2rust.mechanical.refusals import REFUSALS, refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

# Local variables: declared in place, hoisted if a jump passes the declaration, and items if static.

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


def statement(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    """Return the lines of a statement."""
    translate = STATEMENTS.get(node.kind)
    return ctx.effect(node) if translate is None else translate(ctx, node)


def _compound(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    return [braces("", body(ctx, node))]


def body(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    """Return the lines of a statement without its enclosing braces."""
    with ctx.scope():
        return sequence(ctx, present(node.children) if node.kind == "compound" else [node])


def sequence(ctx: BodyContext, nodes: Sequence[SyntaxNode], *, hoist: bool = False) -> list[str]:
    """Return the lines of consecutive statements; with `hoist`, their variables are declared outside of them."""
    labels: list[list[str]] = []
    statements: list[SyntaxNode] = []
    for node in nodes:
        labels.append([])
        inner = node
        while inner.kind == "label":
            labels[-1].append(inner.name)
            inner = labelled(inner)
        statements.append(inner)
    blocks = intervals(labels, statements, ctx.gotos) if any(labels) else []
    hoisting, ctx.hoisting = ctx.hoisting, hoist or any(labels)
    lines = _emit(ctx, statements, (0, len(statements)), blocks)
    ctx.hoisting = hoisting
    return lines


def _emit(
    ctx: BodyContext, statements: Sequence[SyntaxNode], span: tuple[int, int], blocks: Sequence[Interval]
) -> list[str]:
    lines: list[str] = []
    at, end = span
    while at < end:
        starting = [one for one in blocks if one.start == at and one.end <= end]
        if not starting:
            lines += _plain(ctx, statements[at])
            at += 1
            continue
        first = starting[0]
        inside = [one for one in blocks if one is not first]
        target = JumpTarget(rust_label(first.label), loop=first.loop)
        with ctx.target(target):
            inner = _emit(ctx, statements, (at, first.end), inside)
        if first.loop and not diverges(statements[first.end - 1]):
            inner.append(f"break {target.label};")
        lines.append(braces(f"{target.label}:{' loop' if first.loop else ''}", inner))
        at = first.end
    return lines


def _plain(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    """Translate a statement; `hoist` applies to its own declarations, not to those of nested statements."""
    if node.kind == "declaration":
        return statement(ctx, node)
    hoisting, ctx.hoisting = ctx.hoisting, False
    lines = statement(ctx, node)
    ctx.hoisting = hoisting
    return lines


def _if(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    text, chain = "", node
    while True:
        text += braces(f"if {condition(ctx, operand(chain)).text}", body(ctx, operand(chain, 1)))
        otherwise = chain.children[2] if len(chain.children) > 2 else None
        if otherwise is None:
            return [text]
        if otherwise.kind != "if":
            return [braces(f"{text} else", body(ctx, otherwise))]
        text, chain = f"{text} else ", otherwise


def loop_label(ctx: BodyContext, stem: str) -> str:
    ctx.numbers[stem] = ctx.numbers.get(stem, 0) + 1
    return f"'{stem}_{ctx.numbers[stem]}"


def _head(target: JumpTarget, words: str) -> str:
    return f"{target.label}: {words}".rstrip() if target.mentioned else words


def _while(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    head = "loop" if is_endless(node) else f"while {condition(ctx, operand(node)).text}"
    target = JumpTarget(loop_label(ctx, "loop"), loop=True, breaks=True, continues=True)
    with ctx.target(target):
        lines = body(ctx, operand(node, 1))
    return [braces(_head(target, head), lines)]


def _do(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    inner, tested = operand(node), operand(node, 1)
    if constant_truth(tested) is False:
        once = JumpTarget(loop_label(ctx, "once"), breaks=True, continues=True)
        with ctx.target(once):
            lines = body(ctx, inner)
        return [braces(_head(once, ""), lines)]
    target = JumpTarget(loop_label(ctx, "loop"), loop=True, breaks=True)
    if is_endless(node):
        target.continues = True
        with ctx.target(target):
            lines = body(ctx, inner)
        return [braces(_head(target, "loop"), lines)]
    lines = _continued(ctx, target, inner)
    lines.append(braces(f"if {negated(condition(ctx, tested)).text}", ["break;"]))
    return [braces(_head(target, "loop"), lines)]


def _continued(ctx: BodyContext, target: JumpTarget, node: SyntaxNode) -> list[str]:
    """Return the lines of a loop body; `continue` jumps to their end."""
    if not has_continue(node):
        with ctx.target(target):
            return body(ctx, node)
    following = JumpTarget(loop_label(ctx, "next"), continues=True)
    with ctx.target(target, following):
        return [braces(f"{following.label}:", body(ctx, node))]


def _for(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    first, tested, last, inner = node.children
    with ctx.scope():
        lines = [] if first is None else statement(ctx, first)
        head = "loop" if tested is None or is_endless(node) else f"while {condition(ctx, tested).text}"
        target = JumpTarget(loop_label(ctx, "loop"), loop=True, breaks=True)
        if inner is None:
            refuse("expression", node)
        if last is None:
            target.continues = True
            with ctx.target(target):
                inside = body(ctx, inner)
        else:
            inside = [*_continued(ctx, target, inner), *ctx.effect(last)]
        return [*lines, braces(_head(target, head), inside)]


def _jump(word: str) -> Callable[[BodyContext, SyntaxNode], list[str]]:
    def translate(ctx: BodyContext, node: SyntaxNode) -> list[str]:
        for target in reversed(ctx.targets):
            if target.breaks if word == "break" else target.continues:
                return [_words(ctx, word if target.loop else "break", target)]
        return refuse("expression", node)

    return translate


def _words(ctx: BodyContext, word: str, target: JumpTarget) -> str:
    """Return `break` or `continue` to a target, with its label unless it is the innermost."""
    if target.code:
        return target.code
    if target is ctx.targets[-1] and target.loop:
        return f"{word};"
    target.mentioned = True
    return f"{word} {target.label};"


def _goto(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    label = rust_label(node.name)
    for target in reversed(ctx.targets):
        if target.label == label:
            return [_words(ctx, "continue" if target.loop else "break", target)]
    if ctx.machine is None:
        raise Unstructured
    return [jump_to(ctx.machine.state_of(node.name))]


def jump_to(state: int | str) -> str:
    return f"state = {state};\ncontinue 'machine;"


def _computed_goto(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    if ctx.machine is None:
        raise Unstructured
    return [jump_to(f"{ctx.value(operand(node)).cast('usize').text} as u32")]


def _return(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    if not node.children:
        return ["return;" if ctx.result.kind == "void" else "return core::mem::zeroed();"]
    given = ctx.type_of(operand(node))
    if ctx.result.kind == "void" or given.kind == "void":
        return [*ctx.effect(operand(node)), "return;"]
    return [f"return {convert(ctx, ctx.value(operand(node)), given, ctx.result, node).short};"]


def _refused(ctx: BodyContext, node: SyntaxNode) -> list[str]:
    if node.kind == "asm":
        refuse("inline_asm", node)
    if node.kind == "unknown":
        refuse("expression", node)
    raise Unstructured


STATEMENTS: dict[str, Callable[[BodyContext, SyntaxNode], list[str]]] = {
    "compound": _compound,
    "declaration": declaration_statements,
    "if": _if,
    "while": _while,
    "do": _do,
    "for": _for,
    "switch": lambda ctx, node: switch(ctx, node, sequence),
    "break": _jump("break"),
    "continue": _jump("continue"),
    "goto": _goto,
    "computed_goto": _computed_goto,
    "return": _return,
    "null": lambda _ctx, _node: [],
    "type": lambda _ctx, _node: [],
    "function": lambda _ctx, _node: [],
    "label": lambda ctx, node: sequence(ctx, [node]),
    **dict.fromkeys(("case", "default", "asm", "unknown"), _refused),
}
