"""Findings of the rules of `jarvis sec` in the C sources of a conversion, and in its crate."""

from jarvis_workers.c2rust.rule_counts import CategoryCounts, SeverityCounts
from jarvis_workers.steps.c2rust.rule_findings import count_findings

COPY = b"void f(char *a, char *b) { strcpy(a, b); }\n"
UNSAFE = b"pub fn f(p: *const u8) -> u8 {\n    unsafe { *p }\n}\n"


def test_the_rules_of_each_language_are_counted_by_category() -> None:
    crate = {"src/a.rs": UNSAFE, "src/golden_tests.rs": UNSAFE, "build.rs": UNSAFE, "c/b.c": COPY, "Cargo.toml": b""}
    found = count_findings([(b"a.c", COPY * 2), (b"README", COPY)], crate)
    counts = {one.category: one for one in found.counts}

    assert found.problems == ()
    assert counts["unsafe_api"] == CategoryCounts("unsafe_api", SeverityCounts(2), remainder=SeverityCounts(1))
    assert sum(counts["unsafe_usage"].rust) >= 1
    assert sum(counts["unsafe_usage"].c) == 0
    assert list(counts).index("unsafe_api") < list(counts).index("unsafe_usage")


def test_a_suppressed_finding_does_not_count() -> None:
    marked = b"void f(char *a, char *b) { strcpy(a, b); /* jarvis-ignore[unsafe_api]: sizes are checked */ }\n"
    assert not any(one.category == "unsafe_api" for one in count_findings([(b"a.c", marked)], {}).counts)


def test_a_file_that_is_too_large_is_named() -> None:
    assert count_findings([(b"a\xff.c", b" " * 32_000_001)], {}).problems == (
        "a\\xff.c: not scanned for findings: larger than 32,000,000 bytes",
    )
