"""Resolve lvalues to cells, and load from them.

A variable is an object of its own: `frame:name` for a local variable, `g:name` for any other.  A cell is `[offset]`
for an element of an array, `.f` for a field, and `[]` for all elements of a container; `&` holds the target of a
reference.
"""

from collections.abc import Callable
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import Access, on_access, on_outside_dereference, on_unknown_access, on_unset_value
from jarvis_workers.dataflow.expressions.evaluate import FIELDS, array_of, evaluate, evaluates, field_array
from jarvis_workers.dataflow.expressions.value_numbering import recalled
from jarvis_workers.dataflow.memory.contents import loaded, read, written
from jarvis_workers.dataflow.memory.extents import check_member
from jarvis_workers.dataflow.memory.outside import ADDRESS, byte_pointer
from jarvis_workers.dataflow.memory.pointers import dereferenced, used_after_free
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact, plus, times
from jarvis_workers.dataflow.state.types import element_size, is_own_member, key_of, type_of
from jarvis_workers.dataflow.state.values import (
    ANY,
    MEMORY,
    NOT_NULL,
    UNKNOWN,
    Object,
    Place,
    Value,
    number,
)

VARIABLES = frozenset((ir.NameExpr, ir.MemberExpr, ir.ArrowExpr))
NOT_LOOKED_UP = (0, UNKNOWN)
FIRST = number(0)
MOVED = frozenset((ir.CastExpr, ir.UpdateExpr, ir.BinaryExpr))
NULLS = frozenset((ir.NumberExpr, ir.NullExpr))
# The cell of an element at an unknown offset of a buffer that this function only reads.
SOMEWHERE = "[?]"
THIS = ir.NameExpr("v", "this")


def place_of(path: PathState, e: ir.Expression) -> Place | None:
    """Return the cell of an lvalue, or None if it is unknown; the memory accesses on the way are checked."""
    if type(e) is ir.NameExpr:
        return place_of_variable(path, e.name)
    find = PLACES.get(type(e))
    return find(path, e) if find else None


def place_quietly(path: PathState, e: ir.Expression) -> Place | None:
    """Return the cell of an lvalue without reporting findings."""
    machine = path.machine
    before = machine.mode
    if not before.quiet:
        machine.mode = before.quietly()
    place = place_of(path, e)
    machine.mode = before
    return place


def is_this(path: PathState, e: ir.Expression) -> bool:
    """Return whether an expression is the object of a method; in C, a variable may have its name."""
    return e == THIS and "this" not in path.frame.types and "this" not in path.machine.globals


def place_of_variable(path: PathState, name: str) -> Place:
    frame = path.frame
    local = frame.types.get(name)
    if local is None:
        this = frame.this.target
        if this and name in path.machine.fields_of_owner(frame.function):
            return this, "." + name
        return key_of(path, name), ""
    if name in frame.references:
        bound = path.cells.get((local.place[0], "&"))
        if bound and bound.target:
            return bound.target, bound.code or ""
    return local.place


def _place_of_part(path: PathState, e: ir.MemberExpr) -> Place | None:
    place = place_of(path, e.base)
    return (place[0], f"{place[1]}.{_field(path, e)}") if place else None


def _place_of_assigned(path: PathState, e: ir.AssignExpr) -> Place | None:
    evaluate(path, e)
    return place_of(path, e.target)


def _place_of_member(path: PathState, e: ir.ArrowExpr) -> Place | None:
    if is_this(path, e.base):
        this = path.frame.this.target
        return (this, "." + e.member) if this else None
    is_part = path.machine.execution.writing and is_own_member(path, e)
    cell = _through(path, e.base, None, is_part=is_part)
    return (cell[0], f"{cell[1]}.{_field(path, e)}") if cell else None


def _place_of_element(path: PathState, e: ir.IndexExpr) -> Place | None:
    _, base, subscript = e
    if path.machine.is_cpp and "<" in (type_of(path, base) or ""):
        evaluate(path, subscript)
        inner = place_of(path, base)
        return (inner[0], inner[1] + "[]") if inner else None
    return _through(path, base, subscript)


