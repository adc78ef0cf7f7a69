"""Builtins of gcc and clang, translated to Rust expressions or to the equivalent functions of the C library."""

import json
import re
from collections.abc import Callable
from importlib.resources import files

from jarvis_workers.c2rust.mechanical.assignments import convert
from jarvis_workers.c2rust.mechanical.atomics import ATOMICS, Builtin
from jarvis_workers.c2rust.mechanical.code import ATOM, BLOCK, COMPARE, Code, block, infix
from jarvis_workers.c2rust.mechanical.context import (
    INT,
    BodyContext,
    decay,
    literal,
    operand,
    present,
    scalar,
    target_of,
)
from jarvis_workers.c2rust.mechanical.names import SymbolUse
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

_DATA = json.loads(files(__package__).joinpath("builtins.json").read_text("utf-8"))
# Functions of the C library that have a builtin of the same name and type.
LIBRARY = frozenset(_DATA["library"])


def library_name(builtin: str) -> str:
    """Return the C library function equivalent to a builtin, or "" if none; `__memcpy_chk` is a function of glibc."""
    name = builtin.removeprefix("__builtin_")
    if name.startswith("__") and name.endswith("_chk"):
        return name
    return name if name in LIBRARY else ""


def _first(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    return convert(ctx, ctx.value(arguments[0]), ctx.type_of(arguments[0]), ctx.type_of(node), node)


def _method(name: str) -> Builtin:
    return lambda ctx, node, arguments: ctx.value(arguments[0]).method(name).cast(scalar(ctx.type_of(node)))


def _same(name: str) -> Builtin:
    """A method whose result has the type of the operand."""
    return lambda ctx, _node, arguments: ctx.value(arguments[0]).method(name)


def _bits(template: str) -> Builtin:
    """A builtin as a Rust template, in which `x` is the operand."""

    def translate(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
        name = ctx.temporary()
        let = f"let {name} = {ctx.value(arguments[0]).text};"
        return block([let], Code(re.sub(r"\bx\b", name, template), COMPARE))

    return translate


def _comparison(operator: str) -> Builtin:
    return lambda ctx, _node, arguments: infix(ctx.value(arguments[0]), operator, ctx.value(arguments[1])).cast("i32")


def _unordered(ctx: BodyContext, _node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    left, right = (ctx.value(one).method("is_nan") for one in arguments)
    return infix(left, "|", right).cast("i32")


def _constant(value: str) -> Builtin:
    return lambda ctx, node, _arguments: literal(float(value), ctx.type_of(node))


def _expression(text: str) -> Builtin:
    return lambda _ctx, _node, _arguments: Code(text, ATOM, effects=True)


def _constant_p(ctx: BodyContext, _node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    return literal(int(ctx.value(arguments[0]).value is not None), INT)


def _object_size(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    kind = ctx.value(arguments[1]).value or 0
    return literal(0 if int(kind) >= 2 else -1, ctx.type_of(node))


def _overflow(method: str) -> Builtin:
    """`__builtin_add_overflow(a, b, &result)`, over types that may differ."""

    def translate(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
        if len(arguments) != 3:
            refuse("builtin", node)
        left, right, pointer = (ctx.value(one) for one in arguments)
        types = [ctx.type_of(arguments[0]), ctx.type_of(arguments[1]), target_of(ctx.type_of(arguments[2]))]
        names = [scalar(one) for one in types]
        value, over = ctx.temporary(), ctx.temporary()
        if len(set(names)) == 1:
            let = f"let ({value}, {over}) = {left.at(ATOM)}.overflowing_{method}({right.short});"
            result, overflows = value, Code(over)
        else:
            let = f"let ({value}, {over}) = ({left.text} as i128).overflowing_{method}({right.text} as i128);"
            result = f"{value} as {names[2]}"
            overflows = Code(f"({over} || {result} as i128 != {value})")
        type_ = scalar(ctx.type_of(node))
        return block([let, f"*{pointer.at(ATOM)} = {result};"], overflows if type_ == "bool" else overflows.cast(type_))

    return translate


def _nothing(_ctx: BodyContext, _node: SyntaxNode, _arguments: list[SyntaxNode]) -> Code:
    return Code("()")


def _choose(ctx: BodyContext, _node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    value = ctx.value(arguments[0]).value
    if value is None:
        refuse("builtin", arguments[0])
    return ctx.value(arguments[1 if value else 2])


def _classified(ctx: BodyContext, _node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    """`__builtin_fpclassify(nan, infinite, normal, subnormal, zero, x)`."""
    nan, infinite, normal, subnormal, zero = (ctx.value(one).text for one in arguments[:5])
    name = ctx.temporary()
    tests = (("is_nan()", nan), ("is_infinite()", infinite), ("is_normal()", normal), ("abs() > 0.0", subnormal))
    text = "".join(f"if {name}.{test} {{ {value} }} else " for test, value in tests)
    return block([f"let {name} = {ctx.value(arguments[5]).text};"], Code(f"{text}{{ {zero} }}", BLOCK))


# How builtins are translated, by the first words of the rows in builtins.json: created for the second word, or alike.
MADE: dict[str, Callable[[str], Builtin]] = {
    **{"method": _method, "same": _same, "template": _bits, "constant": _constant, "expression": _expression},
    **{"comparison": _comparison, "overflow": _overflow},
}
ALIKE: dict[str, Builtin] = {
    **{"first": _first, "constant_p": _constant_p, "choose": _choose, "object_size": _object_size},
    **{"classified": _classified, "unordered": _unordered, "nothing": _nothing},
}
BUILTINS: dict[str, Builtin] = {
    **ATOMICS,
    **{
        f"__builtin_{name}": MADE[kind](word) if kind in MADE else ALIKE[kind]
        for kind, word, names in _DATA["builtins"]
        for name in names
    },
}


# Calls, and functions as values.

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
