"""Runs of the tests that functions share prove no more than runs for each of them alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.gates import SuiteRun
from jarvis_workers.c2rust.stages.shared_runs import call_levels, share_runs

LINE = "difference\tcheck\t7\t{}\t3\theap argument 0+4\t0100000000000000\t0200000000000000\t1f\n"


@dataclass
class Suite:
    """Tests that call functions in this order, in one process or some, and what they notice."""

    processes: Mapping[int, Sequence[str]]
    unnoticed: frozenset[str] = frozenset()
    wrong: frozenset[str] = frozenset()
    different: frozenset[str] = frozenset()
    runs: list[tuple[Sequence[str], Sequence[str], Sequence[str]]] = field(default_factory=list)

    def run(self, rust: Sequence[str] = (), *, trap: Sequence[str] = (), shadow: Sequence[str] = ()) -> SuiteRun:
        self.runs.append((rust, trap, shadow))
        passed = not (self.wrong & set(rust) or set(trap) - self.unnoticed)
        log = "".join(LINE.format(slot) for slot in shadow if slot in self.different)
        return SuiteRun(passed, "" if passed else "fails", 1.0, dict.fromkeys(shadow, 5), log)

    def first_calls(self) -> dict[str, dict[int, int]]:
        calls: dict[str, dict[int, int]] = {}
        every = ((process, slot) for process, slots in self.processes.items() for slot in slots)
        for at, (process, slot) in enumerate(every):
            calls.setdefault(slot, {}).setdefault(process, at)
        return calls


def bodies(calls: Mapping[str, str]) -> dict[str, CrateItem]:
    return {slot: CrateItem(slot, slot, "m", f"fn {slot}() {{ {text} }}") for slot, text in calls.items()}


def test_right_functions_cost_few_runs() -> None:
    slots = [f"f{number}" for number in range(40)]
    tests = Suite({1: slots})
    shared = share_runs(tests, bodies(dict.fromkeys(slots, "")), slots, shadow=True)

    assert all(set(part) == set(slots) for part in shared)
    assert all(gate.passed for gate in shared.reached.values())
    assert len(tests.runs) == 3


def test_a_wrong_function_is_found_among_the_others() -> None:
    slots = [f"f{number}" for number in range(16)]
    tests = Suite({1: slots}, wrong=frozenset({"f5"}))
    shared = share_runs(tests, bodies(dict.fromkeys(slots, "")), slots, shadow=True)

    assert shared.suite.keys() == {*slots} - {"f5"} == shared.doubled.keys()
    assert len(tests.runs) < 16


def test_only_what_is_called_before_is_reached_without_a_run() -> None:
    tests = Suite({1: ["first", "middle", "last"], 2: ["middle", "other"]}, unnoticed=frozenset({"last"}))
    slots = ["first", "middle", "last", "other"]
    shared = share_runs(tests, bodies(dict.fromkeys(slots, "")), slots, shadow=False)

    trapped = [slot for _, traps, _ in tests.runs for slot in traps]
    assert {slot: gate.passed for slot, gate in shared.reached.items()} == {
        "first": True,
        "middle": True,
        "last": False,
        "other": True,
    }
    # Process 2 calls `middle` before `other`; `first` and `last` run in another process.
    assert sorted(trapped) == ["first", "last", "other"]


def test_functions_that_call_each_other_are_compared_in_different_runs() -> None:
    calls = bodies({"a": "b(); c()", "b": "d()", "c": "", "d": "", "r": "s()", "s": "r()", "n": "n(); d()"})

    assert call_levels(calls, calls.keys()) == [["c", "d"], ["b", "n"], ["a"]]
    assert call_levels(calls, ["a", "d"]) == [["d"], ["a"]]


def test_a_function_that_differs_is_compared_alone() -> None:
    slots = ["a", "b", "c"]
    tests = Suite({1: slots}, different=frozenset({"b"}))
    shared = share_runs(tests, bodies(dict.fromkeys(slots, "")), slots, shadow=True)

    assert shared.doubled.keys() == {"a", "c"}


def test_one_function_shares_nothing() -> None:
    tests = Suite({1: ["a"]})

    assert not any(share_runs(tests, bodies({"a": ""}), ["a"], shadow=True))
    assert tests.runs == []
