"""The report of a conversion: what failed or was not checked is in every format."""

import pytest

from jarvis_workers.c2rust.conversion import Conversion, GateOutcome, SuiteResult
from jarvis_workers.c2rust.report.conversion_text import conversion_markdown, conversion_text

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
