"""One path through a function and the functions it calls: what it knows, and how it came here.

A path is the one thing that changes; where it splits, it is copied.
"""

from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.ranges import either
from jarvis_workers.dataflow.values import ANY, Object, PathEvent, Place, Value

if TYPE_CHECKING:
    from jarvis_workers.dataflow.context import AnalysisContext

__all__ = ["Frame", "PathState", "Variable"]


class Variable(NamedTuple):
    """A local variable: the type of it, or of its elements if it is an array, and its cell."""

    kind: str
    is_array: bool
    place: Place


class Frame:
    """A call that is being followed: the function, its variables' types, and where it was called.

    `file` is None for the file that is analyzed; `call_line` is the line there that led to the call.  `references` are
    the variables that stand for what another names.
    """

    __slots__ = (
        "call_line",
        "callers",
        "depth",
        "destroyed",
        "file",
        "function",
        "hidden",
        "number",
        "references",
        "scope",
        "scopes",
        "this",
        "types",
    )

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
        """Return the name of the object that a local variable is."""
        return self.hidden.get(name) or f"{self.number}:{name}"

    def hide(self, name: str) -> None:
        """Give a variable of an inner block a place of its own, where one outside has the same name."""
        if name in self.types and self.scopes.get(name, 0) < self.scope:
            self.hidden[name] = f"{self.number}:{name}'{self.scope}"
        else:
            self.scopes[name] = self.scope

    def declare(self, name: str, kind: str, *, array: bool = False) -> str:
        """Set the type of a local variable, and return the name of the object that it is."""
        self.hide(name)
        key = self.key(name)
        self.types[name] = Variable(kind, array, (key, ""))
        return key

    def is_array(self, name: str) -> bool:
        held = self.types.get(name)
        return held is not None and held.is_array


class PathState:
    """One path so far.

    `cells` holds what is stored where; `facts` what conditions said that are asked again, by their text; `results`
    what calls returned that were followed, by the id of their node, until the expression they stand in is evaluated.
    `doubt` counts the branches that were taken for possible.  A path that has `ended` is not gone on with.
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
        """Return the object that a value points into, if something is known of it."""
        return self.objects.get(value.target) if value.target is not None else None

    def cells_of(self, key: str | None) -> list[Place]:
        return [cell for cell in self.cells if cell[0] == key]

    def pointers(self) -> frozenset[tuple[object, ...]]:
        """Return where each pointer into a known object stands."""
        return frozenset(
            (cell, value.target, value.at, value.null)
            for cell, value in self.cells.items()
            if value.target in self.objects
        )

    def forget(self, key: str | None) -> None:
        """Forget what is stored in an object."""
        for cell in self.cells_of(key):
            del self.cells[cell]

    def note(self, line: int, text: str, about: Expression | None = None) -> PathEvent:
        """Put a station on the path; `about` is code that is put where the text has {}."""
        self.trail = PathEvent(self.trail, self.frame.file, line, text, about)
        return self.trail

    def same_as(self, other: "PathState") -> bool:
        """Tell whether nothing that matters later sets two paths apart."""
        return (self.cells, self.objects, self.facts, self.returned) == (
            other.cells,
            other.objects,
            other.facts,
            other.returned,
        )

    def joins(self, other: "PathState") -> bool:
        """Take in a path that differs in numbers only, and tell whether it does."""
        if self.objects != other.objects or self.returned != other.returned or self.cells.keys() != other.cells.keys():
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
