"""Translate C definitions to Rust: functions, globals, and declarations of the symbols that stay in C."""

from collections.abc import Callable

from jarvis_workers.c2rust.mechanical.code import LINE_WIDTH, braces, indented, wrapped
from jarvis_workers.c2rust.mechanical.context import VOID, BodyContext, Parts, Unstructured, check_type, decay
from jarvis_workers.c2rust.mechanical.control_flow import diverges
from jarvis_workers.c2rust.mechanical.expressions import effect, value
from jarvis_workers.c2rust.mechanical.gotos import goto_counts
from jarvis_workers.c2rust.mechanical.machine import machine_lines
from jarvis_workers.c2rust.mechanical.names import Names, RustBody
from jarvis_workers.c2rust.mechanical.numbers import scalar
from jarvis_workers.c2rust.mechanical.refusals import Refusal, Refused, refuse
from jarvis_workers.c2rust.mechanical.statements import body, statement
from jarvis_workers.c2rust.mechanical.variables import parameter, static_item
from jarvis_workers.source.clang.c_types import CDefinition, CType, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

PARTS = Parts(value, effect, statement)


def translate_function(definition: CDefinition, unit: UnitDefinitions, names: Names) -> RustBody | Refusal:
    """Return the Rust function for a C function and the statics that it needs, or the reason why there is none."""
    return _refusable(lambda: _function(definition, unit, names), definition)


def translate_global(definition: CDefinition, unit: UnitDefinitions, names: Names) -> RustBody | Refusal:
    """Return the Rust static for a C global with its initial value, or the reason why there is none."""
    return _refusable(lambda: _global(definition, unit, names), definition)


def declaration(name: str, type_: CType, names: Names) -> str:
    """Return an item of an `extern "C"` block for a function or global.

    Raises ValueError for a type without a counterpart in Rust.
    """
    try:
        check_type(type_)
    except Refused as refused:
        raise ValueError(refused.refusal.reason) from refused
    if type_.kind != "function":
        return f"pub static mut {name}: {spelled(type_, names)};"
    words = [f"a{number}: {spelled(decay(one), names)}" for number, one in enumerate(type_.parameters)]
    if type_.variadic and type_.prototyped:
        words.append("...")
    result = type_.target or VOID
    return f"pub fn {name}({', '.join(words)}){'' if result.kind == 'void' else f' -> {spelled(result, names)}'};"


def spelled(type_: CType, names: Names) -> str:
    """Return the Rust spelling of a type in bodies."""
    return scalar(type_) or names.types.rust_type(type_)


def _refusable(translate: Callable[[], RustBody], definition: CDefinition) -> RustBody | Refusal:
    try:
        return translate()
    except Refused as refused:
        return refused.refusal._replace(line=refused.refusal.line or definition.extent.line)
    except Unstructured:
        return Refusal("label_in_expression", definition.extent.line)
    except RecursionError:
        return Refusal("deep_nesting", definition.extent.line)


def _function(definition: CDefinition, unit: UnitDefinitions, names: Names) -> RustBody:
    tree = definition.tree
    if definition.type.variadic and definition.type.prototyped:
        refuse("variadic", tree)
    try:
        return _translated(definition, unit, names, machine=False)
    except Unstructured:
        return _translated(definition, unit, names, machine=True)


def _context(definition: CDefinition, unit: UnitDefinitions, names: Names) -> BodyContext:
    ctx = BodyContext(unit, names, names.symbol(definition.key, definition.name), PARTS)
    ctx.taken.update(names.symbol(*one) for one in _mentioned(definition.tree))
    return ctx


def _mentioned(tree: SyntaxNode) -> set[tuple[str, str]]:
    """Return the keys and names of the functions and globals that a tree mentions."""
    remaining, found = [tree], set()
    while remaining:
        node = remaining.pop()
        if node.kind == "name" and node.target and node.value is None:
            found.add((node.target, node.name.removeprefix("__builtin_")))
        remaining.extend(child for child in node.children if child is not None)
    return found


def _translated(definition: CDefinition, unit: UnitDefinitions, names: Names, *, machine: bool) -> RustBody:
    ctx, tree = _context(definition, unit, names), definition.tree
    ctx.result = definition.type.target or VOID
    ctx.gotos = goto_counts([tree])
    parameters, lines = [], []
    for number, one in enumerate(child for child in tree.children if child is not None and child.kind == "parameter"):
        words, conversion = parameter(ctx, one, number, definition.type)
        parameters.append(words)
        lines += conversion
    inside = next((child for child in tree.children if child is not None and child.kind == "compound"), None)
    if inside is None:
        refuse("expression", tree)
    statements = machine_lines(ctx, inside) if machine else body(ctx, inside)
    if ctx.result.kind != "void" and not machine and not diverges(inside):
        statements.append("0" if definition.name == "main" else "core::mem::zeroed()")
    result = "" if ctx.result.kind == "void" else f" -> {ctx.rust(ctx.result, tree)}"
    head = f'pub unsafe extern "C" fn {ctx.symbol}({", ".join(parameters)}){result}'
    if len(head) > LINE_WIDTH:
        head = f'pub unsafe extern "C" fn {ctx.symbol}(\n{wrapped(parameters)}\n){result}'
    return _finished(ctx, braces(head, [*lines, *ctx.hoisted, *statements]))


def _global(definition: CDefinition, unit: UnitDefinitions, names: Names) -> RustBody:
    if definition.tree.operator == "thread_local":
        refuse("thread_local", definition.tree)
    ctx = _context(definition, unit, names)
    return _finished(ctx, static_item(ctx, ctx.symbol, definition.type, definition.tree, public=True))


def _finished(ctx: BodyContext, item: str) -> RustBody:
    uses = tuple(use for _, use in sorted(ctx.uses.items()))
    return RustBody(indented("\n".join([*ctx.items, item])) + "\n", uses)
