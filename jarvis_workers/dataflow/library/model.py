"""A call of a library function, with the checks and effects that most of these functions share."""

from collections.abc import Callable, Sequence
from typing import Any

from jarvis_workers.dataflow.events import Event, on_outside_dereference
from jarvis_workers.dataflow.ir.expr import STRINGS, CallExpr, Expression, IndexExpr, InitListExpr, NameExpr
from jarvis_workers.dataflow.memory.extents import extent_of, room
from jarvis_workers.dataflow.memory.outside import ADDRESS
from jarvis_workers.dataflow.memory.pointers import dereferenced, escape_inside, used_after_free
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.ranges import is_exact, plus
from jarvis_workers.dataflow.state.values import (
    ANY,
    MEMORY,
    NOT_NULL,
    UNKNOWN,
    LinearExtent,
    Object,
    PathEvent,
    Range,
    Value,
)

# The doubt about text that a called function may have judged.
JUDGED = 0.25

# A library function writes or reads a number of bytes by an argument; unless certain, only the lower bound counts.
on_write: Event[["LibraryCall", int, Range, bool]] = Event()
on_read: Event[["LibraryCall", int, Range]] = Event()
# It reads from the start of an argument on; it writes to memory whose size is a multiple of the same variable.
on_read_start: Event[["LibraryCall", int]] = Event()
on_measured_write: Event[["LibraryCall", Object, LinearExtent]] = Event()
# It reads an argument up to its NUL, which may be missing; an argument is the length of a write to another one.
on_unterminated_text: Event[["LibraryCall", int, Object]] = Event()
on_length: Event[["LibraryCall", int, int]] = Event()
# It allocates memory of a size that is computed from some values; it moves memory.
on_allocation: Event[["LibraryCall", Sequence[Value]]] = Event()
on_reallocation: Event[["LibraryCall"]] = Event()


class LibraryCall:
    """A call with evaluated arguments; a missing argument is unknown."""

    __slots__ = ("line", "name", "node", "path", "values")

    def __init__(self, path: PathState, name: str, node: CallExpr, values: list[Value]) -> None:
        self.path = path
        self.name = name
        self.node = node
        self.values = values
        self.line = node.line

    def value(self, place: int) -> Value:
        return self.values[place] if place < len(self.values) else ANY

    def object(self, place: int) -> Object | None:
        return self.path.object_of(self.value(place))

    def report(self, rule: FlowRule, text: str, *, sure: float, since: PathEvent | None = None) -> None:
        """Report the call; `text` follows its source text."""
        rule.report(self.path, self.line, f"{text_of(self.node)} {text}", since=since, sure=sure)

    def use(self, place: int) -> None:
        """Check a pointer argument that the function dereferences."""
        if place >= len(self.values):
            return
        value, part = self.values[place], self.node.args[place]
        if value.kind == ADDRESS:
            on_outside_dereference.happens(self.path, part, value, self.line)
        if value.null > NOT_NULL and not dereferenced(self.path, part, value, self.line):
            return
        target = self.path.object_of(value)
        if target is not None and target.freed is not None:
            used_after_free(self.path, part, value, self.line)

    def write(self, place: int, amount: Range, *, certain: bool = True) -> None:
        """Check a write of `amount` bytes to an argument; unless `certain`, only its lower bound counts."""
        self.use(place)
        on_write.happens(self, place, amount, certain)
        left = self.room(place)
        self.prove("harmless_copy", holds=left is not None and amount[1] is not None and amount[1] <= left)

    def room(self, place: int) -> int | None:
        """Return the number of bytes behind an argument that points into its object; None if it is unknown."""
        value, target = self.value(place), self.object(place)
        return room(value, target) if target is not None and not begins_before(value, target) else None

    def fits(self, place: int, size: Expression) -> bool:
        """Return whether memory whose size is a multiple of a variable has room for `size` bytes, or report it."""
        target = self.object(place)
        if target is None or target.extent is None or self.value(place).at != (0, 0):
            return False
        needed = extent_of(self.path, size)
        if needed is None or needed.variable != target.extent.variable:
            return False
        on_measured_write.happens(self, target, needed)
        return True

    def prove(self, what: str, *, holds: bool) -> None:
        """Record whether the call is harmless, if it is in the analyzed function itself."""
        machine = self.path.machine
        if not machine.mode.quiet and self.path.frame.depth == 0:
            machine.prove(what, self.line, holds=holds)

    def is_own_text(self, place: int) -> bool:
        """Return whether an argument is a string that the program itself wrote."""
        target, parts = self.object(place), self.node.args[place : place + 1]
        if target is None:
            return any(is_literal(self.path.machine, part) for part in parts)
        return target.taint is None and (target.kind == "text" or target.own or is_exact(target.length))

    def read(self, place: int, amount: Range) -> None:
        """Check a read of `amount` bytes from an argument."""
        self.use(place)
        on_read.happens(self, place, amount)

    def starts_inside(self, place: int) -> None:
        """Check that an argument does not point before its object."""
        on_read_start.happens(self, place)

    def takes_length(self, place: int, to: int = 0) -> None:
        """Check the length of a write to the argument `to`."""
        if place < len(self.node.args):
            on_length.happens(self, place, to)

    def bring_in(self) -> PathEvent:
        """Record in the trace that the call reads untrusted input."""
        return self.path.note(self.line, "{} reads untrusted input", self.node)


