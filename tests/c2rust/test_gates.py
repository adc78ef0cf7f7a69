"""Gates: what runs of the tests prove of a function, and which functions the union keeps."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from jarvis_workers.c2rust.conversion import FunctionResult, GateOutcome, Proof, proof_of
from jarvis_workers.c2rust.gates import (
    GateReport,
    SuiteRun,
    check_function,
    judge_differences,
    take_back,
    union_culprits,
    verdict,
)
from jarvis_workers.c2rust.shadow_fields import FunctionTypes
from jarvis_workers.source.clang.c_types import CType, Field, Record

LINE = "difference\tcheck\t7\t{name}\t3\theap argument 0+4\t0100000000000000\t0200000000000000\t1f\n"


@dataclass
class Library:
    """The tests of a library: functions that they reach, wrong bodies that they see, and those that shadow sees."""

    reached: frozenset[str] = frozenset(("f", "g", "h"))
    wrong: frozenset[str] = frozenset()
    different: frozenset[str] = frozenset()
    clash: frozenset[str] = frozenset()
    runs: list[Sequence[str]] = field(default_factory=list)

    def run(self, rust: Sequence[str] = (), *, trap: Sequence[str] = (), shadow: Sequence[str] = ()) -> SuiteRun:
        self.runs.append(rust)
        clashes = bool(self.clash) and self.clash <= set(rust)
        passed = not (self.reached & set(trap) or self.wrong & set(rust) or clashes)
        found = "".join(LINE.format(name=name) for name in shadow if name in self.different)
        compared = dict.fromkeys(self.reached & set(shadow), 5)
        return SuiteRun(passed, "" if passed else "make test: exit code 1", 1.0, compared, found)


@pytest.mark.parametrize(
    ("library", "proof", "failed"),
    [
        (Library(), "compared", ""),
        (Library(reached=frozenset()), "built", "reached"),
        (Library(wrong=frozenset("f")), "built", "suite"),
        (Library(different=frozenset("f")), "reached", "shadow"),
    ],
)
def test_each_gate_refuses_for_its_reason(library: Library, proof: Proof, failed: str) -> None:
    gates = check_function(library, "f", called=True, shadow=True).gates

    assert proof_of(gates) == proof
    assert [one.gate for one in gates if not one.passed] == ([failed] if failed else [])


def test_a_function_that_no_test_calls_is_not_run() -> None:
    library = Library()
    assert proof_of(check_function(library, "f", called=False, shadow=True).gates) == "built"
    assert library.runs == []


def test_whether_tests_reach_a_function_is_known_from_another_body() -> None:
    first, second = Library(), Library()
    known = check_function(first, "f", called=True, shadow=True).gates[1]
    gates = check_function(second, "f", called=True, shadow=True, reached=known).gates

    assert known.gate == "reached" and known in gates
    assert (len(first.runs), len(second.runs)) == (3, 2)
    assert proof_of(gates) == "compared"


FORWARDED = FunctionResult("f", "a.c", 1, 2, "a", "f", slot="f", cause="not_checked", reason="not checked yet")


@pytest.mark.parametrize(
    ("gates", "wanted", "state", "cause"),
    [
        (["check", "reached", "suite"], "reached", "mechanical", ""),
        (["check", "reached", "suite"], "compared", "forwarded", "not_checked"),
        (["check"], "built", "mechanical", ""),
        (["check"], "reached", "forwarded", "not_checked"),
        (["check", "reached", "suite", "shadow"], "compared", "mechanical", ""),
        (["check", "reached", "-suite"], "built", "forwarded", "different"),
    ],
)
def test_a_function_is_accepted_at_the_wanted_proof(gates: list[str], wanted: Proof, state: str, cause: str) -> None:
    outcomes = tuple(GateOutcome(name.lstrip("-"), not name.startswith("-")) for name in gates)
    found = verdict(FORWARDED, GateReport("f", outcomes), wanted)

    assert (found.state, found.cause) == (state, cause)


def test_the_union_loses_what_fails_beside_others() -> None:
    library = Library(clash=frozenset(("f", "h")))
    culprits = union_culprits(library, ["f", "g", "h"])

    assert culprits == ["h"]
    assert take_back(FORWARDED, culprits, "different", "x") == FORWARDED
    assert take_back(
        FunctionResult("h", "a.c", 1, 2, "a", "h", slot="h", state="mechanical"), culprits, "different", "x"
    ).state == ("forwarded")


INT = CType("integer", "int", 4, 4, signed=True)
PAIR = CType("record", "struct pair", 8, 4, key="pair")


def types(*fields: Field) -> FunctionTypes:
    pointer = CType("pointer", "struct pair *", 8, 8, target=PAIR)
    function = CType("function", "", target=CType("void", "void"), parameters=(pointer,))
    return FunctionTypes(function, {}, {"pair": Record("pair", "pair", "struct", 8, 4, fields, b"", 1)}, "x86_64")


def test_a_difference_is_named_by_its_field() -> None:
    report = check_function(Library(different=frozenset("f")), "f", called=True, shadow=True)
    judged = judge_differences(report, types(Field("first", INT, 0), Field("second", INT, 32)))

    assert judged.gates[-1][:3] == ("shadow", False, "argument 0->second: C 1, Rust 2 (call 3)")


def test_padding_is_no_difference() -> None:
    report = check_function(Library(different=frozenset("f")), "f", called=True, shadow=True)

    assert proof_of(judge_differences(report, types(Field("first", INT, 0))).gates) == "compared"
