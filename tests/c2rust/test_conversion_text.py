"""The report of a conversion: what failed or was not checked is in every format."""

import pytest

from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, GateOutcome, SuiteResult
from jarvis_workers.c2rust.report.conversion_text import conversion_markdown, conversion_text, summary

BROKEN = Conversion(
    crate=(GateOutcome("cargo build", passed=False, detail="src/a.rs:3: no such function"),),
    suites=(SuiteResult("make check"),),
    not_checked=(("b.c", "'x.h' file not found"),),
)


@pytest.mark.parametrize("render", [conversion_text, conversion_markdown])
@pytest.mark.parametrize(
    "text", ["the crate DOES NOT BUILD: src/a.rs:3: no such function", "FAILS with Rust", "NOT CHECKED", "b.c"]
)
def test_failures_are_in_the_report(render: object, text: str) -> None:
    assert text in "".join(render(BROKEN, {}))  # type: ignore[operator]


def test_functions_that_only_leaves_out_are_not_called_unsupported() -> None:
    left_out = FunctionResult(
        "f", "a.c", 1, 9, "a", "f", cause="not_chosen", reason="not among the functions to convert (--only)"
    )

    assert summary(Conversion((left_out,))) == "0 of 1 functions in Rust; 1 in C, not named by --only"


def test_lines_that_tests_run_are_counted() -> None:
    facts = {"file": "a.c", "line": 1, "end_line": 9, "module": "a", "rust_name": "f", "state": "mechanical"}
    conversion = Conversion((FunctionResult("f", **facts, lines=9, lines_run=5), FunctionResult("g", **facts)))  # type: ignore[arg-type]

    assert "the tests run 5 of 9 lines of the functions in Rust" in "".join(conversion_text(conversion, {}))
    assert "| 5 / 9 |" in "".join(conversion_markdown(conversion, {}))
