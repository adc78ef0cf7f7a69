"""Atomic operations of gcc and clang on integers and pointers, always sequentially consistent."""

from collections.abc import Callable

from jarvis_workers.c2rust.mechanical.arithmetic import METHODS
from jarvis_workers.c2rust.mechanical.assignments import convert
from jarvis_workers.c2rust.mechanical.code import Code, block, infix
from jarvis_workers.c2rust.mechanical.context import BodyContext, scalar, target_of
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

Builtin = Callable[[BodyContext, SyntaxNode, list[SyntaxNode]], Code]

ORDER = "core::sync::atomic::Ordering::SeqCst"
OPERATIONS = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
LARGEST = 8


def _cell(ctx: BodyContext, node: SyntaxNode) -> tuple[str, CType]:
    """Return the atomic cell that a pointer points to, and the type of its value."""
    type_ = target_of(ctx.type_of(node))
    name = scalar(type_)
    if name in ("", "bool", "f32", "f64") or type_.size > LARGEST:
        refuse("atomic", node)
    kind = f"Atomic{name[0].upper()}{name[1:]}"
    pointer = ctx.value(node)
    return f"core::sync::atomic::{kind}::from_ptr({pointer.text} as *mut {name})", type_


def _operand(ctx: BodyContext, node: SyntaxNode, type_: CType) -> Code:
    return convert(ctx, ctx.value(node), ctx.type_of(node), type_, node)


def _called(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode], method: str, value: int = 1) -> Code:
    cell, type_ = _cell(ctx, arguments[0])
    words = "" if method == "load" else f"{_operand(ctx, arguments[value], type_).short}, "
    return Code(f"{cell}.{method}({words}{ORDER})", effects=True)


def _simple(method: str, value: int) -> Builtin:
    """An operation whose operand is the argument `value`; for `__atomic_*` it comes after the memory order."""
    return lambda ctx, node, arguments: _called(ctx, node, arguments, method, value)


def _updated(operation: str, value: int) -> Builtin:
    """`__sync_add_and_fetch` and similar builtins, which return the new value."""

    def translate(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
        cell, type_ = _cell(ctx, arguments[0])
        name, symbol = ctx.temporary(), OPERATIONS[operation]
        let = f"let {name} = {_operand(ctx, arguments[value], type_).text};"
        before = Code(f"{cell}.fetch_{operation}({name}, {ORDER})", effects=True)
        after = before.method(METHODS[symbol], Code(name)) if symbol in METHODS else infix(before, symbol, Code(name))
        return block([let], after)

    return translate


def _swapped(result: str) -> Builtin:
    """`__sync_bool_compare_and_swap(pointer, old, new)` and `__sync_val_compare_and_swap`."""

    def translate(ctx: BodyContext, _node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
        cell, type_ = _cell(ctx, arguments[0])
        old, new = (_operand(ctx, one, type_).short for one in arguments[1:3])
        return Code(f"{cell}.compare_exchange({old}, {new}, {ORDER}, {ORDER}){result}", effects=True)

    return translate


def _fence(_ctx: BodyContext, _node: SyntaxNode, _arguments: list[SyntaxNode]) -> Code:
    return Code(f"core::sync::atomic::fence({ORDER})", effects=True)


ATOMICS: dict[str, Builtin] = {
    "__atomic_load_n": _simple("load", 0),
    "__atomic_store_n": _simple("store", 2),
    "__atomic_exchange_n": _simple("swap", 2),
    **{f"__atomic_fetch_{name}": _simple(f"fetch_{name}", 2) for name in OPERATIONS},
    **{f"__atomic_{name}_fetch": _updated(name, 2) for name in OPERATIONS},
    **{f"__sync_fetch_and_{name}": _simple(f"fetch_{name}", 1) for name in OPERATIONS},
    **{f"__sync_{name}_and_fetch": _updated(name, 1) for name in OPERATIONS},
    "__sync_lock_test_and_set": _simple("swap", 1),
    "__sync_bool_compare_and_swap": _swapped(".is_ok()"),
    "__sync_val_compare_and_swap": _swapped(".unwrap_or_else(|old| old)"),
    "__sync_synchronize": _fence,
    "__atomic_thread_fence": _fence,
}
