"""State of the analysis of one file: definitions, findings, evaluation flags and limits.

The context does not interpret code; functions that take a path do.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from jarvis_workers.dataflow.calls.function_models import NO_MODELS, FunctionModels
from jarvis_workers.dataflow.calls.taint_rules import Effect, TaintRule
from jarvis_workers.dataflow.ir.expr import AddressExpr, AssignExpr, BinaryExpr, CallExpr, Expression, NameExpr
from jarvis_workers.dataflow.ir.stmt import FunctionMacro, LoopStmt, LoweredFunction
from jarvis_workers.dataflow.loops.loop_moves import LoopFacts
from jarvis_workers.dataflow.queries.ast_queries import (
    OPPOSITE,
    size_of_function,
    walk,
    without_casts,
)
from jarvis_workers.dataflow.queries.condition_queries import (
    limits_in,
    rejections,
    repeated_conditions,
    repeated_numbers,
    tested_calls,
    wrap_checks,
)
from jarvis_workers.dataflow.queries.counted_buffers import CountedBuffer
from jarvis_workers.dataflow.queries.natures import nature, predicate
from jarvis_workers.dataflow.queries.scopes import addressed
from jarvis_workers.dataflow.state.definitions import Callee, Definitions, Lookup, RecentResults
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.values import (
    ANY,
    LinearExtent,
    OpenMove,
    PathEvent,
    PendingCheck,
    Place,
    Range,
    Value,
)

# How code is evaluated at the moment, and what the execution of a function has met so far.

# A function may take this many steps.
STEPS = 5000


class Mode(NamedTuple):
    """How code is evaluated; a scope replaces the mode of the analysis as a whole, and puts it back at its end.

    `quiet` suppresses findings.  `addressing` is set in the operand of &, `passing` in arguments of a call; `unfolding`
    counts the macros whose statements are executed, among the `macros_open`.  `counting` is set in loops that are
    analyzed by one representative iteration, and `filling` are the objects that these write to; `reaches` are the last
    values of counters, `loops` the loops that are executed.
    """

    quiet: bool = False
    addressing: bool = False
    passing: bool = False
    macros_open: int = 0
    unfolding: int = 0
    counting: bool = False
    filling: frozenset[str] = frozenset()
    reaches: Mapping[Place, LinearExtent] = {}
    loops: tuple[LoopStmt, ...] = ()

    def quietly(self) -> "Mode":
        """Return the mode without findings; three times as fast as `_replace`, like the one below."""
        _, addressing, passing, macros, unfolding, counting, filling, reaches, loops = self
        return Mode(True, addressing, passing, macros, unfolding, counting, filling, reaches, loops)

    def at_address(self, addressing: bool) -> "Mode":
        """Return the mode in the operand of &, or in an expression that an address in it depends on."""
        quiet, _, passing, macros, unfolding, counting, filling, reaches, loops = self
        return Mode(quiet, addressing, passing, macros, unfolding, counting, filling, reaches, loops)

    def in_macro(self, statements: int = 0) -> "Mode":
        """Return the mode inside of one more macro, which may have statements."""
        return self._replace(macros_open=self.macros_open + 1, unfolding=self.unfolding + statements)


class Execution:
    """The state of the execution of a function, shared by its paths.

    `pruned` tells that not all paths were followed.  `counted` are the buffers that the function receives with a
    length, `overlaid` those of bytes, `measures` the variables that sizes are multiples of, `open_moves` the variables
    that a loop moves without a bound.  `writing` is set until the target of an assignment is accessed, `storing` is the
    value that was assigned last, and `copied` its expression until it is stored.  `leaving` is set while deferred
    statements are executed; `handed_out` are the places that the addresses of local variables were stored in.
    """

    __slots__ = (
        *("copied", "counted", "handed_out", "has_elements", "leaving", "line", "measures", "open_moves", "overlaid"),
        "pruned",
        *("steps", "steps_max", "storing", "writing"),
    )

    def __init__(self, steps_max: int = STEPS) -> None:
        self.steps = self.line = 0
        self.steps_max = steps_max
        self.pruned = self.has_elements = self.writing = self.leaving = False
        self.storing: Value = ANY
        self.copied: Expression | None = None
        self.counted: dict[str, CountedBuffer] = {}
        self.overlaid: frozenset[str] = frozenset()
        self.handed_out: dict[tuple[Place, str], PathEvent] = {}
        self.measures: set[Place] = set()
        self.open_moves: Mapping[Place, OpenMove] = {}


T = TypeVar("T")
# Calls of functions with at most this many statements are followed.
SMALL = 25
# Confidence and trace: steps of (file, None for the analyzed file; line; event).
Finding = tuple[float, list[tuple[str | None, int, str]]]


class FunctionFacts:
    """Cached properties of a function; the function itself is immutable.

    `pointers`, `references` and `structs` are the numbers of its parameters of these kinds.
    """

    def __init__(self, function: LoweredFunction) -> None:
        self.function = function
        self.is_small = size_of_function(function, SMALL) <= SMALL
        kinds = [parameter.type for parameter in function.params]
        self.pointers = tuple(at for at, kind in enumerate(kinds) if kind.endswith("*"))
        self.references = tuple(at for at, kind in enumerate(kinds) if kind.endswith("&"))
        # Parameters that may be structs or containers, which are copied by part.
        self.structs = tuple(
            at for at, kind in enumerate(kinds) if not kind.endswith(("*", "&")) and not limits_of(kind)
        )

    @cached_property
    def nature(self) -> tuple[bool, frozenset[str]]:
        return nature(self.function)

    @cached_property
    def predicate(self) -> FunctionMacro | None:
        """The function as a macro, if all that it does is to test its parameters."""
        return predicate(self.function)

    @cached_property
    def tested_calls(self) -> frozenset[str]:
        """The texts of the calls that decide conditions."""
        return tested_calls(self.function)

    @cached_property
    def limits(self) -> dict[str, int]:
        return limits_in(self.function)

    @cached_property
    def added_up(self) -> frozenset[str]:
        """The variables that the function adds to."""
        return frozenset(
            node.target.name
            for node in walk(self.function.body)
            if isinstance(node, AssignExpr) and node.op and isinstance(node.target, NameExpr)
        )

    @cached_property
    def set_by_calls(self) -> frozenset[str]:
        """The variables whose address calls get."""
        return frozenset(
            part.operand.name
            for node in walk(self.function.body)
            if isinstance(node, CallExpr)
            for part in node.args
            if isinstance(part, AddressExpr) and isinstance(part.operand, NameExpr)
        )

    @cached_property
    def addressed(self) -> dict[int, tuple[str, ...]]:
        return addressed(self.function)

    @cached_property
    def repeated_conditions(self) -> frozenset[str]:
        return repeated_conditions(self.function)

    @cached_property
    def repeated_numbers(self) -> frozenset[str]:
        return repeated_numbers(self.function)

    @cached_property
    def wrap_checks(self) -> frozenset[frozenset[Expression]]:
        return wrap_checks(self.function)

    @cached_property
    def compared_pairs(self) -> frozenset[frozenset[Expression]]:
        """The pairs of expressions that the function compares with each other."""
        return frozenset(
            frozenset((without_casts(node.left), without_casts(node.right)))
            for node in walk(self.function.body)
            if isinstance(node, BinaryExpr) and node.op in OPPOSITE
        )

    @cached_property
    def rejections(self) -> frozenset[int]:
        return rejections(self.function)


facts_of = RecentResults[LoweredFunction, FunctionFacts](FunctionFacts)


class AnalysisContext(Definitions):
    """State of the analysis of one file.

    `mode` is replaced as a whole, `execution` is that of the function that is analyzed, or of code apart from it.
    With `rule`, a project's own, only the data of its sources is tainted, and only its sinks are reported; `effects`
    are those of the calls of functions, `models` what a project says of `modelled` functions, and
    `checks` the arguments that conditions on results of calls decide about.
    """

    evaluated: int
    frames: int
    mode: Mode
    execution: Execution

    def __init__(
        self,
        model: dict[str, Any],
        lookup: Lookup,
        rule: TaintRule | None = None,
        models: FunctionModels = NO_MODELS,
    ) -> None:
        super().__init__(model, lookup)
        self.rule = rule
        self.models, self.modelled = models, models.names
        self.effects: Mapping[str, tuple[Effect, ...]] = rule.effects if rule is not None else {}
        self.checks: dict[str, dict[tuple[str, int], PendingCheck]] = {}
        self.findings: dict[tuple[str, int], Finding] = {}
        self.proved: dict[tuple[str, int], bool] = {}
        # Lines of which something is reported elsewhere, as names in HARMLESS.
        self.reported: set[tuple[str, int]] = set()
        self.begin()
        self.made_at: dict[str, int] = {}
        # The objects that callees have returned.
        self.handed_back: set[str] = set()
        self.facts: dict[int, tuple[str, bool, bool]] = {}
        self.calls: dict[int, list[Expression]] = {}
        self.callees: dict[int, Callee | None] = {}
        self.loops: dict[int, LoopFacts] = {}
        self.fields: dict[int, str] = {}
        self.spans: dict[int, tuple[int, int] | None] = {}
        self.field_arrays: dict[int, tuple[int, Range] | None] = {}
        self.function_macros: dict[str, FunctionMacro | None] = {}
        self.ending_macros: dict[str, bool] = {}
        self.ending_names: dict[str, bool] = {}
        self.call_variables: dict[int, frozenset[str]] = {}
        # Properties of functions; each entry holds its function, whose identity is the key.
        self._properties: dict[tuple[str, int], tuple[LoweredFunction, bool]] = {}
        self._named = 0
        self._made_up: dict[tuple[int, str], tuple[tuple[Any, ...], Any]] = {}

    def begin(self) -> None:
        """Reset the state for the next function."""
        self.evaluated = self.frames = 0
        # The evaluations in each callee, by its identity.
        self.spent: dict[int, int] = {}
        # By the names of objects, which other functions use again; grids are the arrays of arrays.
        self.statics: set[str] = set()
        self.grids: set[str] = set()
        self.inner_arrays: dict[str, set[str]] = {}
        self.around: dict[str, str] = {}
        self.mode, self.execution = Mode(), Execution()

    @contextmanager
    def aside(self, steps_max: int) -> Iterator[None]:
        """Execute code apart from the current path, without findings; afterwards, its analysis continues."""
        before = self.mode, self.execution
        self.mode, self.execution = Mode(quiet=True), Execution(steps_max)
        try:
            yield
        finally:
            self.mode, self.execution = before

    def prove(self, what: str, line: int, *, holds: bool) -> None:
        """Record whether a line is harmless on this path; it counts as harmless only if it is on every path."""
        self.proved[what, line] = holds and self.proved.get((what, line), True)

    def doubt_proofs(self, first: int, last: int) -> None:
        """Withdraw the proofs for a range of lines, because not every path was followed."""
        for what, line in self.proved:
            if first <= line <= last:
                self.proved[what, line] = False

    def name(self, prefix: str) -> str:
        """Return a new, unique name for an object."""
        self._named += 1
        return f"{prefix}:{self._named}"

    def property_of(self, name: str, function: LoweredFunction, compute: Callable[[], bool]) -> bool:
        """Return whether a function has a property, computed once; it has none while it is computed, by recursion."""
        key = name, id(function)
        if key not in self._properties:
            self._properties[key] = function, False
            self._properties[key] = function, compute()
        return self._properties[key][1]

    def once(self, node: tuple[Any, ...], make: Callable[[], T], question: str = "") -> T:
        """Return the result of `make` for a node, cached: caches keyed by node identity need one object.

        Callers that ask different questions about the same node name them.
        """
        key = id(node), question
        made = self._made_up.get(key)
        if made is None:
            made = self._made_up[key] = (node, make())
        _, result = made
        return result
