"""Each planted defect matches exactly one place in the source."""

from pathlib import Path

import pytest

from tests.bench.planted_defects import DEFECTS, Defect

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_planted_defect_names_one_place_of_the_source_and_tests_that_exist(defect: Defect) -> None:
    assert (ROOT / defect.file).read_text().count(defect.before) == 1
    assert defect.before != defect.after
    assert all((ROOT / tests).exists() for tests in defect.tests.split())


def test_planted_defects_are_one_a_package() -> None:
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS) == 20
