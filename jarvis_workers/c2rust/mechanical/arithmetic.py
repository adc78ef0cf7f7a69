"""Arithmetic that wraps around on overflow, as in compiled C."""

from jarvis_workers.c2rust.mechanical.code import ATOM, Code, infix
from jarvis_workers.c2rust.mechanical.context import is_floating, is_signed
from jarvis_workers.source.clang.c_types import CType

METHODS = {"+": "wrapping_add", "-": "wrapping_sub", "*": "wrapping_mul", "/": "wrapping_div", "%": "wrapping_rem"}
SHIFTS = {"<<": "wrapping_shl", ">>": "wrapping_shr"}


def arithmetic(operator: str, left: Code, right: Code, type_: CType) -> Code:
    """Return an operation on two operands of the same type; the right operand of a shift is an integer of any type."""
    if operator in SHIFTS:
        return _shift(operator, left, right, type_)
    if is_floating(type_) or operator in ("&", "|", "^"):
        return infix(left, operator, right)
    if operator in ("/", "%") and (not is_signed(type_) or right.value not in (None, 0, -1)):
        return infix(left, operator, right)
    return left.method(METHODS[operator], right)


def _shift(operator: str, left: Code, right: Code, type_: CType) -> Code:
    if right.value is not None:
        return infix(left, operator, Code(str(int(right.value) % (type_.size * 8))))
    return left.method(SHIFTS[operator], right.cast("u32"))


def offset(pointer: Code, number: Code, type_: CType, *, minus: bool = False) -> Code:
    """Return a pointer plus or minus a number of elements, of type `type_`."""
    if number.value is not None:
        value = -int(number.value) if minus else int(number.value)
        if value == 0:
            return pointer
        return pointer.method("wrapping_add" if value > 0 else "wrapping_sub", Code(str(abs(value))))
    if not is_signed(type_):
        return pointer.method("wrapping_sub" if minus else "wrapping_add", number.cast("usize"))
    step = number.cast("isize")
    return pointer.method("wrapping_offset", step.method("wrapping_neg") if minus else step)


def incremented(old: Code, type_: CType, *, minus: bool) -> Code:
    """Return a value incremented or decremented by one."""
    if type_.kind == "bool":
        return Code(f"!{old.at(ATOM)}", effects=old.effects) if minus else Code("true", value=1)
    if is_floating(type_):
        return infix(old, "-" if minus else "+", Code("1.0"))
    return old.method("wrapping_sub" if minus else "wrapping_add", Code("1"))
