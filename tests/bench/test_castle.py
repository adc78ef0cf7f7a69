"""The points of CASTLE-C250 are counted as in its paper."""

import json

from tests.bench.castle import Found, points, programs_of, totals

TESTS = [
    {"name": "a.c", "code": "", "cwe": 787, "vulnerable": True, "lines": [7]},
    {"name": "b.c", "code": "", "cwe": 787, "vulnerable": False, "lines": []},
]
BAD, GOOD = programs_of(json.dumps({"tests": TESTS}))
WRITE, OTHER = Found(8, 120, 0.8), Found(7, 78, 0.5)


def test_a_defect_that_is_found_has_points_and_a_bonus_less_further_findings() -> None:
    assert (points(BAD, [WRITE]), points(BAD, [WRITE, OTHER])) == (10, 9)
    assert (points(BAD, []), points(BAD, [OTHER])) == (0, -1)


def test_silence_about_a_program_without_a_defect_has_points() -> None:
    assert (points(GOOD, []), points(GOOD, [OTHER])) == (2, -1)


def test_findings_count_from_their_confidence() -> None:
    found = {"a.c": [WRITE, OTHER], "b.c": [OTHER]}

    assert totals([BAD, GOOD], found, 0.8) == {"points": 12, "hits": 1, "wrong": 0, "missed": 0}
    assert totals([BAD, GOOD], found, 0.4) == {"points": 8, "hits": 1, "wrong": 2, "missed": 0}
