"""Which candidates on a line are the same defect, and which reports of models are merged."""

import pytest

from jarvis_workers.sec.finding import SEEN_BY_MODEL, Candidate
from jarvis_workers.sec.same_defect import is_same_defect, is_same_weakness, merged_reports
from tests.sec.verifying import found


def said(cwe: int, text: str = "a copy", line: int = 8) -> Candidate:
    return found(line=line)._replace(pattern=SEEN_BY_MODEL, cwe=cwe, description=text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (120, 787, True),
        (129, 125, True),
        (129, 787, True),
        (125, 787, False),
        (476, 787, False),
        (476, 690, True),
        (415, 416, False),
        (190, 787, False),
        (1234, 1234, True),
        (0, 0, False),
    ],
)
def test_weaknesses_of_one_class_are_the_same_and_unknown_ones_are_not(one: int, other: int, same: bool) -> None:
    assert is_same_weakness(one, other) is same
    assert is_same_weakness(other, one) is same


def test_a_line_alone_does_not_make_a_defect_the_same() -> None:
    assert is_same_defect(said(787), found())
    assert not is_same_defect(said(476), found())
    assert not is_same_defect(said(787, line=9), found())
    assert not is_same_defect(said(0), said(0, "a leak"))
    assert is_same_defect(said(0), said(0))


def test_reports_are_merged_with_what_stands_or_with_the_first_of_them() -> None:
    reports = [(1, said(787)), (2, said(476)), (3, said(690, "no check")), (4, said(125)), (5, said(0, "?"))]

    assert merged_reports(reports, [(9, found())]) == {1: 9, 3: 2}
    assert merged_reports(reports, []) == {3: 2}
