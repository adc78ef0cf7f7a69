"""Conversions between C types, made explicit in Rust."""

from jarvis_workers.c2rust.mechanical.code import ATOM, BLOCK, CAST, COMPARE, UNARY, Code, infix
from jarvis_workers.c2rust.mechanical.context import BodyContext, is_function_pointer
from jarvis_workers.c2rust.mechanical.numbers import ARITHMETIC, is_floating, literal, scalar
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

# A float that is out of range wraps around in a wider register, as on the machines that C runs on.
THROUGH = {"u8": "i32", "i8": "i32", "u16": "i32", "i16": "i32", "u32": "i64"}


def convert(ctx: BodyContext, code: Code, source: CType, to: CType, node: SyntaxNode) -> Code:
    """Return an expression of type `source` as one of type `to`."""
    if to.kind == "void":
        return Code(f"{{ {code.text}; }}", BLOCK, code.effects)
    name = ctx.rust(to, node)
    if ctx.rust(source, node) == name:
        return code
    if code.value is not None:
        return _constant(code.value, to, name, node)
    if to.kind in ARITHMETIC and (source.kind in ARITHMETIC or to.kind == "bool"):
        return _number(code, source, to)
    if is_function_pointer(source) or is_function_pointer(to):
        return _function(ctx, code, source, to, name, node)
    return _pointer(ctx, code, source, to, name, node)


def _constant(value: float, to: CType, name: str, node: SyntaxNode) -> Code:
    if to.kind in ARITHMETIC:
        return literal(value, to)
    if to.kind != "pointer":
        refuse("cast", node)
    if is_function_pointer(to):
        return Code("None", value=None if value else 0) if not value else _address(int(value), name)
    if value:
        return Code(f"{int(value) % (1 << 64)}usize as {name}", CAST)
    return null(name)


def _address(value: int, name: str) -> Code:
    return Code(f"core::mem::transmute::<usize, {name}>({value % (1 << 64)})")


def null(name: str) -> Code:
    """Return the null pointer of a Rust type."""
    kind, _, pointee = name.partition(" ")
    function = "null_mut" if kind == "*mut" else "null"
    return Code(f"core::ptr::{function}::<{pointee}>()", bare=f"core::ptr::{function}()")


def _number(code: Code, source: CType, to: CType) -> Code:
    name = scalar(to)
    if name == "bool":
        return truth(code, source)
    if source.kind == "bool" and is_floating(to):
        return code.cast("u8").cast(name)
    if is_floating(source) and name in THROUGH:
        return code.cast(THROUGH[name]).cast(name)
    return code.cast(name)


def _function(ctx: BodyContext, code: Code, source: CType, to: CType, name: str, node: SyntaxNode) -> Code:
    if to.kind in ARITHMETIC:
        if ctx.static:
            refuse("initializer", node)
        number = Code(f"core::mem::transmute::<{ctx.rust(source)}, usize>({code.text})", ATOM, code.effects)
        return number if name == "usize" else number.cast(name)
    if source.kind in ARITHMETIC:
        return Code(f"core::mem::transmute::<usize, {name}>({code.cast('usize').text})", ATOM, code.effects)
    if source.kind != "pointer" or to.kind != "pointer":
        refuse("cast", node)
    return Code(f"core::mem::transmute::<{ctx.rust(source)}, {name}>({code.text})", ATOM, code.effects)


def _pointer(ctx: BodyContext, code: Code, source: CType, to: CType, name: str, node: SyntaxNode) -> Code:
    if to.kind == "pointer" and source.kind == "pointer":
        pointer = code.pointer or code.at(CAST)
        return Code(f"{pointer} as {name}", CAST, code.effects, pointer=pointer)
    if to.kind in ARITHMETIC and source.kind == "pointer":
        if ctx.static:
            refuse("initializer", node)
        return code.cast(name)
    if source.kind in ARITHMETIC and to.kind == "pointer":
        return (code if scalar(source) == "usize" else code.cast("usize")).cast(name)
    return refuse("cast", node)


def truth(code: Code, type_: CType) -> Code:
    """Return the Rust condition that a value is not zero."""
    if code.value is not None:
        return Code("true" if code.value else "false", value=int(bool(code.value)))
    if type_.kind == "bool":
        return code
    if is_function_pointer(type_):
        return code.method("is_some")
    if type_.kind == "pointer":
        return Code(f"!{code.at(ATOM)}.is_null()", UNARY, code.effects)
    return infix(code, "!=", literal(0, type_))


def negated(condition: Code) -> Code:
    """Return `!condition`, without the negation if the condition is negated already."""
    if condition.value is not None:
        return Code("false" if condition.value else "true", value=int(not condition.value))
    if condition.level == UNARY and condition.text.startswith("!"):
        return Code(condition.text[1:], ATOM, condition.effects)
    if condition.negation:
        return Code(condition.negation, COMPARE, condition.effects)
    return Code(f"!{condition.at(ATOM)}", UNARY, condition.effects)
