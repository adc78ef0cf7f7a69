"""What selects a function for the data-flow analysis takes linear time."""

import time

import pytest

from jarvis_workers.dataflow.triggers import is_root
from tests.support.machine import assert_cpu_within


@pytest.mark.timing
@pytest.mark.parametrize("cast", ["(char *)", "*p++ = (T *)("])
def test_a_long_comment_behind_a_cast_costs_no_time(cast: str) -> None:
    body = f"{{ read(f, &n, 4); {cast}{' ' * 50_000}p; }}".encode()
    start = time.process_time()

    is_root(body)

    assert_cpu_within(0.5, since=start)


@pytest.mark.timing
@pytest.mark.parametrize("word", ["free", "release", "a->", "close("])
def test_a_word_that_repeats_costs_no_time(word: str) -> None:
    body = f"{{ {word * 1_500} }}".encode()
    start = time.process_time()

    is_root(body)

    assert_cpu_within(0.5, since=start)
