"""State of one path through a function and the functions it calls.

A path is the only mutable value of the analysis; a fork copies it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
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
    branches that were taken although undecided.  A path with `ended` set does not continue.
    """

    __slots__ = ("cells", "doubt", "ended", "facts", "frame", "machine", "objects", "results", "returned", "trail")

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
