"""State of one path through a function and the functions it calls.

A path is the only mutable value of the analysis; a fork copies it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.ir.stmt import DeferStmt, LoweredFunction
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.ranges import either
from jarvis_workers.dataflow.state.values import ANY, Object, PathEvent, Place, Value

if TYPE_CHECKING:
    from jarvis_workers.dataflow.state.context import AnalysisContext


class Variable(NamedTuple):
    """A local variable: its type (of an array, the type of the elements) and its cell."""

    kind: str
    is_array: bool
    place: Place


class Frame:
    """The frame of a followed call: function, local variables and call site.

    `file` is None for the analyzed file; `call_line` is the line in that file from which the call was reached.
    `references` are the variables that alias another place.
    """

    def __init__(self, function: LoweredFunction, number: int, caller: "Frame | None" = None) -> None:
        self.function = function
        self.number = number
        self.file: str | None = None
        self.depth: int = caller.depth + 1 if caller else 0
        self.callers: frozenset[str] = frozenset((function.name, *(caller.callers if caller else ())))
        self.types: dict[str, Variable] = {}
        self.references: set[str] = set()
        self.scope = 0
        self.scopes: dict[str, int] = {}
        self.hidden: dict[str, str] = {}
        self.this: Value = ANY
        self.call_line: int | None = None
        self.destroyed: list[tuple[str, str]] = []
        self.deferred: list[DeferStmt] = []

    def key(self, name: str) -> str:
        """Return the object name of a local variable."""
        return self.hidden.get(name) or f"{self.number}:{name}"

    def hide(self, name: str) -> None:
        """Give a variable of an inner block its own object if it shadows an outer one."""
        if name in self.types and self.scopes.get(name, 0) < self.scope:
            self.hidden[name] = f"{self.number}:{name}'{self.scope}"
        else:
            self.scopes[name] = self.scope

    @contextmanager
    def block(self) -> Iterator[None]:
        """Execute a block; at its end, shadowed names refer to the outer variables again."""
        types, hidden = self.types.copy(), self.hidden.copy()
        self.scope += 1
        try:
            yield
        finally:
            self.scope -= 1
            for name in self.hidden.keys() - hidden.keys():
                self.types[name] = types.get(name, self.types[name])
            self.hidden = hidden

    def declare_parameter(self, name: str, kind: str) -> Place:
        """Declare a parameter of a function that is entered, and return its cell."""
        place = (f"{self.number}:{name}", "")
        self.types[name] = Variable(kind, False, place)
        self.scopes[name] = 0
        return place

    def declare(self, name: str, kind: str, *, array: bool = False) -> str:
        """Declare a local variable with its type, and return its object name."""
        self.hide(name)
        key = self.key(name)
        self.types[name] = Variable(kind, array, (key, ""))
        return key

    def is_array(self, name: str) -> bool:
        variable = self.types.get(name)
        return variable is not None and variable.is_array


class PathState:
    """The state of one path.

    `cells` maps cells to values; `facts` maps the texts of remembered conditions to their outcomes; `results` holds the
    values that followed calls returned, by node id, until the expression around them is evaluated.  `doubt` counts the
    branches that were taken although undecided.  A path with `ended` set does not continue; `left_at`
    is the line of its last return.
    """

    __slots__ = (
        "cells",
        "doubt",
        "ended",
        "facts",
        "frame",
        "left_at",
        "machine",
        "objects",
        "results",
        "returned",
        "trail",
    )

    def __init__(self, machine: "AnalysisContext", frame: Frame) -> None:
        self.machine = machine
        self.frame = frame
        self.cells: dict[Place, Value] = {}
        self.objects: dict[str, Object] = {}
        self.facts: dict[str, bool] = {}
        self.results: dict[int, Value] = {}
        self.trail: PathEvent | None = None
        self.doubt = 0
        self.ended = False
        self.left_at = 0
        self.returned: Value = ANY

    def copy(self) -> "PathState":
        twin = PathState.__new__(PathState)
        twin.machine = self.machine
        twin.frame = self.frame
        twin.cells = self.cells.copy()
        twin.objects = self.objects.copy()
        twin.facts = self.facts.copy()
        twin.results = self.results.copy()
        twin.trail = self.trail
        twin.doubt = self.doubt
        twin.ended = self.ended
        twin.left_at = self.left_at
        twin.returned = self.returned
        return twin

    def object_of(self, value: Value) -> Object | None:
        """Return the object that a value points into; None if nothing is known about it."""
        return self.objects.get(value.target) if value.target is not None else None

    def cells_of(self, key: str | None) -> list[Place]:
        return [cell for cell in self.cells if cell[0] == key]

    def pointers(self) -> frozenset[tuple[object, ...]]:
        """Return the target, offset and nullness of every pointer into a known object."""
        objects = self.objects
        return frozenset(
            [
                (cell, value.target, value.at, value.null)
                for cell, value in self.cells.items()
                if value.target in objects
            ]
        )

    def forget(self, key: str | None) -> None:
        """Drop the contents of an object."""
        for cell in self.cells_of(key):
            del self.cells[cell]

    def note(self, line: int, text: str, about: Expression | None = None, *, undecided: bool = False) -> PathEvent:
        """Add an event to the trace; the code `about` replaces {} in its text."""
        self.trail = PathEvent(self.trail, self.frame.file, line, text, about, 0.0, undecided)
        return self.trail

    def outside(self, event: PathEvent) -> PathEvent | None:
        """Return the taint of data that comes from outside; for a project's own rule, only its sources are."""
        return event if self.machine.rule is None else None

    def same_as(self, other: "PathState") -> bool:
        """Return whether two paths have the same future behaviour."""
        return (
            self.returned == other.returned
            and self.cells == other.cells
            and self.objects == other.objects
            and self.facts == other.facts
            and self.results == other.results
        )

    def joins(self, other: "PathState") -> bool:
        """Join with a path that differs only in numeric ranges; return False if it differs otherwise."""
        if self.objects != other.objects or self.returned != other.returned or self.results != other.results:
            return False
        if self.cells.keys() != other.cells.keys():
            return False
        joined = {}
        for cell, value in self.cells.items():
            twin = other.cells[cell]
            if twin is value or twin == value:
                continue
            if value[1:] != twin[1:]:
                return False
            joined[cell] = value._replace(range=either(value.range, twin.range))
        self.cells.update(joined)
        self.facts = {fact: holds for fact, holds in self.facts.items() if other.facts.get(fact) == holds}
        self.doubt = min(self.doubt, other.doubt)
        return True