def _field(path: PathState, e: ir.MemberExpr | ir.ArrowExpr) -> str:
    """Return the name of a field; all fields of a union share one."""
    suffix = path.machine.fields.get(id(e))
    if suffix is None:
        kind = type_of(path, e.base)
        record = path.machine.type_named(kind.rstrip("*&")) if kind else None
        suffix = "()" if record is not None and record.union else e.member
        path.machine.fields[id(e)] = suffix
    return suffix


def _through(
    path: PathState, pointer: ir.Expression, index: ir.Expression | None, *, is_part: bool = False
) -> Place | None:
    """Return the cell that a pointer refers to, at an index if there is one; only a part of it may be accessed."""
    machine = path.machine
    writing, machine.execution.writing = machine.execution.writing, False
    if type(pointer) in MOVED:
        name_bytes(path, pointer)
    mode = machine.mode
    if mode.addressing:
        machine.mode = mode.at_address(False)
    value = evaluate(path, pointer)
    at = evaluate(path, index) if index is not None else FIRST
    machine.mode = mode
    if value.unset:
        return None
    if value.kind == ADDRESS and not mode.quiet:
        value = _used(path, pointer, value)
    if mode.addressing and type(without_casts(pointer)) in NULLS:
        # An offset that is computed from the address 0.
        return None
    if (
        value.null > NOT_NULL
        and not machine.mode.quiet
        and not dereferenced(path, pointer, value, machine.execution.line)
    ):
        return None
    if value.target is None:
        value = name_target(path, pointer, value.non_null())
        if value.target is None:
            return None
    elif not value.null and type(pointer) is ir.NameExpr and not machine.mode.quiet:
        path.cells[place_of_variable(path, pointer.name)] = value.non_null()
    return _access(path, Access(pointer, value, value.target, at, writing, index, is_part))


def _used(path: PathState, pointer: ir.Expression, value: Value) -> Value:
    """Return an address from outside that is used; it is checked from then on."""
    on_outside_dereference.happens(path, pointer, value, path.machine.execution.line)
    if path.machine.mode.addressing:
        return value
    value = value._replace(checked=True)
    place = place_quietly(path, pointer) if type(pointer) in VARIABLES else None
    if place is not None:
        path.cells[place] = value
    return value


def _access(path: PathState, access: Access) -> Place | None:
    """Check a memory access, and return its cell."""
    key, value, reach = access.key, access.value, access.subscript.range
    target = path.objects.get(key)
    if target is None:
        return _unknown_cell(path, access)
    quiet = path.machine.mode.quiet
    if target.freed is not None and not quiet and not path.machine.mode.addressing:
        used_after_free(path, access.pointer, value, path.machine.execution.line)
    width = element_size(path, access.pointer, target)
    start = plus(value.at, times(reach, width))
    if target.kind in MEMORY and not quiet:
        on_access.happens(path, access, target, start, width)
    if access.writing and access.is_part and target.unset_from == 0 and is_exact(start):
        # What is set of the struct are the members that have cells.
        path.objects[key] = target._replace(full=None)
    elif access.writing:
        written(path, key, target, start, width)
    elif not is_exact(start):
        read(path, access, target, start, width)
    if is_exact(start):
        # A pointer to a member refers to it by its cell.
        member = value.code or ""
        return key, member if member and start == (0, 0) else f"{member}[{start[0]}]"
    return (key, SOMEWHERE) if target.taint and not access.writing else None


def _unknown_cell(path: PathState, access: Access) -> Place | None:
    """Return the cell in an object with unknown properties."""
    value, reach = access.value, access.subscript.range
    on_unknown_access.happens(path, access)
    if access.writing and path.cells.get((access.key, value.code or ""), ANY).unset:
        path.cells[access.key, value.code or ""] = ANY
    if reach == value.at == (0, 0):
        return access.key, value.code or ""
    if value.kind == "argv" and not path.machine.mode.quiet:
        return f"{access.key}[]", ""
    start = plus(value.at, reach)
    if is_exact(start) and value.at[0] == 0:
        return access.key, f"[{start[0]}]"
    return None if access.writing else (access.key, SOMEWHERE)


