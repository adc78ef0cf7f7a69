"""The roadmap: each stage passes its gate, does not, or is not measured."""

import pytest

from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, GateOutcome, SuiteResult
from jarvis_workers.c2rust.optimization import OptimizeReport
from jarvis_workers.c2rust.replacement_lines import ReplacementCounts
from jarvis_workers.c2rust.roadmap import Measurements, RiskSummary, RoadmapGates, category_changes, roadmap

BEFORE = RiskSummary(20.0, 2, {"unsafe_api": 4, "error_handling": 3})


def converted(*, proof: str = "compared", passed: bool = True, rust_seconds: float = 1.0) -> Conversion:
    gates = (GateOutcome("reached", passed=proof != "built"),)
    one = FunctionResult("f", "a.c", 1, 2, "a", "f", "fn f()", "mechanical", proof, gates=gates, slot="f")  # type: ignore[arg-type]
    suite = SuiteResult("make test", 1.0, rust_seconds, passed=passed)
    return Conversion((one,), suites=(suite,), crate=(GateOutcome("cargo build", passed=True),))


def outcomes(found: Measurements) -> list[bool | None]:
    return [stage.passed for stage in roadmap(found, RoadmapGates())]


def test_what_was_never_run_is_not_measured() -> None:
    assert outcomes(Measurements()) == [None] * 8
    assert {stage.value.partition(":")[0] for stage in roadmap(Measurements(), RoadmapGates())} == {"not measured"}


@pytest.mark.parametrize(
    ("after", "passed", "value"),
    [
        (RiskSummary(17.0, 0, {}), True, "score_sum 20 -> 17 (-15.0 %), 0 high findings left"),
        (RiskSummary(17.5, 0, {}), False, "score_sum 20 -> 17.5 (-12.5 %), 0 high findings left"),
        (RiskSummary(5.0, 1, {}), False, "score_sum 20 -> 5 (-75.0 %), 1 high findings left"),
    ],
)
def test_the_score_must_fall(after: RiskSummary, passed: bool, value: str) -> None:
    stage = roadmap(Measurements(BEFORE, after), RoadmapGates())[1]

    assert (stage.passed, stage.value) == (passed, value)


@pytest.mark.parametrize(
    ("conversion", "passed"),
    [
        (converted(), [True, True, True, True]),
        (converted(proof="built"), [False, True, True, True]),
        (converted(passed=False), [True, False, False, True]),
        (converted(rust_seconds=2), [True, True, True, False]),
    ],
)
def test_a_conversion_decides_its_stages(conversion: Conversion, passed: list[bool]) -> None:
    found = outcomes(Measurements(conversion=conversion))

    assert [found[number] for number in (2, 3, 5, 7)] == passed


def test_an_optimization_is_measured() -> None:
    stage = roadmap(Measurements(optimization=OptimizeReport(unsafe_removed=3)), RoadmapGates())[6]

    assert stage.passed
    assert stage.value.startswith("unsafe blocks: 3 removed, 0 annotated; ")
    spent = OptimizeReport(errors=("stopped",))
    assert roadmap(Measurements(optimization=spent), RoadmapGates())[6].passed is False


@pytest.mark.parametrize(
    ("replaced", "passed", "value"),
    [
        (2, True, "2 of 200 functions (1.0 %) replaced, 9 pruned"),
        (1, False, "1 of 200 functions (0.5 %) replaced, 9 pruned"),
    ],
)
def test_libraries_replace_a_share_of_the_functions(replaced: int, passed: bool, value: str) -> None:
    counts = ReplacementCounts(judged=50, replaced=replaced, pruned=9, remaining=191)
    stage = roadmap(Measurements(replacement=counts), RoadmapGates())[4]

    assert (stage.passed, stage.value) == (passed, value)


def test_categories_are_compared() -> None:
    after = RiskSummary(1.0, 0, {"unsafe_api": 1, "format_string": 1})

    assert category_changes(Measurements(BEFORE, after)) == [
        ("error_handling", 3, 0),
        ("format_string", 0, 1),
        ("unsafe_api", 4, 1),
    ]
