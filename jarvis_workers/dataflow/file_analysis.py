"""Analyze the functions of one file, one after the other, within a budget of evaluations.

All limits are counts, so that the results are the same on every machine. What was found before the end of a limit is
kept, and each function that was not analyzed to its end is named.
"""

import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

# These modules register their evaluators, and the rules their listeners.
import jarvis_workers.dataflow.rules  # noqa: F401
from jarvis_workers.dataflow.calls import calls  # noqa: F401
from jarvis_workers.dataflow.calls.function_models import NO_MODELS, FunctionModels
from jarvis_workers.dataflow.calls.taint_rules import TaintRule, root_functions
from jarvis_workers.dataflow.events import on_exit
from jarvis_workers.dataflow.execution import statements  # noqa: F401
from jarvis_workers.dataflow.execution.interpreter import follow_body
from jarvis_workers.dataflow.expressions import variables  # noqa: F401
from jarvis_workers.dataflow.expressions.assignments import declare
from jarvis_workers.dataflow.expressions.evaluate import StepLimitReached
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.lifetimes.members import forgotten_members
from jarvis_workers.dataflow.lifetimes.walk import lifetime_hits
from jarvis_workers.dataflow.loops import loops  # noqa: F401
from jarvis_workers.dataflow.memory.outside import BYTE
from jarvis_workers.dataflow.memory.ownership import MAINS
from jarvis_workers.dataflow.queries.counted_buffers import counted_buffers
from jarvis_workers.dataflow.state.context import AnalysisContext, Finding
from jarvis_workers.dataflow.state.definitions import Lookup
from jarvis_workers.dataflow.state.path import Frame, PathState
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.values import ANY, NOT_NULL, Value

# Findings in test code are less confident, and of medium severity at most.
TEST_FILE, TEST_MOST = -0.1, 0.79
LEAST = 0.4
# The evaluations for all functions of a file: real ones take 400 to 1,300 on average.
FILE_EVALUATIONS, FUNCTION_EVALUATIONS = 1_000_000, 5_000
TOO_DEEP = "it is nested too deeply"
# At most this many other callers are listed by their lines.
LISTED_MAX = 8
# A rule and a line.
Key = tuple[str, int]
# The number of calls that the front end, or the analysis of a function, may nest.
CALLS_DEEP = 960


class FlowHit(NamedTuple):
    """A defect on a path; each step of its trace is (file, line, event), with None as the analyzed file."""

    pattern: str
    line: int
    confidence: float
    evidence: str
    steps: tuple[tuple[str | None, int, str], ...]


class FunctionGap(NamedTuple):
    """A function that was not analyzed to its end; the reason is a sentence about "it"."""

    name: str
    line: int
    reason: str


class FlowResult(NamedTuple):
    """The defects in a file, and the functions that were not analyzed to their end, sorted by line."""

    hits: tuple[FlowHit, ...]
    gaps: tuple[FunctionGap, ...]


class WorkCounts(NamedTuple):
    """What the analysis of functions has cost."""

    functions: int = 0
    steps: int = 0
    evaluations: int = 0

    def plus(self, steps: int, evaluations: int) -> "WorkCounts":
        """Return the counts with those of one more function."""
        return WorkCounts(self.functions + 1, self.steps + steps, self.evaluations + evaluations)


class FileAnalysis:
    """The analysis of a file; `stopped` returns what it has found if `run` did not end.

    `evaluations` are those for all functions, beside FUNCTION_EVALUATIONS for each.
    """

    def __init__(
        self,
        model: dict[str, Any],
        lookup: Lookup,
        *,
        test: bool,
        rules: Sequence[TaintRule] = (),
        models: FunctionModels = NO_MODELS,
        evaluations: int = FILE_EVALUATIONS,
    ) -> None:
        exports = model["exports"]
        self._functions = [exports[one] if isinstance(one, str) else one for one in model["functions"]]
        self._model = {**model, "functions": self._functions}
        self._lookup = lookup
        self._test = test
        self._evaluations = evaluations
        self._models = models
        self._lives = [one for one in self._functions if one.get("lives")]
        self._left = [
            (rule, roots)
            for rule in (None, *(rule for rule in rules if rule.in_tests or not test))
            if (roots := deque(self._roots(rule))) or (rule is None and self._lives)
        ]
        self._machine: AnalysisContext | None = None
        self.work = WorkCounts()
        self._hits: list[FlowHit] = []
        self._proofs: list[FlowHit] = []
        self._gaps = [FunctionGap(*gap) for gap in model.get("gaps", ())]

    def run(self) -> FlowResult:
        """Analyze all functions, for the built-in rules first, then for each of a project's own."""
        with room_for_calls():
            while self._left:
                rule, roots = self._left[0]
                self._machine = machine = AnalysisContext(self._model, self._lookup, rule, self._models)
                self._follow(machine, roots)
                if rule is None:
                    self._check_lifetimes(machine)
                self._proofs += _proofs(machine) if rule is None else ()
                self._finish(machine)
                del self._left[0]
        return self._result()

    def stopped(self, reason: str) -> FlowResult:
        """Return the results up to now of an analysis that was stopped; a line is not proved harmless by a part."""
        if self._machine is not None:
            self._finish(self._machine)
        self._proofs = []
        self._gaps += [_gap(function, reason) for _, roots in self._left for function in roots]
        return self._result()

    def _roots(self, rule: TaintRule | None) -> list[dict[str, Any]]:
        """Return the functions to analyze for a rule, or for the built-in rules."""
        if rule is not None:
            return root_functions(rule, self._functions)
        named = self._models.names
        return [one for one in self._functions if one["root"] or not named.isdisjoint(one.get("marks", ()))]

    def _follow(self, machine: AnalysisContext, roots: deque[dict[str, Any]]) -> None:
        """Analyze functions; those that are left in `roots` have not been analyzed to their end."""
        most = self._evaluations + FUNCTION_EVALUATIONS * len(roots)
        before = self.work.evaluations
        while roots:
            function = roots[0]
            if self.work.evaluations - before > most:
                reason: str | None = f"the functions before it took the {most:,} evaluations of its file"
            else:
                reason = follow(machine, machine.own(function))
                self.work = self.work.plus(machine.execution.steps, machine.evaluated)
            if reason:
                self._gaps.append(_gap(function, reason))
            roots.popleft()

    def _check_lifetimes(self, machine: AnalysisContext) -> None:
        hits = [hit for function in self._lives for hit in lifetime_hits(machine, machine.own(function))]
        if unreleased := frozenset(self._model.get("unreleased", ())):
            hits += forgotten_members(machine, self._functions, unreleased)
        for rule, line, sure, steps in hits:
            machine.findings.setdefault((rule, line), (sure, [(None, *step) for step in steps]))

    def _finish(self, machine: AnalysisContext) -> None:
        self._hits, self._machine = [*self._hits, *self._hits_of(machine)], None

    def _hits_of(self, machine: AnalysisContext) -> Iterator[FlowHit]:
        for (pattern, line), (confidence, steps) in merged(machine.findings):
            sure = min(TEST_MOST, confidence + TEST_FILE) if self._test else confidence
            yield FlowHit(pattern, line, round(max(LEAST, sure), 2), "", tuple(steps))

    def _result(self) -> FlowResult:
        gaps = {(gap.line, gap.name): gap for gap in reversed(self._gaps)}
        return FlowResult((*self._hits, *self._proofs), tuple(gaps[place] for place in sorted(gaps)))