# Record findings with their confidence and trace.

STATIONS = 40
LEAST, MOST = 0.4, 0.95
# The highest confidence of rules of which readers called fewer than one in six findings from 0.7 true, in 24 real
# projects (docs/precision.md).
DOUBTED = 0.68
# From this estimate on, by constants or by the lifetime of an object, an effect that certainly follows its cause is as
# likely as estimated: in six real projects, lower ones (leaks, untrusted indexes) were one in ten true on such paths.
CERTAIN = 0.88
# The highest confidence where an undecided branch between cause and effect may exclude the effect, or where it is in a
# callee: readers found one in six of such NULL pointers in real code to be possible, and fewer of the others.
RARELY, SOMETIMES = 0.44, 0.53
PER_CALL = 0.02
FEW_BRANCHES, MANY_BRANCHES = 4, 11
PER_BRANCH, PER_BRANCH_MORE = 0.02, 0.04


class FlowRule(NamedTuple):
    """A rule by its id in rules.json, with what was measured in real code.

    Confidences go up to `highest`, and up to `indirect` where the effect is not certain to follow the cause; findings
    that depend on nothing but the path from their source to their sink are `local`.
    """

    id: str
    highest: float = MOST
    indirect: float | None = None
    local: bool = False

    def report(
        self,
        path: PathState,
        line: int,
        text: str,
        *,
        sure: float,
        since: PathEvent | None = None,
        at: int | None = None,
    ) -> None:
        """Record a finding; of several on a line keep the one with the highest confidence, then the shortest trace.

        `since` is the event that its trace begins with; `at` is the reported line, if it is not `line`.
        """
        machine, frame = path.machine, path.frame
        if machine.rule is not None and self.id != machine.rule.id:
            return
        if machine.mode.quiet or (self.local and _is_reported_there(path, since)):
            return
        if at is None and machine.execution.leaving and since is not None and since.file is None:
            # What is released by the language comes after the defect.
            at = since.line
        if at is None:
            at = line if frame.file is None or frame.call_line is None else frame.call_line
        stations = [*_since(path.trail, since), (frame.file, line, text)]
        straight = is_straight(path, since)
        is_certain = sure >= CERTAIN and straight and _is_plain(path, since)
        sure -= _doubted(path.doubt) + PER_CALL * frame.depth + (since.doubt if since is not None else 0)
        sure = max(LEAST, min(MOST, sure))
        confidence = round(sure, 2) if is_certain else self._measured(sure)
        if self.indirect is not None and not straight:
            confidence = min(confidence, self.indirect)
        previous = machine.findings.get((self.id, at))
        if previous is None or (confidence, -len(stations)) > (previous[0], -len(previous[1])):
            machine.findings[self.id, at] = (confidence, stations)

    def report_in(
        self,
        machine: "AnalysisContext",
        function: LoweredFunction,
        line: int,
        text: str,
        *,
        sure: float,
        since: PathEvent | None = None,
    ) -> None:
        """Record a finding in an analyzed function that does not depend on a path."""
        self.report(PathState(machine, Frame(function, 1)), line, text, sure=sure, since=since)

    def _measured(self, sure: float) -> float:
        """Return the confidence by what was measured; the order of findings of a rule stays the same."""
        share = (sure - LEAST) / (MOST - LEAST)
        return round(LEAST + share * (self.highest - LEAST) if self.highest < MOST else sure, 2)


