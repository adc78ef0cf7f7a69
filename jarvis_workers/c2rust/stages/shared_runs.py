"""Runs of the tests that several functions share, so that a batch does not cost a run for each function and gate.

Suite: the tests run once with all functions in Rust; if they fail, a bisection finds the functions that fail alone.
Reached: where the tests fail if a function ends the program at its first call, they fail as well for every function
that all these processes call before; one traced run tells the order. Shadow: functions that do not call each other, not
even through others, are compared in one run. What such a run does not prove is run for each function alone.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from jarvis_workers.c2rust.components import strong_components
from jarvis_workers.c2rust.conversion import GateOutcome
from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.gates import SuiteRun, SuiteRunner, reached_gate, union_culprits
from jarvis_workers.c2rust.shadow_log import read_shadow_log

WORD = re.compile(r"\w+")


class TracingRunner(SuiteRunner, Protocol):
    """Runs the project's tests, and traces calls."""

    def first_calls(self) -> Mapping[str, Mapping[int, int]]:
        """Return the place of the first call of each slot in the log, by process."""


class SharedRuns(NamedTuple):
    """The outcomes by slot; those that no shared run has are missing."""

    suite: Mapping[str, SuiteRun]
    reached: Mapping[str, GateOutcome]
    doubled: Mapping[str, SuiteRun]


def share_runs(
    suites: TracingRunner, bodies: Mapping[str, CrateItem], slots: Sequence[str], *, shadow: bool
) -> SharedRuns:
    """Run the tests for functions that they call; `bodies` are those of all functions. With `shadow`, compare calls."""
    if len(slots) < 2:
        return SharedRuns({}, {}, {})
    suite = _suite(suites, slots)
    doubled = _doubled(suites, call_levels(bodies, suite.keys())) if shadow else ()
    return SharedRuns(suite, dict(_reached(suites, slots)), dict(doubled))


def call_levels(bodies: Mapping[str, CrateItem], slots: Collection[str]) -> list[list[str]]:
    """Return the slots in levels: none calls another one of its level, directly or not. Recursion is left out."""
    ordered = sorted(bodies)
    numbers = {bodies[slot].name: number for number, slot in enumerate(ordered)}
    calls = {
        number: sorted({numbers[word] for word in WORD.findall(bodies[slot].text) if word in numbers} - {number})
        for number, slot in enumerate(ordered)
    }
    heights, levels = dict[int, int](), defaultdict[int, list[str]](list)
    for component in strong_components(calls, calls):
        below = (heights[one] for number in component for one in calls[number] if one not in component)
        height = 1 + max(below, default=-1)
        heights |= dict.fromkeys(component, height)
        if len(component) == 1 and ordered[component[0]] in slots:
            levels[height].append(ordered[component[0]])
    return [sorted(levels[height]) for height in sorted(levels)]


def _suite(suites: TracingRunner, slots: Sequence[str]) -> dict[str, SuiteRun]:
    whole = suites.run(slots)
    culprits = () if whole.passed else union_culprits(suites, slots)
    share = SuiteRun(passed=True, seconds=whole.seconds / len(slots))
    return {slot: share for slot in slots if slot not in culprits}


def _reached(suites: TracingRunner, slots: Sequence[str]) -> Iterator[tuple[str, GateOutcome]]:
    calls = suites.first_calls()
    called = sorted((slot for slot in slots if slot in calls), key=lambda slot: (max(calls[slot].values()), slot))
    failing: list[Mapping[int, int]] = []
    for slot in reversed(called):
        own = calls[slot]
        if any(all(own.get(process, at + 1) <= at for process, at in later.items()) for later in failing):
            yield slot, GateOutcome("reached", passed=True)
            continue
        gate = reached_gate(suites, slot)
        if gate.passed:
            failing.append(own)
        yield slot, gate


def _doubled(suites: TracingRunner, levels: Sequence[Sequence[str]]) -> Iterator[tuple[str, SuiteRun]]:
    for level in levels:
        if len(level) < 2:
            continue
        run = suites.run(level, shadow=level)
        if not run.passed:
            continue
        log = run.log.encode()
        for slot in level:
            calls, differences = run.compared.get(slot, 0), read_shadow_log(log, [slot]).differences
            if calls and not differences and slot not in run.unshadowed:
                yield slot, SuiteRun(passed=True, seconds=run.seconds / len(level), compared={slot: calls})
