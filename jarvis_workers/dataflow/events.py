"""Events of the analysis: the engine raises them, and the rules in `rules` listen.

An event is raised before the state of the path changes by it.  Rules report; how a path continues is decided by the
engine.  In quiet mode reports count for nothing.  The events of calls of library functions are in `library/model.py`.
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, ParamSpec

from jarvis_workers.dataflow.ir.expr import AssignExpr, BinaryExpr, Expression
from jarvis_workers.dataflow.ir.stmt import LoopStmt, LoweredFunction, ReturnStmt
from jarvis_workers.dataflow.loops.loop_moves import Moves
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.values import Object, Range, Value

P = ParamSpec("P")


class Event(Generic[P]):
    """An event of one kind; as a decorator, it registers a listener."""

    __slots__ = ("_listeners",)

    def __init__(self) -> None:
        self._listeners: list[Callable[P, None]] = []

    def __call__(self, listener: Callable[P, None]) -> Callable[P, None]:
        self._listeners.append(listener)
        return listener

    def happens(self, *args: P.args, **kwargs: P.kwargs) -> None:
        for listener in self._listeners:
            listener(*args, **kwargs)


class Access(NamedTuple):
    """A memory access through a pointer; `key` is the object, `place` the index expression, None for `*p` and `p->x`.

    `is_part` is set for a member of a struct that no other member shares memory with.
    """

    pointer: Expression
    value: Value
    key: str
    subscript: Value
    writing: bool
    place: Expression | None
    is_part: bool = False


class Release(NamedTuple):
    """A call of free, delete, fclose or close; `target` is None for a variable that is no object of its own."""

    e: Expression
    value: Value
    target: Object | None
    family: str
    line: int


class Overflow(NamedTuple):
    """A result beyond its type: the operands with their ranges, and whether it exceeds the maximum."""

    e: BinaryExpr
    operands: tuple[Value, Value]
    ranges: tuple[Range, Range]
    kind: str
    bounds: tuple[int, int]
    over: bool


# A pointer that comes from outside is dereferenced: the path, the pointer, its value, and the line.
on_outside_dereference: Event[[PathState, Expression, Value, int]] = Event()
# A pointer that is NULL, or may be, is dereferenced.
on_null_dereference: Event[[PathState, Expression, Value, int]] = Event()
on_unchecked_dereference: Event[[PathState, Expression, Value, int]] = Event()
# A pointer to released memory is used; whether that is certain.
on_use_after_free: Event[[PathState, Expression, Value, int, bool]] = Event()
# Memory is accessed at a range of offsets, with the width of an element; memory of which nothing is known is accessed.
on_access: Event[[PathState, Access, Object, Range, int]] = Event()
on_unknown_access: Event[[PathState, Access]] = Event()
# A member is accessed that ends at an offset behind its object; whether it is written.
on_member_outside: Event[[PathState, Expression, Object, int, bool]] = Event()
# A variable or field is read that was never assigned; memory that is unset, and whether the type of what is read is
# known; elements up to an offset, of which some are unset.
on_unset_value: Event[[PathState, Expression, Value]] = Event()
on_unset_memory: Event[[PathState, Expression, Object, bool]] = Event()
on_unset_elements: Event[[PathState, Access, Object, int]] = Event()
# An object is released that was not released before; it is released again.
on_release: Event[[PathState, Release]] = Event()
on_second_release: Event[[PathState, Release]] = Event()

# A number is divided: the dividend, the divisor, and the value of the divisor.
on_division: Event[[PathState, Expression, Expression, Value]] = Event()
on_overflow: Event[[PathState, Overflow]] = Event()
# A side of an ordered comparison is not a plain variable or constant: the side, and its value.
on_comparison: Event[[PathState, BinaryExpr, Expression, Value]] = Event()
# A compound assignment: the value before, and the amount.
on_step: Event[[PathState, AssignExpr, Value, Value]] = Event()

# A loop begins on a path; how it moves its variables.
on_loop: Event[[PathState, LoopStmt, Moves]] = Event()
# A function returns a pointer to an object; the paths through the analyzed function end.
on_return: Event[[PathState, ReturnStmt, Object]] = Event()
# The address of a local variable is returned: by the expression, on the line; it is stored where it outlives it.
on_local_returned: Event[[PathState, Expression, Value, int]] = Event()
on_exit: Event[[Sequence[PathState], LoweredFunction]] = Event()