def _is_reported_there(path: PathState, since: PathEvent | None) -> bool:
    """Return whether a defect begins and ends in one function of another file, whose own analysis reports it."""
    frame = path.frame
    if frame.file is None or since is None or since.file != frame.file:
        return False
    function = frame.function
    return function.line <= since.line <= function.end and path.machine.is_root_elsewhere(function)


def is_straight(path: PathState, since: PathEvent | None) -> bool:
    """Return whether nothing undecided lies between the event `since` and this place in the same function."""
    at = path.trail
    for _ in range(STATIONS):
        if at is None or at is since:
            break
        if at.undecided:
            return False
        at = at.before
    return not path.frame.depth


def _is_plain(path: PathState, since: PathEvent | None) -> bool:
    """Return whether the effect follows from its cause without a guess: a straight path has led to both.

    That is a path through the analyzed function without an undecided branch, or its part from cause to effect if both
    are in this function and in no loop.
    """
    frame = path.frame
    if frame.depth or frame.file is not None:
        return False
    if since is None:
        return not path.doubt
    is_here = since.file is None and frame.function.line <= since.line <= frame.function.end
    return not path.doubt or (is_here and not path.machine.mode.loops)


def _doubted(branches: int) -> float:
    """Return the loss of confidence due to undecided branches on the path."""
    more = min(max(branches - FEW_BRANCHES, 0), MANY_BRANCHES - FEW_BRANCHES)
    return PER_BRANCH * min(branches, FEW_BRANCHES) + PER_BRANCH_MORE * more


def _since(trail: PathEvent | None, since: PathEvent | None) -> list[tuple[str | None, int, str]]:
    """Return the last events of a trace, after the event `since`."""
    result: list[tuple[str | None, int, str]] = []
    at = trail
    while at is not None and at is not since and len(result) < STATIONS:
        result.append((at.file, at.line, _event_text(at)))
        at = at.before
    if since is not None:
        if at is not since:
            result = [one for one in result if one[1] >= since.line or one[0] != since.file]
        result.append((since.file, since.line, _event_text(since)))
    return result[::-1]


def _event_text(step: PathEvent) -> str:
    return step.note if step.about is None else step.note.replace("{}", text_of(step.about), 1)
