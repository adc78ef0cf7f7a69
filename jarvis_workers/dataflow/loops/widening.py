"""Effects of a loop on the places it assigns to: after it, around it, and in iterations that are not executed."""

from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.expressions.lvalues import place_quietly
from jarvis_workers.dataflow.ir.expr import (
    ArrowExpr,
    AssignExpr,
    BinaryExpr,
    CallExpr,
    CastExpr,
    DerefExpr,
    Expression,
    IndexExpr,
    MemberExpr,
    NameExpr,
    Statement,
    UpdateExpr,
)
from jarvis_workers.dataflow.ir.stmt import ExprStmt
from jarvis_workers.dataflow.loops.loop_moves import Counter
from jarvis_workers.dataflow.memory.pointers import assume_not_null
from jarvis_workers.dataflow.queries.ast_queries import variables_in
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import in_units, is_exact, wider
from jarvis_workers.dataflow.state.types import key_of
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, MAYBE_NULL, NOT_NULL, UNKNOWN, Range, Value

LOOSE = Value(checked=True)
VARIABLES = frozenset((NameExpr, MemberExpr, ArrowExpr))


def counts(path: PathState, counter: Counter) -> tuple[int | None, int | None, Range] | None:
    """Return the lowest and highest value of a counter in its loop, and its range after the loop."""
    start, end = evaluate(path, counter.variable), evaluate(path, counter.end)
    if start.target:
        return None
    inclusive = counter.compare in ("<=", ">=")
    if counter.step < 0:
        if end.range[0] is None or start.range[1] is None or in_units(start.range):
            return None
        return end.range[0] + (0 if inclusive else 1), start.range[1], UNKNOWN
    first, bound = start.range[0], None if in_units(end.range) else end.range[1]
    if first is None and bound is None:
        return None
    last = None if bound is None else bound - (0 if inclusive else 1)
    if last is not None and is_exact(end.range):
        if counter.step > 1 and first is not None and is_exact(start.range):
            last = first + (last - first) // counter.step * counter.step
        return first, last, (last + counter.step, last + counter.step)
    return first, last if end.taint else None, UNKNOWN


def assume_set(path: PathState, places: list[Expression], carried: frozenset[str]) -> None:
    """Treat the places that a loop assigns to as set on a path that skips the loop: most loops run.

    `carried` are the variables whose new value depends on the old one.
    """
    names = [e.name for e in places if isinstance(e, NameExpr)]
    # A flag that is set beside a pointer tells whether the pointer is still NULL.
    is_found = not any(path.cells.get((key_of(path, name), ""), ANY).null == IS_NULL for name in names)
    for name in names:
        if is_found or name in carried:
            _loosen_variable(path, name, moved=name in carried)
    assume_initialized(path, places)


def assume_initialized(path: PathState, places: list[Expression], since: PathState | None = None) -> None:
    """Treat the places that a loop assigns to as set, on a path whose iterations are not all of the loop.

    An array of which more is set than on the path `since` is only set that far.
    """
    for e in places:
        base = _base_of(e)
        if base is None:
            continue
        key = key_of(path, base.name)
        current = path.cells.get((key, ""))
        if current is not None and current.unset:
            path.cells[key, ""] = ANY
        if current is None:
            for cell in [one for one in path.cells_of(key) if path.cells[one].unset]:
                path.cells[cell] = ANY
        target = key if key in path.objects else current.target if current is not None else None
        if current is not None and path.cells.get((target or "", current.code or ""), ANY).unset:
            path.cells[target or "", current.code or ""] = ANY
        if target is not None and (since is None or _unset_from(path, target) == _unset_from(since, target)):
            _assume_object_set(path, target)


def assume_not_null_behind(path: PathState, finished: list[PathState]) -> None:
    """Treat pointers that every iteration uses as not NULL on a path that skips the loop: most loops run."""
    unchecked = [(cell, value) for cell, value in path.cells.items() if value.null == MAYBE_NULL]
    for cell, value in unchecked:
        after = [one.cells.get(cell, ANY) for one in finished]
        if after and all(one.target == value.target and one.null == NOT_NULL for one in after):
            assume_not_null(path, value)


def lose_made(path: PathState, before: PathState, body: tuple[Statement, ...]) -> None:
    """Add what an iteration before the last one has allocated and put in a variable that the next one overwrites."""
    for place, statement in enumerate(body):
        if not isinstance(statement, ExprStmt) or not isinstance(statement.value, AssignExpr):
            continue
        target, value = statement.value.target, statement.value.value
        if not isinstance(target, NameExpr) or target.name in variables_in((*body[:place], value)):
            continue
        key = path.cells.get((key_of(path, target.name), ""), ANY).target or ""
        made = path.objects.get(key)
        if made is None or key in before.objects or made.lost or made.freed is not None:
            continue
        if sum(one.target == key for one in path.cells.values()) == 1:
            path.objects[f"{key}'"] = made


