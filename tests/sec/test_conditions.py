"""Preprocessor conditions: which enclose a line, and whether they hold on Linux as far as that is known."""

import time

import pytest

from jarvis_workers.sec.judge.slices.conditions import Conditions
from tests.support.machine import assert_cpu_within


def branches(*directives: str) -> Conditions:
    """Return the conditions of a file in which each directive is followed by one line of code."""
    return Conditions("".join(f"{directive}\nint a;\n" for directive in directives).encode())


@pytest.mark.parametrize(
    ("directive", "here"),
    [
        ("#ifdef _WIN32", False),
        ("#ifndef _WIN32", True),
        ("# if defined(_WIN32) || defined(__APPLE__)", False),
        ("#if defined _WIN32 && FANCY", False),
        ("#if defined(_WIN32) || FANCY", None),
        ("#if !defined(_WIN32)", True),
        ("#if (_MSC_VER && _MSC_VER <= 1500)", False),
        ("#if defined(__linux__) || FANCY", True),
        ("#if !(defined(_WIN32) || FANCY)", None),
        ("#if (FANCY || defined(_WIN32)) && PLAIN", None),
        ("#if FANCY && (PLAIN || defined(__linux__))", None),
        ("#ifdef FANCY", None),
        ("#if FANCY > 3", None),
    ],
)
def test_a_condition_is_known_as_far_as_it_names_platforms(directive: str, here: bool | None) -> None:
    (condition,) = branches(directive, "#endif").at(2)

    assert (condition.lines, condition.here) == ((1,), here)
    assert branches(directive, "#endif").is_elsewhere(2) == (here is False)


def test_only_one_branch_holds() -> None:
    conditions = branches("#ifdef _WIN32", "#elif defined(__linux__)", "#elif FANCY", "#else", "#endif")

    found = [conditions.at(line) for line in (2, 4, 6, 8, 10)]
    assert [[one.here for one in conditions] for conditions in found] == [[False], [True], [False], [False], []]
    assert [one.lines for (one,) in found[:4]] == [(1,), (1, 3), (1, 5), (1, 7)]


def test_the_other_branch_of_what_is_not_known_is_not_known() -> None:
    conditions = branches("#ifdef FANCY", "#ifndef __unix__", "#endif", "#else", "#endif")

    assert [[one.here for one in conditions.at(line)] for line in (2, 4, 6, 8)] == [
        [None],
        [None, False],
        [None],
        [None],
    ]


def test_an_include_guard_is_no_condition() -> None:
    guarded = branches("#ifndef A_H", "#define A_H", "#ifdef FANCY", "#endif", "#endif")
    late = branches("int b;", "#ifndef A_H", "#define A_H", "#endif")

    assert [len(guarded.at(line)) for line in (4, 6, 8)] == [0, 1, 0]
    assert len(late.at(6)) == 1


@pytest.mark.parametrize("directives", [["#endif"], ["#else"], ["#elif A", "#endif", "#endif"], ["#if"], ["#if ("]])
def test_what_is_not_balanced_ends_somewhere(directives: list[str]) -> None:
    assert len(branches(*directives).at(99)) <= 1


@pytest.mark.slow
@pytest.mark.timing
def test_a_hundred_thousand_conditions_take_little_time_and_room() -> None:
    start = time.process_time()

    conditions = branches(*["#ifdef FANCY"] * 60_000, *["#endif"] * 60_000)

    assert len(conditions.at(50_000)) == 32
    assert conditions.at(10**9) == ()
    assert_cpu_within(3, since=start)
