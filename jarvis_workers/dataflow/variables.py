"""Evaluate names (variables, fields of `this`, macros and functions) and addresses."""

from jarvis_workers.dataflow.evaluate import evaluate, evaluates
from jarvis_workers.dataflow.field_arrays import array_of, field_array
from jarvis_workers.dataflow.ir.expr import STRINGS, AddressExpr, BinaryExpr, IndexExpr, NameExpr, SizeofExpr
from jarvis_workers.dataflow.ir.stmt import FunctionMacro
from jarvis_workers.dataflow.lvalues import place_of, place_of_variable, set_or_reported
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.sizes import CONSTANTS
from jarvis_workers.dataflow.types import key_of, type_of
from jarvis_workers.dataflow.values import ANY, NOT_NULL, Object, Value, number, point_to

MACROS_DEEP = 8
VARIABLE_UNSET = 0.85


@evaluates(NameExpr)
def _variable(path: PathState, e: NameExpr) -> Value:
    name, frame = e.name, path.frame
    if name == "this":
        return frame.this
    local = frame.types.get(name)
    if local is None:
        constant = _constant(path, e)
        if constant is not None:
            return constant
    place = local.place if local is not None and name not in frame.references else place_of_variable(path, name)
    if local is not None and local.is_array and place[1] == "" and place[0] in path.objects:
        return point_to(place[0])
    value = path.cells.get(place)
    if value is None:
        return ANY if local is not None else _outer(path, name)
    return set_or_reported(path, place, value, e, VARIABLE_UNSET) if value.unset else value


def _constant(path: PathState, e: NameExpr) -> Value | None:
    """Return the value of a name that is a field of `this`, a macro or a library constant."""
    name, this = e.name, path.frame.this.target
    if this and (this, "." + name) in path.cells:
        return path.cells[this, "." + name]
    machine = path.machine
    macro = machine.macro(name) if name in machine.macros or name.isupper() else None
    if macro is not None and not isinstance(macro, FunctionMacro) and macro != e and machine.macros_open < MACROS_DEEP:
        machine.macros_open += 1
        value = evaluate(path, macro)
        machine.macros_open -= 1
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
    if name in machine.functions or machine.function_elsewhere(name):
        return Value(code=name, null=NOT_NULL)
    return ANY


def _outer_array(path: PathState, name: str) -> Value:
    key = key_of(path, name)
    if key not in path.objects:
        made = path.machine.globals[name]
        element = path.machine.size_of(made.type)
        count, *_ = [evaluate(path, dim).range[0] if dim is not None else None for dim in made.dims[:1]]
        size = count * element if count is not None and len(made.dims) == 1 else None
        path.objects[key] = Object("static", size=(size, size), element=element, name=name)
    return point_to(key)


@evaluates(AddressExpr)
def _address(path: PathState, e: AddressExpr) -> Value:
    inner, machine = e.operand, path.machine
    if isinstance(inner, NameExpr) and (inner.name in machine.functions or _is_function(path, inner.name)):
        return Value(code=inner.name, null=NOT_NULL)
    before, machine.addressing = machine.addressing, True
    if isinstance(inner, IndexExpr):
        value = evaluate(path, BinaryExpr("b", "+", inner.base, inner.subscript))
        machine.addressing = before
        return value._replace(null=NOT_NULL) if value.target else ANY
    place = place_of(path, inner)
    machine.addressing = before
    array = field_array(path, inner, place)
    if array is not None:
        return array
    if place is None:
        return Value(null=NOT_NULL)
    if isinstance(inner, NameExpr) and path.frame.is_array(inner.name):
        return point_to(place[0])
    return Value(target=place[0], null=NOT_NULL, code=place[1] or None)


def _is_function(path: PathState, name: str) -> bool:
    machine = path.machine
    return name not in path.frame.types and name not in machine.globals and machine.function_elsewhere(name) is not None


@evaluates(SizeofExpr)
def _sizeof(path: PathState, e: SizeofExpr) -> Value:
    machine, inner = path.machine, e.operand
    if e.type:
        return number(machine.size_of(e.type))
    if isinstance(inner, NameExpr):
        memory = path.objects.get(key_of(path, inner.name))
        if memory is not None and (inner.name not in path.frame.types or path.frame.is_array(inner.name)):
            return Value(memory.size)
        if inner.name not in path.frame.types and inner.name not in machine.globals:
            # A macro has given a type for a parameter.
            return number(machine.size_of(inner.name))
    if isinstance(inner, STRINGS):
        return number((inner.length + 1) * (4 if inner.wide else 1))
    array = array_of(path, inner) if inner is not None else None
    if array is not None:
        return Value(array[1])
    kind = type_of(path, inner)
    return number(machine.size_of(kind)) if kind else Value((1, None))
