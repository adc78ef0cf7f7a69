"""Judge Rust functions by running the project's tests; a `SuiteRunner` executes the tests."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, Protocol

from jarvis_workers.c2rust.bisection import find_culprits
from jarvis_workers.c2rust.conversion import (
    Cause,
    FunctionResult,
    FunctionState,
    GateOutcome,
    Proof,
    proof_of,
    suffices,
)
from jarvis_workers.c2rust.shadow_fields import FunctionTypes, is_padding, name_field
from jarvis_workers.c2rust.shadow_log import MemoryDifference, read_shadow_log

NOT_REACHED = "no test reaches it"
TRAP_PASSED = "tests call it, but pass when the call aborts"
# The gates that compare calls with C.
COMPARING = ("inputs", "shadow")
# Fewer calls with generated arguments prove nothing.
LEAST_INPUTS = 20
NONE: Mapping[str, int] = MappingProxyType({})
NO_TEXTS: Mapping[str, str] = MappingProxyType({})


class SuiteRun(NamedTuple):
    """A run of all test commands: whether each ended as in C, the first failure on one line, and CPU seconds.

    `compared` counts the calls compared with C by function; `log` has the lines about calls that differ.
    """

    passed: bool
    failure: str = ""
    seconds: float = 0.0
    compared: Mapping[str, int] = NONE
    log: str = ""
    unshadowed: Mapping[str, str] = NO_TEXTS


class SuiteRunner(Protocol):
    """Runs the project's tests, built with slots, and a library that contains all bodies."""

    def run(self, rust: Sequence[str] = (), *, trap: Sequence[str] = (), shadow: Sequence[str] = ()) -> SuiteRun:
        """Run the tests with these functions in Rust; a call of a trapped function ends a test."""


class InputRun(NamedTuple):
    """Calls of a Rust function with generated arguments: how many were made, returned, and were compared with C.

    `failure` is the first that did not return, `log` has the lines about calls that differ, `unshadowed` why calls
    could not be compared.
    """

    made: int
    returned: int
    compared: int
    failure: str = ""
    log: str = ""
    unshadowed: str = ""
    seconds: float = 0.0

    def outcomes(self) -> list[GateOutcome]:
        """Return the outcome of the gate; empty if the calls neither prove nor refute the function."""
        if self.log:
            return [GateOutcome("inputs", passed=False, detail="a call differs from C", seconds=self.seconds)]
        if self.returned < self.made and not self.unshadowed:
            return [GateOutcome("inputs", passed=False, detail=self.failure, seconds=self.seconds)]
        if self.compared < LEAST_INPUTS:
            return []
        return [GateOutcome("inputs", True, f"{self.compared} calls with generated arguments", self.seconds)]


NO_INPUTS = InputRun(0, 0, 0)


class GateReport(NamedTuple):
    """The results of the gates of a function: outcomes in order, calls compared, and the log of differences.

    For a function that does not compile, the log has the errors.
    """

    slot: str
    gates: tuple[GateOutcome, ...]
    calls: int = 0
    log: str = ""


def check_function(
    runs: SuiteRunner,
    slot: str,
    *,
    called: bool,
    shadow: bool,
    inputs: InputRun = NO_INPUTS,
    reached: GateOutcome | None = None,
    suite: SuiteRun | None = None,
    doubled: SuiteRun | None = None,
) -> GateReport:
    """Run the gates on a body that compiles.

    `called` means that a test calls it, `shadow` that calls can be compared. `reached` is the outcome of that gate for
    another body of the function: what tests do without the function does not depend on its body. `suite` is a run of
    the tests with it and other functions in Rust, `doubled` one that compares calls.
    """
    gates = [GateOutcome("check", passed=True), *inputs.outcomes()]
    if not called:
        gates.append(GateOutcome("reached", passed=False, detail=NOT_REACHED))
        return GateReport(slot, tuple(gates), inputs.compared, inputs.log)
    gates.append(reached or reached_gate(runs, slot))
    suite = suite or runs.run([slot])
    gates.append(GateOutcome("suite", suite.passed, suite.failure, suite.seconds))
    if not (shadow and suite.passed):
        return GateReport(slot, tuple(gates), inputs.compared, inputs.log)
    doubled = doubled or runs.run([slot], shadow=[slot])
    calls = doubled.compared.get(slot, 0)
    if doubled.log:
        gates.append(GateOutcome("shadow", passed=False, detail="a call differs from C", seconds=doubled.seconds))
    elif calls and doubled.passed:
        gates.append(
            GateOutcome("shadow", passed=True, detail=doubled.unshadowed.get(slot, ""), seconds=doubled.seconds)
        )
    return GateReport(slot, tuple(gates), calls + inputs.compared, inputs.log + doubled.log)


def reached_gate(runs: SuiteRunner, slot: str) -> GateOutcome:
    """Run the tests with a function that ends the program at its first call; the gate passes if they fail."""
    trapped = runs.run(trap=[slot])
    return GateOutcome("reached", not trapped.passed, TRAP_PASSED if trapped.passed else "", trapped.seconds)


def judge_differences(report: GateReport, types: FunctionTypes) -> GateReport:
    """Return a report that names the fields that differ; differences in padding only do not count."""
    found = read_shadow_log(report.log.encode(), [report.slot]).differences
    if not found:
        return report
    as_called_first = sorted(found, key=lambda one: one.variation != "")
    first = next((one for one in as_called_first if not is_padding(one, types)), None)
    detail = difference_text(first, types) if first else ""
    gates = tuple(
        gate._replace(passed=first is None, detail=detail) if gate.gate in COMPARING and not gate.passed else gate
        for gate in report.gates
    )
    return report._replace(gates=gates)


def difference_text(one: MemoryDifference, types: FunctionTypes) -> str:
    """Return a difference on one line."""
    call = f"call {one.call}" + (f", {one.variation}" if one.variation else "")
    if field := name_field(one, types):
        return f"{field.field}: C {field.c}, Rust {field.rust} ({call})"
    place = f"{one.region.kind} {one.region.start}" + "".join(f" +{offset}" for offset in one.region.offsets)
    return f"{place}: C {one.c.hex()}, Rust {one.rust.hex()} ({call})"


def verdict(
    function: FunctionResult, checked: GateReport | None, required: Proof, accepted: FunctionState = "mechanical"
) -> FunctionResult:
    """Return a function with the proof from its gates; if the proof is strong enough, the state is `accepted`."""
    if checked is None:
        return function
    gates, proof = checked.gates, proof_of(checked.gates)
    failed = next((one for one in gates if not one.passed and one.gate != "reached"), None)
    state, cause, reason = function.state, function.cause, function.reason
    if failed is not None:
        cause, reason = "different", f"{failed.gate}: {failed.detail}"
    elif suffices(proof, required):
        state, cause, reason = accepted, "", ""
    else:
        cause, reason = "not_checked", next((one.detail for one in gates if one.detail), f"only {proof}")
    return replace(function, state=state, cause=cause, reason=reason, proof=proof, gates=gates, calls=checked.calls)


def union_culprits(runs: SuiteRunner, slots: Sequence[str]) -> list[str]:
    """Run the tests with all accepted functions in Rust; return the functions to revert to C."""
    return find_culprits(slots, lambda names: runs.run(names).passed)


def take_back(function: FunctionResult, culprits: Collection[str], cause: Cause, reason: str) -> FunctionResult:
    """Return the function, reverted to C if it is among the culprits."""
    if function.slot not in culprits:
        return function
    return replace(function, state="forwarded", cause=cause, reason=reason)
