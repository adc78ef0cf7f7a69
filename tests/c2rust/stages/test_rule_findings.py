"""Findings of the rules of `jarvis sec` in the C sources of a conversion, and in its crate."""

from jarvis_workers.c2rust.rule_counts import CategoryCounts, SeverityCounts
from jarvis_workers.c2rust.stages.rule_findings import TOTAL_BYTES, ScannedFile, count_findings

COPY = b"void f(char *a, char *b) { strcpy(a, b); }\n"
UNSAFE = b"pub fn f(p: *const u8) -> u8 {\n    unsafe { *p }\n}\n"


def test_the_rules_of_each_language_are_counted_by_category() -> None:
    crate = {"src/a.rs": UNSAFE, "src/golden_tests.rs": UNSAFE, "build.rs": UNSAFE, "c/b.c": COPY, "Cargo.toml": b""}
    found = count_findings([ScannedFile.of(b"a.c", COPY * 2)], crate)
    counts = {one.category: one for one in found.counts}

    assert found.problems == ()
    assert counts["unsafe_api"] == CategoryCounts("unsafe_api", SeverityCounts(0, 2), remainder=SeverityCounts(0, 1))
    assert sum(counts["unsafe_usage"].rust) >= 1
    assert sum(counts["unsafe_usage"].c) == 0
    assert list(counts).index("unsafe_api") < list(counts).index("unsafe_usage")


def test_a_suppressed_finding_does_not_count() -> None:
    marked = b"void f(char *a, char *b) { strcpy(a, b); /* jarvis-ignore[unsafe_api]: sizes are checked */ }\n"
    assert not any(one.category == "unsafe_api" for one in count_findings([ScannedFile.of(b"a.c", marked)], {}).counts)


def unread() -> bytes:
    raise AssertionError("the file is not read")


def test_files_that_are_not_c_by_their_names_are_named() -> None:
    assert count_findings([ScannedFile(b"b.inc", 9, unread)], {}).problems == (
        "b.inc: not scanned for findings: its suffix is not that of a C file",
    )


def test_what_is_beyond_the_total_size_is_named() -> None:
    half, large = ScannedFile(b"a.c", TOTAL_BYTES // 2, lambda: COPY), ScannedFile(b"a\xff.c", TOTAL_BYTES + 1, unread)
    found = count_findings([large, half, half, ScannedFile(b"b.c", 1, unread)], {"src/a.rs": UNSAFE})
    assert found.counts == (CategoryCounts("unsafe_api", SeverityCounts(0, 2)),)
    assert found.problems == ("not scanned for findings, beyond 32,000,000 bytes in total: a\\xff.c, b.c, src/a.rs",)
