"""Interval arithmetic: a value that is excluded at a bound moves the bound; one inside cannot."""

import pytest

from jarvis_workers.dataflow.ranges import either, without


@pytest.mark.parametrize(
    ("reach", "excluded", "left"),
    [
        ((0, 9), 0, (1, 9)),
        ((0, 9), 9, (0, 8)),
        ((0, 9), 5, (0, 9)),
        ((None, 9), 9, (None, 8)),
        ((0, None), 0, (1, None)),
        ((None, None), 0, (None, None)),
    ],
)
def test_a_value_excluded_at_a_bound_narrows_the_range(reach, excluded, left):
    assert without(reach, excluded) == left


def test_the_union_of_two_ranges_is_open_where_one_is():
    assert either((0, 3), (5, 9)) == (0, 9)
    assert either((None, 3), (5, None)) == (None, None)
