"""Builtins of gcc and clang, translated to Rust expressions or to the equivalent functions of the C library."""

import json
import re
from collections.abc import Callable
from importlib.resources import files

from jarvis_workers.c2rust.mechanical.atomics import ATOMICS, Builtin
from jarvis_workers.c2rust.mechanical.code import ATOM, BLOCK, COMPARE, Code, block, infix
from jarvis_workers.c2rust.mechanical.context import BodyContext, target_of
from jarvis_workers.c2rust.mechanical.conversions import convert
from jarvis_workers.c2rust.mechanical.numbers import INT, literal, scalar
from jarvis_workers.c2rust.mechanical.refusals import refuse
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
