"""docs/seeds.md names a test for everything that the seed documents fix; every one of them is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = re.findall(r"^\|.*\| (tests/\S+)::(\S+) \|$", (ROOT / "docs" / "seeds.md").read_text(), re.MULTILINE)


def test_the_table_has_rows() -> None:
    assert len(ROWS) > 20


@pytest.mark.parametrize(("file", "test"), ROWS)
def test_the_test_of_a_name_is_there(file: str, test: str) -> None:
    assert f"def {test}(" in (ROOT / file).read_text()
