"""Evaluate names (variables, fields of `this`, macros and functions) and addresses."""

from jarvis_workers.dataflow.expressions.evaluate import array_of, evaluate, evaluates, field_array
from jarvis_workers.dataflow.expressions.lvalues import is_this, place_of, place_of_variable, set_from_here
from jarvis_workers.dataflow.ir.expr import (
    STRINGS,
    ZERO,
    AddressExpr,
    ArrowExpr,
    BinaryExpr,
    Expression,
    IndexExpr,
    InitListExpr,
    MemberExpr,
    NameExpr,
    SizeofExpr,
)
from jarvis_workers.dataflow.ir.stmt import FunctionMacro, GlobalVariable
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.queries.ast_queries import items_in, without_casts
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.sizes import CONSTANTS, is_in_units
from jarvis_workers.dataflow.state.types import is_row, key_of, type_of
from jarvis_workers.dataflow.state.values import ANY, NOT_NULL, Object, Value, number, point_to

MACROS_DEEP = 8
SOME_SIZE = Value((1, None))


@evaluates(NameExpr)
def _variable(path: PathState, e: NameExpr) -> Value:
    name, frame = e.name, path.frame
    local = frame.types.get(name)
    if local is None:
        return _not_local(path, e)
    place = local.place if name not in frame.references else place_of_variable(path, name)
    if local.is_array and place[1] == "" and place[0] in path.objects:
        return point_to(place[0])
    value = path.cells.get(place, ANY)
    return set_from_here(path, place, value, e) if value.unset else value


def _not_local(path: PathState, e: NameExpr) -> Value:
    name = e.name
    if is_this(path, e):
        return path.frame.this
    constant = _constant(path, e)
    if constant is not None:
        return constant
    place = place_of_variable(path, name)
    value = path.cells.get(place)
    if value is None:
        return _outer(path, name)
    return set_from_here(path, place, value, e) if value.unset else value


def _constant(path: PathState, e: NameExpr) -> Value | None:
    """Return the value of a name that is a field of `this`, a macro or a library constant."""
    name, this = e.name, path.frame.this.target
    if this and (this, "." + name) in path.cells:
        return path.cells[this, "." + name]
    machine = path.machine
    macro = machine.macro(name) if name in machine.macros or name.isupper() else None
    if (
        macro is not None
        and not isinstance(macro, FunctionMacro)
        and macro != e
        and machine.mode.macros_open < MACROS_DEEP
    ):
        before, machine.mode = machine.mode, machine.mode.in_macro()
        value = evaluate(path, macro)
        machine.mode = before
        return value
    constant = CONSTANTS.get(name)
    return number(constant) if constant is not None else None


def _outer(path: PathState, name: str) -> Value:
    """Return the value of a name that is not a local variable: a constant, an array or a function."""
    machine = path.machine
    made = machine.globals.get(name)
    if made is not None:
        if made.dims:
            return _outer_array(path, name)
        return evaluate(path, made.init) if "c" in made.flags else ANY
    if name.isupper():
        return Value(kind="#" + name)
    if name in LIBRARY or name in machine.functions or machine.function_elsewhere(name):
        return Value(code=name, null=NOT_NULL)
    return ANY


def _outer_array(path: PathState, name: str) -> Value:
    key = key_of(path, name)
    if key not in path.objects:
        made = path.machine.globals[name]
        element = path.machine.size_of(made.type)
        count = _length_of(path, made)
        size = count * element if count is not None and len(made.dims) == 1 else None
        path.objects[key] = Object("static", size=(size, size), element=element, name=name)
    return point_to(key)


def _length_of(path: PathState, made: GlobalVariable) -> int | None:
    """Return the number of elements of an array; that of its initializer if it is declared without."""
    dim = made.dims[0]
    if dim is not None:
        length = evaluate(path, dim).range
        return length[0] if is_exact(length) else None
    return items_in(made.init) if isinstance(made.init, InitListExpr) else None


