"""Patterns from outside run in linear time, or are refused."""

import time

import pytest

from jarvis_workers.source.safe_regex import PATTERN_MAX, compile_linear, is_linear_here
from tests.support.machine import assert_cpu_within

pytestmark = pytest.mark.skipif(not is_linear_here(), reason="google-re2 is not installed")


def test_a_pattern_is_found_anywhere_in_the_text():
    search = compile_linear(r"\bbuf\b|ñ")

    assert search(b"a + buf")
    assert search("año".encode())
    assert not search(b"buffer")


@pytest.mark.parametrize("pattern", ["(a", "a" * (PATTERN_MAX + 1), r"(?=a)", r"(a)\1", "((a{1000}){1000})"])
def test_what_is_no_pattern_or_costs_too_much_is_refused(pattern):
    with pytest.raises(ValueError, match=r"\w"):
        compile_linear(pattern)


@pytest.mark.timing
def test_a_pattern_that_explodes_elsewhere_does_not_here():
    search = compile_linear("(a+)+$")
    start = time.process_time()

    assert not search(b"a" * 4_000 + b"b")

    assert_cpu_within(1, since=start)
