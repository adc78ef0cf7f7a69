"""Bisection: all culprits, few runs, the same order each time."""

from collections.abc import Sequence

import pytest

from jarvis_workers.c2rust.bisection import find_culprits

NAMES = [f"f{number}" for number in range(200)]


@pytest.mark.parametrize(
    "bad", [set(), {"f0"}, {"f199"}, {"f0", "f1", "f198"}, {"f17", "f99", "f100", "f101"}, set(NAMES)]
)
def test_each_culprit_is_found(bad: set[str]) -> None:
    def passes(names: Sequence[str]) -> bool:
        return not bad & set(names)

    assert find_culprits(NAMES, passes) == sorted(bad, key=NAMES.index)


def test_a_culprit_takes_about_eight_runs_of_200() -> None:
    runs = list[int]()

    def passes(names: Sequence[str]) -> bool:
        runs.append(len(names))
        return "f123" not in names

    assert find_culprits(NAMES, passes) == ["f123"]
    assert len(runs) <= 10


def test_two_that_fail_together_lose_the_later_one() -> None:
    assert find_culprits(NAMES, lambda names: not {"f3", "f60"} <= set(names)) == ["f60"]