@evaluates(AddressExpr)
def _address(path: PathState, e: AddressExpr) -> Value:
    inner, machine = e.operand, path.machine
    if isinstance(inner, NameExpr) and (inner.name in machine.functions or _is_function(path, inner.name)):
        return Value(code=inner.name, null=NOT_NULL)
    before, machine.mode = machine.mode, machine.mode.at_address(True)
    if isinstance(inner, IndexExpr):
        value = evaluate(path, BinaryExpr("b", "+", inner.base, inner.subscript))
        machine.mode = before
        return value._replace(null=NOT_NULL) if value.target else ANY
    place = place_of(path, inner)
    machine.mode = before
    if place is None and _begins_at_zero(inner):
        # A number, even if the layout of the struct is unknown.
        offset = _offset_from_zero(path, inner)
        return number(offset) if offset is not None else Value((0, None), checked=True)
    array = field_array(path, inner, place)
    if array is not None:
        return array
    if isinstance(inner, NameExpr) and path.frame.is_array(inner.name) and place is not None:
        return point_to(place[0])
    return Value(target=place[0], null=NOT_NULL, code=place[1] or None) if place is not None else Value(null=NOT_NULL)


def _begins_at_zero(e: Expression) -> bool:
    while isinstance(e, (ArrowExpr, MemberExpr)):
        e = without_casts(e.base)
    return e == ZERO


def _offset_from_zero(path: PathState, e: Expression) -> int | None:
    """Return the offset of a member of an object at the address 0; None for any other place."""
    kind = type_of(path, e.base) if isinstance(e, (ArrowExpr, MemberExpr)) else None
    layout = path.machine.layout_of(kind.rstrip("*")) if kind else None
    if layout is None or not isinstance(e, (ArrowExpr, MemberExpr)) or e.member not in layout.fields:
        return None
    before = 0 if without_casts(e.base) == ZERO else _offset_from_zero(path, e.base)
    return before + layout.fields[e.member][0] if before is not None else None


def _is_function(path: PathState, name: str) -> bool:
    machine = path.machine
    return name not in path.frame.types and name not in machine.globals and machine.function_elsewhere(name) is not None


@evaluates(SizeofExpr)
def _sizeof(path: PathState, e: SizeofExpr) -> Value:
    machine, inner = path.machine, e.operand
    if e.type:
        return _size_of_name(path, e.type)
    if isinstance(inner, NameExpr):
        name = inner.name
        local = path.frame.types.get(name)
        if local is None and name in machine.globals and machine.globals[name].dims:
            _outer_array(path, name)
        memory = path.objects.get(key_of(path, name))
        if memory is not None and (local is None or local.is_array):
            return Value(memory.size)
        if local is None and name not in machine.globals:
            # A macro has given a type for a parameter, or it is a macro itself.
            return _size_of_name(path, name)
    if isinstance(inner, STRINGS):
        return number((inner.length + 1) * (4 if inner.wide else 1))
    array = array_of(path, inner) if inner is not None else None
    if array is not None:
        return Value(array[1])
    kind = type_of(path, inner) if inner is None or not is_row(path, inner) else None
    return number(machine.size_of(kind)) if kind else SOME_SIZE


def _size_of_name(path: PathState, name: str) -> Value:
    """Return the size of a type; a name that is no type may be a macro, such as that of a string."""
    machine = path.machine
    size = machine.size_of(name)
    if not is_in_units(size) or not name.isidentifier() or machine.mode.macros_open >= MACROS_DEEP:
        return number(size)
    macro = machine.macro(name)
    if macro is None:
        return number(size)
    if isinstance(macro, FunctionMacro):
        return SOME_SIZE
    before, machine.mode = machine.mode, machine.mode.in_macro()
    value = _sizeof(path, machine.once(macro, lambda: SizeofExpr("z", None, macro)))
    machine.mode = before
    return value
