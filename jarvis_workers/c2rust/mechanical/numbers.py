"""C arithmetic types: their Rust names, literals, integer promotions and usual conversions (C11 6.3.1)."""

import math
from ctypes import c_float

from jarvis_workers.c2rust.mechanical.code import ATOM, UNARY, Code
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType

INT = CType("integer", "int", 4, 4, signed=True)
ARITHMETIC = ("bool", "integer", "enum", "floating")
FLOATS = {4: "f32", 8: "f64"}


def scalar(type_: CType) -> str:
    """Return the Rust name of an arithmetic type, or "" for any other type."""
    if type_.kind == "enum":
        return scalar(type_.target) if type_.target else "u32"
    if type_.kind == "integer":
        return f"{'i' if type_.signed else 'u'}{type_.size * 8}"
    if type_.kind == "floating":
        return FLOATS.get(type_.size) or refuse("floating_type")
    return "bool" if type_.kind == "bool" else ""


def is_floating(type_: CType) -> bool:
    return type_.kind == "floating"


def is_signed(type_: CType) -> bool:
    return scalar(type_).startswith("i")


def promoted(type_: CType, width: int = 0) -> CType:
    """Return the type after the integer promotions; `width` is that of a bit-field."""
    if type_.kind == "floating":
        return type_
    if type_.kind == "enum" and type_.target:
        return promoted(type_.target, width)
    if type_.size < INT.size or 0 < width < INT.size * 8:
        return INT
    return type_


def common(left: CType, right: CType) -> CType:
    """Return the common type of the operands of an operator, both promoted."""
    floats = [one for one in (left, right) if is_floating(one)]
    if floats:
        return max(floats, key=lambda one: one.size)
    return max((left, right), key=lambda one: (one.size, not one.signed))


def literal(value: float, type_: CType) -> Code:
    """Return a constant of an arithmetic type; integers wrap around."""
    name = scalar(type_)
    if name == "bool":
        return Code("true" if value else "false", value=int(bool(value)))
    if is_floating(type_):
        return _floating(c_float(value).value if name == "f32" else float(value), name)
    number = _wrapped(int(value) if math.isfinite(value) else 0, type_)
    return Code(f"{number}{name}", UNARY if number < 0 else ATOM, value=number, bare=str(number))


def _floating(value: float, name: str) -> Code:
    if math.isnan(value):
        return Code(f"{name}::NAN", value=value)
    if math.isinf(value):
        return Code(f"{name}::{'NEG_' if value < 0 else ''}INFINITY", value=value)
    digits = repr(value)
    if "e" not in digits and "." not in digits:
        digits += ".0"
    level = UNARY if digits.startswith("-") else ATOM
    return Code(f"{digits}{name}" if "e" in digits or "." in digits else digits, level, value=value, bare=digits)


def _wrapped(value: int, type_: CType) -> int:
    bits = (type_.target.size if type_.kind == "enum" and type_.target else type_.size) * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed(type_) and value >> (bits - 1) else value
