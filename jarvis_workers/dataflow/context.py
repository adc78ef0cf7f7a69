"""What one run over a file keeps: what is defined, what was found, and in which mood code is being evaluated.

It interprets nothing itself: that is done by functions that take a path.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from jarvis_workers.dataflow.ast_queries import asked_again, nature, size_of_function
from jarvis_workers.dataflow.definitions import Callee, Definitions, Lookup, RecentResults
from jarvis_workers.dataflow.induction import LoopFacts
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.values import ANY, Place, Value

__all__ = ["AnalysisContext", "Finding", "facts_of"]

T = TypeVar("T")
# Functions of so many statements are followed from where they are called.
SMALL = 25
# How sure we are, and the stations: (file, None for this one; line; what happens there).
Finding = tuple[float, list[tuple[str | None, int, str]]]


class FunctionFacts:
    """What is worked out once of a function, and kept here: a model is not changed."""

    def __init__(self, function: LoweredFunction) -> None:
        self.function = function
        self.is_small = size_of_function(function, SMALL) <= SMALL

    @cached_property
    def nature(self) -> tuple[bool, frozenset[str]]:
        return nature(self.function)

    @cached_property
    def asked_again(self) -> frozenset[str]:
        return asked_again(self.function)


facts_of = RecentResults[LoweredFunction, FunctionFacts](FunctionFacts)


class AnalysisContext(Definitions):
    """Follows the functions of one file.

    `line` is where we are.  `quiet` reports nothing, `writing` is set while the place of an assignment is looked for
    and `storing` what is assigned, `addressing` under &, `passing` in the arguments of a call.  `counting` are the
    counters of the loops around that are followed once for all their turns.
    """

    def __init__(self, model: dict[str, Any], lookup: Lookup) -> None:
        super().__init__(model, lookup)
        self.found: dict[tuple[str, int], Finding] = {}
        self.proved: dict[tuple[str, int], bool] = {}
        self.pruned = False
        self.steps = 0
        self.evaluated = 0
        self.frames = 0
        self.line = 0
        self.quiet = False
        self.writing = False
        self.storing: Value = ANY
        self.addressing = False
        self.passing = False
        self.counting: list[Place] = []
        self.copied: Expression | None = None
        self.macros_open = 0
        self.statics: set[str] = set()
        self.made_at: dict[str, int] = {}
        self.facts: dict[int, tuple[str, bool, bool]] = {}
        self.calls: dict[int, list[Expression]] = {}
        self.callees: dict[int, Callee | None] = {}
        self.loops: dict[int, LoopFacts] = {}
        self.fields: dict[int, str] = {}
        self.mentioned: dict[int, frozenset[str]] = {}
        self._named = 0
        self._made_up: dict[int, tuple[Expression, Any]] = {}

    def begin(self) -> None:
        """Forget the function before."""
        self.steps = self.evaluated = self.frames = self.line = self.macros_open = 0
        self.quiet = self.writing = self.addressing = self.passing = self.pruned = False
        self.counting.clear()
        self.copied = None

    def prove(self, what: str, line: int, *, holds: bool) -> None:
        """Keep whether a line does no harm, which it has to show on every path."""
        self.proved[what, line] = holds and self.proved.get((what, line), True)

    def doubt_proofs(self, first: int, last: int) -> None:
        """Not every path was followed: what was shown of these lines does not count."""
        for what, line in self.proved:
            if first <= line <= last:
                self.proved[what, line] = False

    def name(self, prefix: str) -> str:
        """Return a name that no object has yet."""
        self._named += 1
        return f"{prefix}:{self._named}"

    def once(self, expression: Expression, make: Callable[[], T]) -> T:
        """Return what is made of a node, the first time: what is worked out once is known by the id of its node."""
        made = self._made_up.get(id(expression))
        if made is None:
            made = self._made_up[id(expression)] = (expression, make())
        _, result = made
        return result
