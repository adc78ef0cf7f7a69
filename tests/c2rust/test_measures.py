"""The measurements in the report of a conversion."""

import json

from jarvis_workers.c2rust.conversion import Conversion, FunctionResult
from jarvis_workers.c2rust.crate_metrics import CrateMetrics
from jarvis_workers.c2rust.report.conversion_json import conversion_json
from jarvis_workers.c2rust.report.conversion_text import conversion_markdown, conversion_text
from jarvis_workers.c2rust.report.measures import crate_lines, measure_lines, page_lines
from jarvis_workers.c2rust.rule_counts import CategoryCounts, SeverityCounts

FINDINGS = (
    CategoryCounts("unsafe_api", SeverityCounts(2, 0, 1), remainder=SeverityCounts(1)),
    CategoryCounts("unsafe_usage", rust=SeverityCounts(0, 12, 0)),
)
METRICS = CrateMetrics(2000, 4, 3, 150, 20, 9, 17, 5)
USAGE = {"calls": 3, "prompt": 900, "cached": 0, "completion": 100, "cost": 0.03, "seconds": 1.0}
RUN = {
    "scanned_root": "/src/lib",
    "cost": 0.06,
    "model": {
        "group": "m",
        "calls": 6,
        "prompt": 1800,
        "completion": 200,
        "by_model": {"large": USAGE, "small": USAGE},
        "by_function": {"sum": USAGE, "cached": USAGE | {"cost": 0.0}, "twice": USAGE | {"cost": 0.04}},
    },
}


def function(name: str, **fields: object) -> FunctionResult:
    return FunctionResult(name, "a.c", 1, 10, "a", name, **fields)  # type: ignore[arg-type]


CONVERSION = Conversion(
    (
        function("sum", state="translated", attempts=1),
        function("twice", state="mechanical", attempts=3, refused=("check (type_mismatch)", "form", "form")),
        function("deep", state="replaced", attempts=2, libraries=("flate2", "crc32fast")),
    ),
    metrics=METRICS,
    clippy=30,
    findings=FINDINGS,
)


def test_what_the_rules_find_in_c_stands_beside_what_they_find_in_the_crate() -> None:
    lines = list(crate_lines(CONVERSION))

    assert lines[0] == (
        "unsafe code: 150 of 2,000 lines, 4 blocks, 3 functions; "
        "20 raw pointer types, 17 dereferences, 5 unsafe calls, 9 casts"
    )
    assert lines[1:] == [
        "findings of jarvis sec, unsafe_api: C sources 3 (high 2, low 1), Rust 0, C in the crate 1 (high 1)",
        "findings of jarvis sec, unsafe_usage: C sources 0, Rust 12 (medium 12), C in the crate 0",
    ]


def test_a_page_has_the_sum_of_all_categories() -> None:
    assert list(page_lines(CONVERSION))[1] == (
        "findings of jarvis sec, all categories: C sources 3 (high 2, low 1), Rust 12 (medium 12), "
        "C in the crate 1 (high 1)"
    )
    assert list(page_lines(Conversion())) == []


def test_a_crate_without_findings_says_so() -> None:
    clean, line = Conversion(findings=()), "findings of jarvis sec: none"

    assert list(crate_lines(clean)) == list(page_lines(clean)) == [line]
    assert f"- {line}\n" in "".join(conversion_markdown(clean, RUN))
    assert "findings of jarvis sec: none" not in "".join(conversion_markdown(CONVERSION, RUN))
    assert list(crate_lines(Conversion())) == []


def test_answers_failures_models_and_costs_are_listed() -> None:
    assert list(measure_lines(CONVERSION, RUN))[3:] == [
        "warnings of clippy: 30, 15.0 per 1,000 lines",
        "answers of the model refused by gates: check (type_mismatch) 1, form 2",
        "answers of the translator: 6 for 3 functions; accepted at the first answer: 1, at a later one: 1",
        "model m: 6 answers, 2,000 tokens, 0.0600 dollars"
        "; 0.0200 dollars per function, 2.00 dollars per 1,000 lines of C",
        "  large: 3 answers, 0.0300 dollars",
        "  small: 3 answers, 0.0300 dollars",
        "  functions with the highest cost: twice 0.0400, sum 0.0300",
    ]


def test_without_clippy_its_warnings_are_not_measured() -> None:
    assert list(measure_lines(Conversion(), {})) == ["warnings of clippy: not measured"]


def test_the_report_names_what_libraries_replace() -> None:
    text, page = ("".join(render(CONVERSION, RUN)) for render in (conversion_text, conversion_markdown))

    assert page.startswith("# From C to Rust: lib\n")
    assert "Replaced by libraries (1):\n  a.c:1: deep: flate2, crc32fast\n" in text
    assert "## Replaced by libraries\n\n- a.c:1: deep: flate2, crc32fast\n" in page
    assert "| unsafe_api | 2, 0, 1 | 0, 0, 0 | 1, 0, 0 |\n" in page


def test_what_depends_on_installed_tools_is_beside_the_reproducible_part() -> None:
    report = json.loads(conversion_json(CONVERSION, {}))

    assert report["run"]["measured"]["clippy_warnings"] == 30
    assert "clippy" not in report["conversion"]
    assert report["conversion"]["findings"][1] == ["unsafe_usage", [0, 0, 0], [0, 12, 0], [0, 0, 0]]