def _unset_from(path: PathState, key: str) -> int | None:
    made = path.objects.get(key)
    return made.unset_from if made is not None else None


def written_objects(path: PathState, places: list[Expression]) -> frozenset[str]:
    """Return the objects whose elements a loop assigns to."""
    bases = [base for e in places if not isinstance(e, NameExpr) and (base := _base_of(e)) is not None]
    keys = [key_of(path, base.name) for base in bases]
    return frozenset(key if key in path.objects else path.cells.get((key, ""), ANY).target or "" for key in keys)


def _base_of(e: Expression) -> NameExpr | None:
    """Return the variable that an lvalue is a part of, or the target of."""
    while not isinstance(e, NameExpr):
        match e:
            case IndexExpr(base=inner) | MemberExpr(base=inner) | ArrowExpr(base=inner):
                e = inner
            case DerefExpr(pointer=inner) | UpdateExpr(operand=inner) | CastExpr(operand=inner):
                e = inner
            case BinaryExpr(left=inner):
                e = inner
            case _:
                return None
    return e


def assume_all_set(path: PathState) -> None:
    """Treat everything as initialized after code that is not understood, such as assembly."""
    for cell in [cell for cell, current in path.cells.items() if current.unset]:
        path.cells[cell] = ANY
    for key in list(path.objects):
        _assume_object_set(path, key)


def assume_assigned(path: PathState, macro: Expression | None, *, is_head: bool = False) -> None:
    """Treat NULL variables as unknown after a macro that may assign to its arguments.

    One that `is_head` of a loop gives its variable the next element, when the last one may have been released.
    """
    for part in macro.args if isinstance(macro, CallExpr) else ():
        if type(part) is NameExpr:
            cell = (key_of(path, part.name), "")
            current = path.cells.get(cell)
            target = path.object_of(current) if current is not None and is_head else None
            is_released = target is not None and target.freed is not None
            if current is not None and (current.null == IS_NULL or is_released):
                path.cells[cell] = ANY


def assume_moved(path: PathState) -> None:
    """Drop the offsets of pointers after code that is not understood."""
    for cell, current in path.cells.items():
        if current.target in path.objects and current.at != UNKNOWN:
            path.cells[cell] = current._replace(at=UNKNOWN)


def _assume_object_set(path: PathState, key: str) -> None:
    made = path.objects.get(key)
    if made is not None and made.unset_from is not None:
        path.objects[key] = made._replace(unset_from=None)


def _loosen_variable(path: PathState, name: str, *, moved: bool) -> None:
    """Drop the upper offset of a pointer that is moved, and the range of a number."""
    place = (key_of(path, name), "")
    current = path.cells.get(place)
    if current is None or current.unset:
        return
    if current.target:
        path.cells[place] = current._replace(
            at=(current.at[0], None) if moved else current.at, null=current.null if current.null != IS_NULL else 0
        )
    elif current.range != UNKNOWN and current.null != IS_NULL:
        path.cells[place] = current._replace(range=UNKNOWN)


def loosen(path: PathState, places: list[Expression], carried: frozenset[str]) -> None:
    """Widen the places that a loop assigns to, for the one iteration that represents all.

    A variable that is not `carried` has moved nowhere: its new value does not depend on the old one.
    """
    for e in places:
        place = place_quietly(path, e) if type(e) in VARIABLES else None
        if place is None or place not in path.cells:
            continue
        now = path.cells[place]
        if not now.target:
            path.cells[place] = LOOSE
        elif not isinstance(e, NameExpr) or e.name in carried:
            path.cells[place] = now._replace(at=(now.at[0], None))


def widen(path: PathState, places: list[Expression], state: PathState) -> None:
    """Widen the places that the first iteration of a loop has changed since `state`."""
    for e in places:
        place = place_quietly(path, e) if type(e) in VARIABLES else None
        if place is None or place not in path.cells:
            continue
        now, before = path.cells[place], state.cells.get(place)
        if before is None or before == now:
            continue
        if not now.target:
            path.cells[place] = now._replace(range=wider(before.range, now.range))
        elif now.target == before.target:
            path.cells[place] = now._replace(at=wider(before.at, now.at))
