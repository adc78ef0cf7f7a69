"""A call of a library function, with the checks and effects that most of these functions share."""

from collections.abc import Callable, Sequence
from typing import Any

from jarvis_workers.dataflow.ir.expr import ArrowExpr, CallExpr, Expression, MemberExpr, NameExpr
from jarvis_workers.dataflow.memory.bounds import check_untested, is_declared, room
from jarvis_workers.dataflow.memory.extents import excess, extent_of
from jarvis_workers.dataflow.memory.outside import check_address
from jarvis_workers.dataflow.memory.pointers import dereferenced, used_after_free
from jarvis_workers.dataflow.queries.ast_queries import variables_in, without_casts
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact, most, plus
from jarvis_workers.dataflow.state.reports import report
from jarvis_workers.dataflow.state.sizes import TYPE_ENDS, comparable, is_in_units, limits_of, shown_excess, shown_size
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import ANY, MEMORY, NOT_NULL, UNKNOWN, Object, PathEvent, Range, Value

BEFORE, EXACT, PERHAPS, OVERREAD, NO_BOUND = 0.88, 0.9, 0.62, 0.88, 0.8
# The doubt about text that a called function may have judged.
JUDGED = 0.25
PERHAPS_OVERREAD, MAYBE_NEGATIVE, BY_EXTENT, NOT_LIMITED, NOT_TERMINATED = 0.6, 0.72, 0.82, 0.48, 0.7


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

    def report(self, pattern: str, text: str, *, sure: float, since: PathEvent | None = None) -> None:
        """Report the call; `text` follows its source text."""
        report(self.path, pattern, self.line, f"{text_of(self.node)} {text}", since=since, sure=sure)

    def use(self, place: int) -> None:
        """Check a pointer argument that the function dereferences."""
        if place >= len(self.values):
            return
        value, part = self.values[place], self.node.args[place]
        check_address(self.path, part, value, self.line)
        if value.null > NOT_NULL and not dereferenced(self.path, part, value, self.line):
            return
        target = self.path.object_of(value)
        if target is not None and target.freed is not None:
            used_after_free(self.path, part, value, self.line)

    def write(self, place: int, amount: Range, *, certain: bool = True) -> None:
        """Check a write of `amount` bytes to an argument; unless `certain`, only its lower bound counts."""
        self.use(place)
        value, target = self.value(place), self.object(place)
        if target is None or self._begins_before(value, target, "flow_buffer_underwrite", "writes"):
            self.prove("harmless_copy", holds=False)
            return
        left = room(value, target)
        self.prove("harmless_copy", holds=left is not None and amount[1] is not None and amount[1] <= left)
        if left is None:
            return
        low = amount[0]
        much = most(amount) if certain else low
        if much is not None and much > left and comparable(much, target.size[1] or 0):
            exact = low is not None and low > left
            text = f"{'writes' if exact and certain else 'may write'} {shown_excess(much, left)}"
            self.report("flow_buffer_overflow", text, since=target.made, sure=EXACT if exact else PERHAPS)

    def fits(self, place: int, size: Expression) -> bool:
        """Return whether memory whose size is a multiple of a variable has room for `size` bytes, or report it."""
        target = self.object(place)
        if target is None or target.extent is None or self.value(place).at != (0, 0):
            return False
        needed = extent_of(self.path, size)
        if needed is None or needed.variable != target.extent.variable:
            return False
        more = excess(target.extent, needed)
        if more is not None and comparable(needed.unit, target.extent.unit):
            text = f"writes at least {more} bytes past the end of memory whose size depends on the same variable"
            self.report("flow_buffer_overflow", text, since=target.made, sure=BY_EXTENT)
        return True

    def prove(self, what: str, *, holds: bool) -> None:
        """Record whether the call is harmless, if it is in the analyzed function itself."""
        machine = self.path.machine
        if not machine.mode.quiet and self.path.frame.depth == 0:
            machine.prove(what, self.line, holds=holds)

    def is_own_text(self, place: int) -> bool:
        """Return whether an argument is a string that the program itself wrote."""
        target = self.object(place)
        return target is not None and target.taint is None and (target.kind == "text" or is_exact(target.length))

    def read(self, place: int, amount: Range) -> None:
        """Check a read of `amount` bytes from an argument."""
        self.use(place)
        value, target = self.value(place), self.object(place)
        if value.target in self.path.machine.execution.counted and amount[0] is not None and is_exact(amount):
            check_untested(self.path, value.target or "", self.node.args[place], value.at, amount[0])
        if target is None or self._begins_before(value, target, "flow_buffer_underread", "reads"):
            return
        left, much = room(value, target), most(amount)
        if left is not None and much is not None and much > left and comparable(much, target.size[1] or 0):
            text = f"reads {shown_excess(much, left)}"
            sure = OVERREAD if amount[0] == amount[1] else PERHAPS_OVERREAD
            self.report("flow_buffer_overread", text, since=target.made, sure=sure)

    def starts_inside(self, place: int) -> None:
        """Check that an argument does not point before its object."""
        target = self.object(place)
        if target is not None:
            self._begins_before(self.value(place), target, "flow_buffer_underread", "reads")

    def _begins_before(self, value: Value, target: Object, pattern: str, does: str) -> bool:
        low = value.at[0]
        if low is None or low >= 0 or target.kind not in MEMORY:
            return False
        self.report(
            pattern, f"{does} {shown_size(-low)} before the start of the buffer", since=target.made, sure=BEFORE
        )
        return True

    def takes_length(self, place: int, to: int = 0) -> None:
        """Check the length of a write to the argument `to` for untrusted values."""
        count = self.value(place)
        low, high = count.range
        if place >= len(self.node.args):
            return
        if not count.taint:
            _check_unlimited(self, place, to)
            return
        if not count.checked:
            target = self.object(to)
            fits = high in TYPE_ENDS and target is not None and room(self.value(to), target) is not None
            if not fits and (high is None or high in TYPE_ENDS or low is None or low < 0):
                text = "uses an untrusted length without a bound"
                self.report("flow_tainted_length", text, since=count.taint, sure=NO_BOUND)
        elif low is None and high is not None and self._is_signed(place):
            text = "uses an untrusted length that has an upper bound but may be negative"
            self.report("flow_tainted_length", text, since=count.taint, sure=MAYBE_NEGATIVE)

    def _is_signed(self, place: int) -> bool:
        bounds = limits_of(self.path.machine.plain(type_of(self.path, self.node.args[place]) or ""))
        return bounds is not None and bounds[0] < 0

    def bring_in(self) -> PathEvent:
        """Record in the trace that the call reads untrusted input."""
        return self.path.note(self.line, "{} reads untrusted input", self.node)


