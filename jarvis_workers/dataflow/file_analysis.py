"""Analyze the functions of one file, one after the other, within a budget of evaluations.

All limits are counts, so that the results are the same on every machine. What was found before the end of a limit is
kept, and each function that was not analyzed to its end is named.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jarvis_workers.dataflow.context import AnalysisContext
from jarvis_workers.dataflow.definitions import Lookup
from jarvis_workers.dataflow.function_analysis import follow
from jarvis_workers.dataflow.recursion import room_for_calls
from jarvis_workers.dataflow.shared_sinks import merged
from jarvis_workers.dataflow.taint_rules import TaintRule, root_functions

# Findings in test code are less confident, and of medium severity at most.
TEST_FILE, TEST_MOST = -0.1, 0.79
LEAST = 0.4
# The evaluations for all functions of a file: real ones take 400 to 1,300 on average.
FILE_EVALUATIONS, FUNCTION_EVALUATIONS = 1_000_000, 5_000


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
        evaluations: int = FILE_EVALUATIONS,
    ) -> None:
        exports = model["exports"]
        self._functions = [exports[one] if isinstance(one, str) else one for one in model["functions"]]
        self._model = {**model, "functions": self._functions}
        self._lookup = lookup
        self._test = test
        self._evaluations = evaluations
        self._left = [
            (rule, roots)
            for rule in (None, *(rule for rule in rules if rule.in_tests or not test))
            if (roots := deque(self._roots(rule)))
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
                self._machine = machine = AnalysisContext(self._model, self._lookup, rule)
                self._follow(machine, roots)
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
        return [one for one in self._functions if one["root"]]

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
                self.work = self.work.plus(machine.steps, machine.evaluated)
            if reason:
                self._gaps.append(_gap(function, reason))
            roots.popleft()

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
    for (what, line), holds in sorted(machine.proved.items()):
        if holds:
            yield FlowHit(what, line, 1.0, "", ())


def _gap(function: dict[str, Any], reason: str) -> FunctionGap:
    return FunctionGap(function["name"], function["line"], reason)
