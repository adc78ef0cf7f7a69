"""Evaluate assignments, ++ and --, and execute declarations."""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import on_step
from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluates
from jarvis_workers.dataflow.expressions.lvalues import MOVED, VARIABLES, name_copied, place_of, place_quietly
from jarvis_workers.dataflow.expressions.numbers import computed
from jarvis_workers.dataflow.expressions.value_numbering import forget, remember, words_in
from jarvis_workers.dataflow.memory.extents import check_member, forget_extents
from jarvis_workers.dataflow.memory.ownership import is_own, stored
from jarvis_workers.dataflow.memory.pointers import escape, escape_inside, forget_aliases
from jarvis_workers.dataflow.queries.ast_queries import items_in
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.sizes import NUMBERS_WITH_FRACTIONS, limits_of, shown_size
from jarvis_workers.dataflow.state.types import fitted, key_of, type_of
from jarvis_workers.dataflow.state.values import ANY, UNKNOWN, Object, PathEvent, Place, Range, Value, number

PARTED = frozenset((ir.NameExpr, ir.MemberExpr, ir.ArrowExpr, ir.DerefExpr, ir.IndexExpr))
# The members of larger local structs are not tracked one by one.
MEMBERS_MAX = 12
COPIED = VARIABLES | MOVED | {ir.DerefExpr}
ONE = ir.NumberExpr("n", 1)


@evaluates(ir.AssignExpr)
def _assign(path: PathState, e: ir.AssignExpr) -> Value:
    machine = path.machine
    _, op, target, source, machine.execution.line = e
    if op:
        old, by = evaluate(path, target), evaluate(path, source)
        on_step.happens(path, e, old, by)
        value = computed(path, ir.BinaryExpr("b", op, target, source), old, by)
    else:
        if type(source) in COPIED and (type_of(path, target) or "").endswith("*"):
            name_copied(path, source)
        value = evaluate(path, source)
    machine.execution.copied = source if not op else None
    _store(path, target, value)
    machine.execution.copied = None
    return value


@evaluates(ir.UpdateExpr)
def _move(path: PathState, e: ir.UpdateExpr) -> Value:
    old = evaluate(path, e.operand)
    new = computed(path, ir.BinaryExpr("b", e.op, e.operand, ONE), old, number(1))
    _store(path, e.operand, new)
    return new if e.prefix else old


def _store(path: PathState, target: ir.Expression, value: Value) -> None:
    """Store a value in the cell of an lvalue."""
    machine = path.machine
    machine.execution.writing, machine.execution.storing = True, value
    place = place_of(path, target)
    machine.execution.writing = False
    _forget_facts(path, target)
    if place is None:
        _store_elsewhere(path, target, value)
        return
    if place[0] in path.objects and type(target) in VARIABLES:
        check_member(path, target, place, writing=True)
    kind = type_of(path, target)
    if kind:
        value = fitted(path, value, kind)
    path.cells[place] = value
    _forget_dependents(path, place, kind)
    before = _fields_in(path, place) if not kind or machine.type_named(kind) is not None else {}
    source, machine.execution.copied = machine.execution.copied, None
    if not value.target and source is not None:
        # An operand such as `*p++` is an assignment of its own.
        copy_parts(path, source, place, kind)
    for cell, current in before.items():
        if path.cells.get(cell) is current:
            escape(path, path.cells.pop(cell))
    if value.target is not None:
        stored(path, target, place, value)
        pointed_to = (value.target, value.code or "")
        if path.cells.get(pointed_to, ANY).unset and not is_own(path, place):
            # Whoever has the address may set the variable later.
            path.cells[pointed_to] = ANY


def _store_elsewhere(path: PathState, target: ir.Expression, value: Value) -> None:
    """Store a value, or a struct, where it is not tracked."""
    escape(path, value)
    if type(path.machine.execution.copied) is ir.NameExpr:
        escape_inside(path, key_of(path, path.machine.execution.copied.name))
    remember(path, target, value)
    if isinstance(target, ir.CallExpr):
        # A macro whose definition is unknown: it may set what its arguments refer to.
        evaluate(path, target)