def _proofs(machine: AnalysisContext) -> Iterator[FlowHit]:
    proved = {key for key, holds in machine.proved.items() if holds}
    for what, line in sorted(proved | machine.reported):
        yield FlowHit(what, line, 1.0, "", ())


def _gap(function: dict[str, Any], reason: str) -> FunctionGap:
    return FunctionGap(function["name"], function["line"], reason)


def follow(machine: AnalysisContext, function: LoweredFunction) -> str | None:
    """Analyze a function; return why its analysis ended early. Its findings are recorded in the context."""
    machine.begin()
    path = PathState(machine, Frame(function, 1))
    machine.frames = 1
    buffers = counted_buffers(function, machine.plain)
    machine.execution.counted = {f"o:{name}": buffer for name, buffer in buffers.items()}
    bytes_of = {one.name for one in function.params if one.type.endswith("*") and _is_byte(machine, one.type[:-1])}
    machine.execution.overlaid = frozenset(f"o:{name}" for name in bytes_of.union(buffers))
    for place, (name, kind, *_) in enumerate(function.params):
        declare(path, name, kind)
        is_argv = function.name in MAINS and place == 1
        value = Value(target=f"o:{name}", null=NOT_NULL, kind="argv") if is_argv else ANY
        if f"o:{name}" in machine.execution.overlaid:
            value = Value(target=f"o:{name}")
        path.cells[path.frame.key(name), ""] = value
        if kind.endswith("&"):
            path.frame.references.add(name)
            path.cells[path.frame.key(name), "&"] = Value(target=f"o:{name}", code="")
    try:
        finished = follow_body(path)
    except (StepLimitReached, RecursionError) as end:
        machine.doubt_proofs(function.line, function.end)
        return TOO_DEEP if isinstance(end, RecursionError) else str(end)
    if machine.execution.pruned:
        machine.doubt_proofs(function.line, function.end)
    on_exit.happens(finished, function)
    return None


def _is_byte(machine: AnalysisContext, kind: str) -> bool:
    return limits_of(machine.plain(kind)) == BYTE


def merged(findings: Mapping[Key, Finding]) -> list[tuple[Key, Finding]]:
    """Return the findings, sorted by line and rule; of those with the same sink elsewhere, the most confident one."""
    by_sink: defaultdict[tuple[str, str, int], list[tuple[Key, Finding]]] = defaultdict(list)
    result = []
    for key, finding in findings.items():
        file, line, _ = finding[1][-1]
        if file is None:
            result.append((key, finding))
        else:
            by_sink[key[0], file, line].append((key, finding))
    result += [_first_of(group) for group in by_sink.values()]
    return sorted(result, key=lambda one: (one[0][1], one[0][0]))


def _first_of(group: list[tuple[Key, Finding]]) -> tuple[Key, Finding]:
    group.sort(key=lambda one: (-one[1][0], one[0]))
    (key, (confidence, steps)), *others = group
    if not others:
        return key, (confidence, steps)
    *before, (file, line, text) = steps
    return key, (confidence, [*before, (file, line, f"{text} (also from {_lines([one[0][1] for one in others])})")])


def _lines(lines: list[int]) -> str:
    listed = ", ".join(str(line) for line in sorted(lines)[:LISTED_MAX])
    more = f" and {len(lines) - LISTED_MAX} more" if len(lines) > LISTED_MAX else ""
    return f"line{'s' if len(lines) > 1 else ''} {listed}{more}"


@contextmanager
def room_for_calls() -> Iterator[None]:
    """Allow CALLS_DEEP nested calls from here on."""
    depth, frame = 0, sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        depth += 1
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + CALLS_DEEP)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
