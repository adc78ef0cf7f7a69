"""Patterns that run on Python's `re` cannot explode: slow ones are refused."""

import time

import pytest

from jarvis_workers.source.bounded_regex import LINE_MAX, compile_bounded
from tests.support.machine import assert_cpu_within


@pytest.mark.parametrize(
    ("pattern", "line", "matches"),
    [
        (r"memcpy\s*\(\s*buf\s*,", b"x = memcpy( buf , s, n);", True),
        (r"a\s*\s*b", b"a  b", True),
        (r"^if .*len", b"if (strlen(s))", True),
        (r"[]x]{2,3}y", b"]xy", True),
        (r"(?i)FREE\(p\)", b"free(p);", True),
        (r"a\++b", b"a++b", True),
        (r"\d{2}", b"1 2", False),
        ("x$", b"x" * (LINE_MAX + 1), True),
        ("y", b"x" * LINE_MAX + b"y", False),
    ],
)
def test_a_simple_pattern_matches_as_re_does(pattern: str, line: bytes, *, matches: bool) -> None:
    assert compile_bounded(pattern)(line) == matches


EXPLOSIVE = [
    "(a+)+$", "(a|a)*$", "(?:a*)*b", r"(a)\1", ".*.*.*x", "a?a?a?a?aaaa", "a{0,20}a{0,20}a{0,20}b", "(a{1,9}){9}",
    "a|a|a|a|a|a|a|a", "a{100}", "(", "a**", "(?=a)",
]  # fmt: skip


@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_a_pattern_that_is_invalid_or_may_be_slow_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        compile_bounded(pattern)


@pytest.mark.timing
@pytest.mark.parametrize("pattern", ["a*a*b", "(a|a|a|a|a|a|a)a*a?a?a?b", r"\s*\s*x", ".*.*a?b", "a{0,20}a{0,20}b"])
def test_the_worst_pattern_that_is_allowed_is_bearable(pattern: str) -> None:
    search, start = compile_bounded(pattern), time.process_time()

    assert not search(b"a" * 10_000 if "a" in pattern else b" " * 10_000)

    assert_cpu_within(1, since=start)
