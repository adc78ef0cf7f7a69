"""Decide what runs of a project's tests say of functions in Rust; `SuiteRunner` executes them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, Protocol

from jarvis_workers.c2rust.bisection import find_culprits
from jarvis_workers.c2rust.conversion import (
    FunctionResult,
    GateOutcome,
    Proof,
    proof_of,
    suffices,
)

NOT_REACHED = "no test reaches it"
NONE: Mapping[str, int] = MappingProxyType({})
NO_TEXTS: Mapping[str, str] = MappingProxyType({})


class SuiteRun(NamedTuple):
    """A run of all test commands: whether each ended as it does in C, the first failure in one line, CPU seconds.

    `compared` counts the calls compared with C by function; `differences` is the first difference of each function.
    """

    passed: bool
    failure: str = ""
    seconds: float = 0.0
    compared: Mapping[str, int] = NONE
    differences: Mapping[str, str] = NO_TEXTS
    unshadowed: Mapping[str, str] = NO_TEXTS


class SuiteRunner(Protocol):
    """Runs of the project's tests over programs with slots and a library that holds all bodies."""

    def run(self, rust: Sequence[str] = (), *, trap: Sequence[str] = (), shadow: Sequence[str] = ()) -> SuiteRun:
        """Run the tests with these functions in Rust, ended at a call of a trapped one."""


class GateReport(NamedTuple):
    """What the gates said of a function: outcomes in their order, and the calls compared."""

    slot: str
    gates: tuple[GateOutcome, ...]
    calls: int = 0


def check_function(runs: SuiteRunner, slot: str, *, called: bool, shadow: bool) -> GateReport:
    """Run the gates of a body that compiles; `called` if some test calls it, `shadow` if calls can be compared."""
    gates = [GateOutcome("check", passed=True)]
    if not called:
        return GateReport(slot, (*gates, GateOutcome("reached", passed=False, detail=NOT_REACHED)))
    trapped = runs.run(trap=[slot])
    gates.append(GateOutcome("reached", not trapped.passed, NOT_REACHED if trapped.passed else "", trapped.seconds))
    suite = runs.run([slot])
    gates.append(GateOutcome("suite", suite.passed, suite.failure, suite.seconds))
    if not (shadow and suite.passed):
        return GateReport(slot, tuple(gates))
    doubled = runs.run([slot], shadow=[slot])
    calls, difference = doubled.compared.get(slot, 0), doubled.differences.get(slot, "")
    reason = difference or doubled.failure or doubled.unshadowed.get(slot, "")
    if difference or calls:
        gates.append(GateOutcome("shadow", not difference and calls > 0, reason, doubled.seconds))
    return GateReport(slot, tuple(gates), calls)


def verdict(function: FunctionResult, checked: GateReport | None, wanted: Proof) -> FunctionResult:
    """Return a function with the proof of its gates, mechanical if this is at least the wanted one."""
    if checked is None:
        return function
    gates, proof = checked.gates, proof_of(checked.gates)
    failed = next((one for one in gates if not one.passed and one.gate != "reached"), None)
    state, cause, reason = function.state, function.cause, function.reason
    if failed is not None:
        cause, reason = "different", f"{failed.gate}: {failed.detail}"
    elif suffices(proof, wanted):
        state, cause, reason = "mechanical", "", ""
    else:
        cause, reason = "not_checked", next((one.detail for one in gates if one.detail), f"only {proof}")
    return replace(function, state=state, cause=cause, reason=reason, proof=proof, gates=gates, calls=checked.calls)


def settle_union(runs: SuiteRunner, slots: Sequence[str]) -> tuple[SuiteRun, list[str]]:
    """Run the tests with all accepted functions in Rust; return the last run and the functions to take back to C."""
    culprits = find_culprits(slots, lambda names: runs.run(names).passed)
    left = [slot for slot in slots if slot not in set(culprits)]
    return runs.run(left), culprits


def take_back(function: FunctionResult, culprits: Collection[str], reason: str) -> FunctionResult:
    """Return a function that is C again if it is among the culprits."""
    if function.slot not in culprits:
        return function
    return replace(function, state="forwarded", cause="different", reason=reason)