def use_text(call: LibraryCall, place: int) -> None:
    """Check a string that the function reads up to its end."""
    call.use(place)
    target = call.object(place)
    if target is not None and target.full is not None and not call.path.machine.mode.quiet:
        text = f"reads a text that may fill {text_of(call.node.args[place])} without a NUL at its end"
        call.report("flow_buffer_overread", text, since=target.full, sure=NOT_TERMINATED)
        change(call.path, call.value(place))


def _check_unlimited(call: LibraryCall, place: int, to: int) -> None:
    """Report a length that nothing limits, if it fills memory of a fixed size."""
    target, count, part = call.object(to), call.value(place), call.node.args[place]
    part = without_casts(part)
    if target is None or count.range[1] is not None or count.checked or count.kind or call.path.frame.depth:
        return
    left = room(call.value(to), target)
    if left is None or not is_declared(target) or not isinstance(part, (NameExpr, MemberExpr, ArrowExpr)):
        return
    limits = facts_of(call.path.frame.function).limits
    if any(limits.get(name, call.line) < call.line for name in variables_in((part,))):
        return
    remain = shown_size(left) if is_in_units(left) else left
    text = f"writes {text_of(part)} bytes, which nothing here limits, but only {remain} remain"
    call.report("flow_buffer_overflow", text, since=target.made, sure=NOT_LIMITED)


Handler = Callable[[LibraryCall], Value]
# A family of functions: names with the same model, and the handler that implements it.
Handlers = tuple[tuple[Sequence[str], Handler], ...]


def change(path: PathState, value: Value, **fields: Any) -> None:
    """Update the object that a value points into, if it is known."""
    made = path.object_of(value)
    if made is not None:
        path.objects[value.target or ""] = made._replace(**{"full": None, **fields})


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


def set_text(path: PathState, value: Value, element: int, length: Range, taint: PathEvent | None) -> None:
    """Record that a pointer refers to a string of this length."""
    target = path.object_of(value)
    if target is None:
        return
    offset = offset_of(value, element)
    length = plus(length, (offset, offset)) if offset is not None else UNKNOWN
    change(path, value, length=length, filled=length[0] or 0, unset_from=None, taint=taint)
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
