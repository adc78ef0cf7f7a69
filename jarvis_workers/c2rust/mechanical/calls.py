"""Calls, and functions as values."""

import re

from jarvis_workers.c2rust.mechanical.builtins import BUILTINS, library_name
from jarvis_workers.c2rust.mechanical.code import ATOM, Code
from jarvis_workers.c2rust.mechanical.context import BodyContext, decay, operand, present, target_of
from jarvis_workers.c2rust.mechanical.conversions import convert
from jarvis_workers.c2rust.mechanical.names import SymbolUse
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

REFUSED_CALLS = {
    **dict.fromkeys(("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext"), "setjmp"),
    **dict.fromkeys(("__builtin_setjmp", "__builtin_longjmp"), "setjmp"),
    **dict.fromkeys(("alloca", "__builtin_alloca", "__builtin_alloca_with_align"), "alloca"),
}
# clang names the function for a size: __sync_fetch_and_add_4.
SIZED = re.compile(r"(?<=[a-z])_(?:1|2|4|8|16)$")
REFUSED_PREFIXES = (("__builtin_va_", "va_list"), ("__c11_", "atomic"))


def call(ctx: BodyContext, node: SyntaxNode) -> Code:
    callee = operand(node)
    named = _named_function(ctx, callee)
    arguments = present(node.children[1:])
    if named is None:
        pointer = ctx.type_of(callee)
        function, values = target_of(pointer), ctx.value(callee).method("unwrap")
        if not function.prototyped:
            type_ = _given_type(ctx, node, arguments)
            values = Code(f"core::mem::transmute::<{ctx.rust(pointer)}, {type_}>({ctx.value(callee).text}).unwrap()")
        return _applied(ctx, values.at(ATOM) if values.level == ATOM else values.text, function, arguments)
    check_name(named)
    builtin = SIZED.sub("", named.name) if named.name.startswith("__sync_") else named.name
    if builtin in BUILTINS:
        return BUILTINS[builtin](ctx, node, arguments)
    if named.name.startswith(("__sync_", "__atomic_")):
        refuse("atomic", named)
    pointer = ctx.type_of(callee)
    function = target_of(pointer) if pointer.kind == "pointer" else pointer
    return _applied(ctx, _callee(ctx, node, named, function, arguments), function, arguments)


def _named_function(ctx: BodyContext, node: SyntaxNode) -> SyntaxNode | None:
    while node.kind in ("implicit_cast", "parentheses") or (node.kind == "unary" and node.operator in ("*", "&")):
        node = operand(node)
    is_function = node.kind == "name" and not node.local and node.target
    if not is_function:
        return None
    type_ = ctx.unit.types.get(node.type)
    return node if type_ is None or type_.kind in ("function", "other") else None


def check_name(node: SyntaxNode) -> None:
    reason = REFUSED_CALLS.get(node.name)
    reason = reason or next((one for prefix, one in REFUSED_PREFIXES if node.name.startswith(prefix)), None)
    if reason:
        refuse(reason, node)


def _callee(ctx: BodyContext, node: SyntaxNode, named: SyntaxNode, type_: CType, arguments: list[SyntaxNode]) -> str:
    name = mention(ctx, named, type_)
    declared = ctx.signature(named.target)
    called = ctx.rust(decay(type_), node) if type_.prototyped else _given_type(ctx, node, arguments)
    fits = type_.prototyped
    if declared is not None:
        fits = (declared.prototyped or type_.prototyped) and _declared_pointer(ctx, named, declared) == called
    return name if fits else f"core::mem::transmute::<*const (), {function_text(called)}>({name} as *const ())"


def _declared_pointer(ctx: BodyContext, node: SyntaxNode, type_: CType) -> str:
    """Return the type of a pointer to a function as declared in the crate, with the records of its own unit."""
    text, owner = ctx.rust(decay(type_), node), ctx.names.owners.get(node.target)
    return owner.rust_type(decay(type_)) if owner else text


def mention(ctx: BodyContext, node: SyntaxNode, type_: CType) -> str:
    """Record the use of a function, and return its Rust name."""
    name, key = node.name, node.target
    if name.startswith("__builtin_"):
        name = library_name(name) or refuse("builtin", node)
        key = f"c:@F@{name}"
    ctx.use(SymbolUse("function", key, name, type_))
    ctx.rust(decay(type_), node)
    return ctx.names.symbol(key, name)


def function_text(pointer: str) -> str:
    """Return the type of a function, given the type of an optional pointer to it."""
    return pointer.removeprefix("Option<").removesuffix(">")


def _given_type(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> str:
    """Return the type of a pointer to a function without a prototype, according to the arguments of this call."""
    parameters = tuple(ctx.type_of(one) for one in arguments)
    return ctx.rust(decay(CType("function", "", target=ctx.type_of(node), parameters=parameters)), node)


def _applied(ctx: BodyContext, callee: str, type_: CType, arguments: list[SyntaxNode]) -> Code:
    words = []
    for number, one in enumerate(arguments):
        code, given = ctx.value(one), ctx.type_of(one)
        if type_.prototyped and number < len(type_.parameters):
            words.append(convert(ctx, code, given, decay(type_.parameters[number]), one).short)
        else:
            words.append(code.text)
    return Code(f"{callee}({', '.join(words)})", ATOM, effects=True)


def function_value(ctx: BodyContext, node: SyntaxNode) -> Code:
    """Return a function as a pointer."""
    type_ = ctx.type_of(node)
    check_name(node)
    name, pointer = mention(ctx, node, type_), ctx.rust(decay(type_), node)
    declared = ctx.signature(node.target)
    if declared is not None and _declared_pointer(ctx, node, declared) != pointer:
        return Code(f"core::mem::transmute::<*const (), {pointer}>({name} as *const ())")
    return Code(f"Some({name} as {function_text(pointer)})", bare=f"Some({name})")