def name_bytes(path: PathState, pointer: ir.Expression) -> None:
    """Give a name to the buffer of an unknown byte pointer, before it moves."""
    variable = _moved_variable(pointer)
    if type(variable) not in VARIABLES or not byte_pointer(path, variable):
        return
    place = place_quietly(path, variable)
    current = path.cells.get(place, ANY) if place is not None else None
    if current is not None and current.target is None and not current.unset and not current.null:
        name_target(path, variable, current)


def name_copied(path: PathState, source: ir.Expression) -> None:
    """Give a name to the target of an unknown pointer that is copied, so that both pointers refer to one object."""
    variable = _moved_variable(source)
    if not _is_nameable(variable) or not (type_of(path, variable) or "").endswith("*"):
        return
    place = place_quietly(path, variable)
    if place is None or place[0] in path.objects or array_of(path, variable) is not None:
        return
    current, whole = path.cells.get(place, ANY), path.cells.get((place[0], ""), ANY)
    if current[1:] == ANY[1:] and (whole.taint is None or not place[1]):
        name_target(path, variable, current)


def _moved_variable(e: ir.Expression) -> ir.Expression:
    """Return the pointer in a cast, sum or increment."""
    while isinstance(e, (ir.CastExpr, ir.UpdateExpr, ir.BinaryExpr)):
        e = e.left if isinstance(e, ir.BinaryExpr) else e.operand
    return e


def _is_nameable(e: ir.Expression) -> bool:
    """Return whether an expression is a variable, a member, or what a pointer in one of these refers to."""
    return type(e) in VARIABLES or (type(e) is ir.DerefExpr and type(e.pointer) in VARIABLES)


def name_target(path: PathState, pointer: ir.Expression, value: Value) -> Value:
    """Give a name to the target of an unknown pointer, so that later uses refer to the same object."""
    if not _is_nameable(pointer) or value.code:
        return value
    place = place_quietly(path, pointer)
    if place is None or (path.frame.function.partial and place[0].startswith("g:")):
        # Code that was not read may declare or set the variable.
        return value
    value = value.into(path.machine.name(f"o:{place[0]}{place[1]}"))
    path.cells[place] = value
    if value.taint is not None and path.machine.rule is not None and value.target is not None:
        path.objects[value.target] = Object("other", taint=value.taint)
    return value


PLACES: dict[type, Callable[[PathState, Any], Place | None]] = {
    ir.MemberExpr: _place_of_part,
    ir.ArrowExpr: _place_of_member,
    ir.DerefExpr: lambda path, e: _through(path, e.pointer, None),
    ir.IndexExpr: _place_of_element,
    ir.CastExpr: lambda path, e: place_of(path, e.operand),
    ir.AssignExpr: _place_of_assigned,
}


@evaluates(ir.DerefExpr, ir.IndexExpr, ir.MemberExpr, ir.ArrowExpr)
def _load(path: PathState, e: ir.Expression) -> Value:
    path.machine.execution.writing = False
    place = place_of(path, e)
    if type(e) in FIELDS and path.machine.field_arrays.get(id(e), NOT_LOOKED_UP) is not None:
        array = field_array(path, e, place)
        if array is not None:
            return array
    if path.machine.execution.has_elements and (place is None or place[1] == SOMEWHERE):
        stored = recalled(path, e)
        if stored is not None:
            return stored
    if place is None:
        return ANY
    if place[0] in path.objects and type(e) in FIELDS:
        check_member(path, e, place, writing=False)
    value = path.cells.get(place)
    if value is None:
        return loaded(path, e, place)
    return set_from_here(path, place, value, e) if value.unset else value


def set_from_here(path: PathState, place: Place, value: Value, e: ir.Expression) -> Value:
    """Return the value of an uninitialized variable or field, which counts as set from here on."""
    if value.why is None:
        return value
    on_unset_value.happens(path, e, value)
    path.cells[place] = ANY
    return ANY
