"""Builtins of gcc and clang: as expressions of Rust, or as the functions of the C library that they stand for."""

import math
import re

from jarvis_workers.c2rust.mechanical.atomics import ATOMICS, Builtin
from jarvis_workers.c2rust.mechanical.code import ATOM, BLOCK, COMPARE, Code, block, infix
from jarvis_workers.c2rust.mechanical.context import BodyContext, target_of
from jarvis_workers.c2rust.mechanical.conversions import convert
from jarvis_workers.c2rust.mechanical.numbers import INT, literal, scalar
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

# Functions of the C library that have a builtin of the same name and type.
LIBRARY = re.compile(
    r"(?:mem(?:cpy|move|set|cmp|chr|ccpy)|mempcpy|str(?:len|nlen|cpy|ncpy|cat|ncat|cmp|ncmp|chr|rchr|str|spn|cspn|pbrk|dup|"
    r"ndup|casecmp|ncasecmp)|stp(?:cpy|ncpy)|bcmp|bcopy|bzero|index|rindex|malloc|calloc|realloc|free|abort|exit|_exit|"
    r"abs|labs|llabs|put(?:s|char)|fput[sc]|fwrite|v?(?:f|s|sn)?printf|"
    r"(?:sqrt|cbrt|fabs|floor|ceil|round|trunc|rint|nearbyint|exp|exp2|expm1|log|log2|log10|log1p|sin|cos|tan|asin|acos|"
    r"atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|pow|hypot|fmod|remainder|fmin|fmax|fdim|fma|copysign|ldexp|frexp|modf|"
    r"scalbn|logb|ilogb|erf|erfc|tgamma|lgamma|l?lround|l?lrint|nextafter)f?|is(?:alpha|alnum|digit|space|upper|lower|"
    r"xdigit|print|punct|cntrl|graph|blank)|to(?:upper|lower))"
)


def library_name(builtin: str) -> str:
    """Return the function that a builtin stands for, "" if there is none; `__memcpy_chk` is one of glibc."""
    name = builtin.removeprefix("__builtin_")
    if name.startswith("__") and name.endswith("_chk"):
        return name
    return name if LIBRARY.fullmatch(name) else ""


def _first(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    return convert(ctx, ctx.value(arguments[0]), ctx.type_of(arguments[0]), ctx.type_of(node), node)


def _method(name: str, suffix: str = "") -> Builtin:
    def translate(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
        result = ctx.value(arguments[0]).method(name)
        type_ = scalar(ctx.type_of(node))
        return result if suffix == "same" else result.cast(type_)

    return translate


def _bits(template: str) -> Builtin:
    """A builtin in which `x` stands for its operand."""

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


def _constant(value: float) -> Builtin:
    return lambda ctx, node, _arguments: literal(value, ctx.type_of(node))


def _expression(text: str) -> Builtin:
    return lambda _ctx, _node, _arguments: Code(text, ATOM, effects=True)


def _constant_p(ctx: BodyContext, _node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    return literal(int(ctx.value(arguments[0]).value is not None), INT)


def _object_size(ctx: BodyContext, node: SyntaxNode, arguments: list[SyntaxNode]) -> Code:
    kind = ctx.value(arguments[1]).value or 0
    return literal(0 if int(kind) >= 2 else -1, ctx.type_of(node))


def _overflow(operator: str) -> Builtin:
    """`__builtin_add_overflow(a, b, &result)`, over types that may differ."""
    method = {"+": "add", "-": "sub", "*": "mul"}[operator]

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


def _with_suffixes(name: str, builtin: Builtin, *suffixes: str) -> dict[str, Builtin]:
    return {f"__builtin_{name}{suffix}": builtin for suffix in suffixes}


INTEGERS = ("", "l", "ll")
FLOATS = ("", "f")
BUILTINS: dict[str, Builtin] = {
    **ATOMICS,
    **_with_suffixes("expect", _first, "", "_with_probability"),
    **_with_suffixes("assume_aligned", _first, ""),
    **_with_suffixes("constant_p", _constant_p, ""),
    **_with_suffixes("choose_expr", _choose, ""),
    **_with_suffixes("object_size", _object_size, ""),
    **_with_suffixes("dynamic_object_size", _object_size, ""),
    **_with_suffixes("clz", _method("leading_zeros"), *INTEGERS),
    **_with_suffixes("ctz", _method("trailing_zeros"), *INTEGERS),
    **_with_suffixes("popcount", _method("count_ones"), *INTEGERS),
    **_with_suffixes("parity", _bits("(x.count_ones() & 1) as i32"), *INTEGERS),
    **_with_suffixes("ffs", _bits("if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 }"), *INTEGERS),
    **_with_suffixes("clrsb", _bits("((x ^ (x >> 1)).leading_zeros() as i32) - 1"), *INTEGERS),
    **_with_suffixes("bswap", _method("swap_bytes", "same"), "16", "32", "64"),
    **_with_suffixes("inf", _constant(math.inf), *FLOATS),
    **_with_suffixes("huge_val", _constant(math.inf), *FLOATS),
    **_with_suffixes("nan", _constant(math.nan), *FLOATS),
    **_with_suffixes("isnan", _method("is_nan"), *FLOATS),
    **_with_suffixes("isinf", _method("is_infinite"), *FLOATS),
    **_with_suffixes("isinf_sign", _bits("if x.is_infinite() { x.signum() as i32 } else { 0 }"), ""),
    **_with_suffixes("isfinite", _method("is_finite"), *FLOATS),
    **_with_suffixes("finite", _method("is_finite"), *FLOATS),
    **_with_suffixes("isnormal", _method("is_normal"), *FLOATS),
    **_with_suffixes("signbit", _method("is_sign_negative"), *FLOATS),
    **_with_suffixes("isgreater", _comparison(">"), ""),
    **_with_suffixes("isgreaterequal", _comparison(">="), ""),
    **_with_suffixes("isless", _comparison("<"), ""),
    **_with_suffixes("islessequal", _comparison("<="), ""),
    **_with_suffixes("fpclassify", _classified, ""),
    **_with_suffixes("isunordered", _unordered, ""),
    **_with_suffixes("unreachable", _expression("core::hint::unreachable_unchecked()"), ""),
    **_with_suffixes("trap", _expression("std::process::abort()"), ""),
    **_with_suffixes("prefetch", _nothing, ""),
    **_with_suffixes("add_overflow", _overflow("+"), ""),
    **_with_suffixes("sub_overflow", _overflow("-"), ""),
    **_with_suffixes("mul_overflow", _overflow("*"), ""),
    **{
        f"__builtin_{sign}{operation}{suffix}_overflow": _overflow(symbol)
        for sign in "su"
        for operation, symbol in (("add", "+"), ("sub", "-"), ("mul", "*"))
        for suffix in INTEGERS
    },
}