Listener = Callable[[LibraryCall], None]
CALLS: dict[str, list[Listener]] = {}
Handler = Callable[[LibraryCall], Value]
# A family of functions: names with the same model, and the handler that implements it.
Handlers = tuple[tuple[Sequence[str], Handler], ...]


def on_call(*names: str) -> Callable[[Listener], Listener]:
    """Return a decorator that registers a listener to calls of functions with models, before their effects."""

    def keep(listener: Listener) -> Listener:
        for name in names:
            CALLS.setdefault(name, []).append(listener)
        return listener

    return keep


def perform(handler: Handler, call: LibraryCall) -> Value:
    """Return the result of a call by its model, after the rules that listen to it."""
    for listener in CALLS.get(call.name, ()):
        listener(call)
    return handler(call)


def use_text(call: LibraryCall, place: int) -> None:
    """Check a string that the function reads up to its end."""
    call.use(place)
    target = call.object(place)
    if target is not None and target.full is not None and not call.path.machine.mode.quiet:
        on_unterminated_text.happens(call, place, target)
        change(call.path, call.value(place))


def is_literal(machine: AnalysisContext, e: Expression) -> bool:
    """Return whether an expression is one of some literals, such as an element of a table of them."""
    if isinstance(e, IndexExpr) and isinstance(e.base, NameExpr) and e.base.name in machine.globals:
        init = machine.globals[e.base.name].init
        return isinstance(init, InitListExpr) and all(isinstance(one, STRINGS) for one in init.items)
    return isinstance(e, STRINGS)


def begins_before(value: Value, target: Object) -> bool:
    """Return whether a pointer refers to what is before its object."""
    low = value.at[0]
    return low is not None and low < 0 and target.kind in MEMORY


def change(path: PathState, value: Value, **fields: Any) -> None:
    """Update the object that a value points into, if it is known."""
    made = path.object_of(value)
    if made is not None:
        path.objects[value.target or ""] = made._replace(**{"full": None, "own": False, **fields})


def offset_of(value: Value, element: int) -> int | None:
    """Return the offset of a pointer from the start of its object, in elements; None if it is unknown."""
    low, high = value.at
    return low // element if low is not None and low == high else None


def text_length(path: PathState, value: Value) -> Range:
    """Return the length of the string that a pointer refers to, in elements."""
    target = path.object_of(value)
    if target is None:
        return (0, None)
    low, high = target.length
    offset = offset_of(value, target.element)
    if offset is None:
        return (0, high)
    if low is None and target.filled:
        low = target.filled
    return (max(0, low - offset) if low is not None else 0), (max(0, high - offset) if high is not None else None)


def set_text(
    path: PathState, value: Value, element: int, length: Range, taint: PathEvent | None, *, own: bool = False
) -> None:
    """Record that a pointer refers to a string of this length, which may be the program's own text."""
    target = path.object_of(value)
    if target is None:
        return
    offset = offset_of(value, element)
    length = plus(length, (offset, offset)) if offset is not None else UNKNOWN
    change(path, value, length=length, filled=length[0] or 0, unset_from=None, taint=taint, own=own)
    escape_inside(path, value.target or "")
    path.forget(value.target)


def taint_of(path: PathState, value: Value) -> PathEvent | None:
    """Return the event that read the string behind a pointer as input; None if it is trusted.

    It is doubtful if a call in a condition got the pointer, which may judge the string.
    """
    target = path.object_of(value)
    taint = (target.taint if target else None) or (value.taint if not value.target else None)
    if taint is None or not value.checked or not value.target:
        return taint
    return taint._replace(doubt=max(taint.doubt, JUDGED))