def _forget_dependents(path: PathState, place: Place, kind: str | None) -> None:
    if place[0].startswith("o:") and (not kind or kind.endswith("*")):
        forget_aliases(path, place)
    if path.machine.execution.measures:
        forget_extents(path, place)


def _fields_in(path: PathState, place: Place) -> dict[Place, Value]:
    """Return the cells of the fields of a struct; an assignment of the whole replaces them."""
    inside = f"{place[1]}."
    return {cell: value for cell, value in path.cells.items() if cell[0] == place[0] and cell[1].startswith(inside)}


def _forget_facts(path: PathState, target: ir.Expression) -> None:
    """Drop the remembered conditions and elements that mention the assigned variable."""
    if path.facts or path.machine.execution.has_elements:
        name = _variable_of(target)
        forget(path, name)
        for fact in [fact for fact in path.facts if name is None or name in words_in(fact)]:
            del path.facts[fact]


def _variable_of(target: ir.Expression) -> str | None:
    """Return the base variable of an lvalue."""
    while True:
        match target:
            case ir.IndexExpr(base=inner) | ir.MemberExpr(base=inner) | ir.ArrowExpr(base=inner):
                target = inner
            case ir.DerefExpr(pointer=inner) | ir.CastExpr(operand=inner):
                target = inner
            case _:
                return target.name if isinstance(target, ir.NameExpr) else None


def copy_parts(path: PathState, source: ir.Expression, place: Place, kind: str | None = None) -> None:
    """Copy the fields of a struct, or the contents of a container, that is assigned as a whole."""
    if type(source) not in PARTED or (kind and (kind.endswith("*") or limits_of(kind))):
        return
    origin = place_quietly(path, source)
    if origin is None or origin == place:
        return
    inside = len(origin[1])
    for (key, part), current in list(path.cells.items()):
        if key == origin[0] and part.startswith(origin[1]) and part != origin[1] and part[inside] in ".[":
            path.cells[place[0], place[1] + part[inside:]] = current
            if not is_own(path, place):
                escape(path, current)


def declare(path: PathState, name: str, kind: str, *, array: bool = False) -> None:
    """Declare a variable and drop its value from an earlier loop iteration."""
    machine = path.machine
    plain = machine.plain(kind)
    key = path.frame.declare(name, kind if array and machine.is_array(kind) else plain, array=array)
    path.forget(key)
    forget(path, name)
    path.objects.pop(key, None)


def define(path: PathState, statement: ir.DeclStmt) -> None:
    """Execute a declaration that runs no constructor."""
    _, _, name, kind, dims, init, flags = statement
    frame = path.frame
    if name not in frame.types and (init is not None or dims):
        # It may refer to its own type.
        frame.declare(name, kind, array=bool(dims))
    if init is not None and type(init) in COPIED and kind.endswith("*"):
        name_copied(path, init)
    value = evaluate(path, init) if type(init) is not ir.InitListExpr and not dims else ANY
    declare(path, name, kind, array=bool(dims))
    key = frame.key(name)
    if "s" in flags or "e" in flags:
        path.machine.statics.add(key)
    if len(dims) > 1 or (dims and path.machine.is_array(kind)):
        path.machine.grids.add(key)
    if dims:
        path.objects[key] = _array(path, statement)
    elif path.machine.is_array(kind):
        # How many elements it has is not known.
        element = path.machine.plain(kind)[:-1]
        if element.endswith("*"):
            # Its elements may be arrays as well as pointers.
            path.machine.grids.add(key)
        declare(path, name, element, array=True)
        path.objects[key] = Object("stack", element=path.machine.size_of(element), name=name)
    elif init:
        _initialise(path, statement, init, value)
    elif "s" not in flags and "e" not in flags:
        _begin_unset(path, statement, key)


def _begin_unset(path: PathState, statement: ir.DeclStmt, key: str) -> None:
    note = "{} is declared without a value"
    why = PathEvent(path.trail, path.frame.file, statement.line, note, ir.NameExpr("v", statement.name))
    if _begins_unset(statement.type):
        path.cells[key, ""] = Value(unset=True, why=why)
    elif not path.machine.is_cpp:
        for member in _members(path, statement.type):
            path.cells[key, f".{member}"] = Value(unset=True, why=why)


