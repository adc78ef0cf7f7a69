"""The difference of two conversions: which functions are better or worse, and which are new or removed."""

from dataclasses import replace

import pytest

from jarvis_workers.c2rust.conversion import (
    Conversion,
    FunctionChange,
    FunctionResult,
    GateOutcome,
    SuiteResult,
    compare_conversions,
)


def function(status: str, proof: str, line: int = 1, name: str = "f") -> FunctionResult:
    is_state = status in ("translated", "mechanical", "replaced", "forwarded")
    field = {"state": status} if is_state else {"cause": status}
    return FunctionResult(name, "a.c", line, line, "a", name, proof=proof, slot=name, **field)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (("mechanical", "compared"), ("translated", "compared"), "better"),
        (("mechanical", "reached"), ("mechanical", "compared"), "better"),
        (("not_checked", "built"), ("mechanical", "reached"), "better"),
        (("mechanical", "compared"), ("pruned", "none"), "better"),
        (("translated", "compared"), ("mechanical", "compared"), "worse"),
        (("mechanical", "compared"), ("translated", "reached"), "worse"),
        (("translated", "reached"), ("mechanical", "compared"), "worse"),
        (("mechanical", "reached"), ("different", "built"), "worse"),
        (("pruned", "none"), ("mechanical", "compared"), "worse"),
        (("not_checked", "built"), ("different", "built"), "changed"),
        (("translated", "compared"), ("replaced", "compared"), "changed"),
        (("pruned", "none"), ("translated", "reached"), "changed"),
    ],
)
def test_a_function_is_worse_if_its_state_or_proof_fell(
    before: tuple[str, str], after: tuple[str, str], verdict: str
) -> None:
    assert FunctionChange(function(*before), function(*after)).verdict == verdict


def test_functions_are_matched_by_slot_and_not_by_line() -> None:
    before = Conversion((function("mechanical", "reached"), function("mechanical", "built", name="old")))
    after = Conversion((function("mechanical", "reached", 40), function("translated", "compared", name="new")))
    found = compare_conversions(before, after)

    assert (found.changes, found.unchanged) == ((), 1)
    assert ([one.name for one in found.new], [one.name for one in found.removed]) == (["new"], ["old"])


def test_only_failures_that_are_new_are_listed() -> None:
    before = Conversion(suites=(SuiteResult("make test"), SuiteResult("make check", passed=True)))
    after = replace(before, suites=(SuiteResult("make test"), SuiteResult("make check")))

    assert compare_conversions(before, after).failures == ("make check: FAILS with Rust",)


def test_functions_of_units_that_were_not_read_are_not_removed() -> None:
    files = ("a.c", "b.c", "c.h")
    before = Conversion(tuple(replace(function("mechanical", "reached", name=one), file=one) for one in files))
    unread = compare_conversions(before, Conversion(not_checked=(("a.c", "'x.h' file not found"),)))

    assert ([one.name for one in unread.removed], [one.name for one in unread.not_checked]) == (["b.c"], ["a.c", "c.h"])
    assert [one.name for one in compare_conversions(before, Conversion()).removed] == list(files)


def test_the_same_failure_with_other_times_is_not_new() -> None:
    suite = SuiteResult("make test", passed=True)
    before, after, other = (
        Conversion(suites=(suite,), crate=(GateOutcome("cargo test", passed=False, detail=text),))
        for text in ("make test: failed in 3 s", "make test: failed in 4 s", "make check: failed in 3 s")
    )
    assert compare_conversions(before, after).failures == ()
    assert compare_conversions(before, other).failures == ("cargo test FAILS: make check: failed in 3 s",)
