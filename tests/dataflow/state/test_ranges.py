"""Interval arithmetic: a value that is excluded at a bound moves the bound; one inside cannot."""

import pytest

from jarvis_workers.dataflow.state.ranges import either, without
from tests.sec.following import follow


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


def test_sizes_in_units_of_an_unknown_type_are_not_shown_as_numbers() -> None:
    code = b"""
    void swap(const char *in)
    {
        unsigned char bytes[sizeof(WORD_T)];
        unsigned char *p = bytes;
        while (*in)
            *p++ = *in++;
        memset(bytes, 0, 2 * sizeof(WORD_T));
    }
    """
    notes = [note for hit in follow({"a.c": code})["a.c"] for _, _, note in hit.steps]

    assert any("is written in a loop that its size does not limit" in note for note in notes)
    assert any("2 elements but only 1 remain" in note for note in notes)
    assert not any("10007" in note or "20014" in note for note in notes)