def _members(path: PathState, kind: str) -> list[str]:
    """Return the members of a small struct that are numbers or pointers."""
    record = path.machine.type_named(kind)
    if record is None or record.union or record.shared or len(record.fields) > MEMBERS_MAX:
        return []
    plain = path.machine.plain
    return [name for name, (type_, dims) in record.fields.items() if not dims and _begins_unset(plain(type_))]


def _begins_unset(kind: str) -> bool:
    return kind.endswith("*") or limits_of(kind) is not None or kind in NUMBERS_WITH_FRACTIONS


def _initialise(path: PathState, statement: ir.DeclStmt, init: ir.Expression, value: Value) -> None:
    name, kind = statement.name, statement.type
    key = path.frame.key(name)
    if kind.endswith("&"):
        place = place_of(path, init) if not isinstance(init, ir.CallExpr) else None
        if place:
            path.frame.declare(name, kind[:-1])
            path.frame.references.add(name)
            path.cells[key, "&"] = Value(target=place[0], code=place[1])
            return
    if isinstance(init, ir.InitListExpr):
        _fill(path, statement, init)
        return
    path.cells[key, ""] = fitted(path, value, kind)
    copy_parts(path, init, (key, ""), kind)
    made = path.object_of(value)
    if made is not None and not made.name:
        path.objects[value.target or ""] = made._replace(name=name)


def _fill(path: PathState, statement: ir.DeclStmt, init: ir.InitListExpr) -> None:
    """Set the fields of a struct; those of an unknown type may own what they point to."""
    key = path.frame.key(statement.name)
    record = path.machine.type_named(statement.type)
    fields = list(record.fields) if record is not None and not record.union else []
    for place, item in enumerate(init.items):
        if isinstance(item, ir.DesignatedExpr):
            path.cells[key, "." + item.member] = evaluate(path, item.value)
        elif place < len(fields):
            path.cells[key, "." + fields[place]] = evaluate(path, item)
        else:
            escape(path, evaluate(path, item))


def _array(path: PathState, statement: ir.DeclStmt) -> Object:
    _, line, name, kind, dims, init, flags = statement
    machine, static = path.machine, "s" in flags or "e" in flags
    element = machine.size_of(kind)
    count = _count(path, dims)
    size: Range = (count * element, count * element) if count is not None else UNKNOWN
    unset = 0 if not init and not static and (_begins_unset(kind) or not machine.is_cpp) else None
    made = Object("static" if static else "stack", size=size, element=element, unset_from=unset, name=name)
    if init:
        made = _initialised(path, made, init, sized=None not in dims[:1])
    if not count:
        return made
    note = f"{{}} has {shown_size(made.size[0] or 0)}"
    return made._replace(made=PathEvent(path.trail, path.frame.file, line, note, ir.NameExpr("v", name)))


def _count(path: PathState, dims: tuple[ir.Expression | None, ...]) -> int | None:
    """Return the number of elements of an array; None if it is unknown."""
    count: int | None = 1
    for dim in dims:
        size = evaluate(path, dim).range if dim else UNKNOWN
        count = size[0] * count if count is not None and size[0] is not None and is_exact(size) else None
    return count


def _initialised(path: PathState, made: Object, init: ir.Expression, *, sized: bool) -> Object:
    """Return an array with the size and string length that its initializer implies."""
    machine = path.machine
    text = machine.macro(init.name) if isinstance(init, ir.NameExpr) and init.name in machine.macros else init
    if isinstance(text, ir.STRINGS):
        length = text.length
        size = made.size if sized else ((length + 1) * made.element,) * 2
        return made._replace(size=size, length=(length, length), filled=length)
    if not isinstance(init, ir.InitListExpr):
        return made
    if not sized:
        count = items_in(init)
        made = made._replace(size=(count * made.element,) * 2 if count is not None else UNKNOWN)
    if init.items[:1] in ((), (ir.ZERO,)):
        made = made._replace(length=(0, 0))
    return made
