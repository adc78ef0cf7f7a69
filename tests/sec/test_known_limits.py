"""The page about flow rules names each known limit of the engine, and no other."""

from pathlib import Path

from tests.sec.flow_faults import FAULTS

PAGE = Path(__file__).parents[2] / "docs" / "flow.md"


def test_each_expected_failure_is_a_known_limit_of_the_docs() -> None:
    _, _, section = PAGE.read_text().partition("### Known limitations\n")
    listed = [line.removeprefix("- ") for line in section.partition("\n## ")[0].splitlines() if line.startswith("- ")]

    assert listed == sorted(set(FAULTS.values()))
