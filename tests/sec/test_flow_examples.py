"""The flow rules find what is marked in the examples, function by function, and nothing in their near misses.

`ruleid:` stands on the line of a finding, `ok:` on one that looks like it.  What does not hold yet is in flow_faults.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from jarvis_workers.dataflow import FlowHit
from jarvis_workers.sec.rules.families.flow import RULES
from jarvis_workers.source.functions import functions
from jarvis_workers.source.lex import mask
from tests.sec.flow_faults import FAULTS, expected
from tests.sec.following import follow

EXAMPLES = Path(__file__).parent.parent / "data" / "flow"
MARK = re.compile(rb"\b(ruleid|ok): (\w+(?:, ?\w+)*)")
PATTERNS = frozenset(rule.pattern for rule in RULES)
ACROSS = "across"


class Place(NamedTuple):
    """A function of an example: its case (the files followed together), its file and its lines."""

    case: str
    file: str
    name: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.case}/{self.file}:{self.name}" if self.case else f"{self.file}:{self.name}"


Spot = tuple[str, int]


def cases() -> dict[str, dict[str, bytes]]:
    """Return the files of each case; a file that stands alone is a case of its own."""
    alone = {file.name: {file.name: file.read_bytes()} for file in sorted(EXAMPLES.glob("flow_*.c*"))}
    across = {
        f"{ACROSS}/{folder.name}": {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
        for folder in sorted((EXAMPLES / ACROSS).iterdir())
    }
    return alone | across


CASES = cases()


@cache
def places() -> list[Place]:
    return [
        Place(case if case.startswith(ACROSS) else "", file, *one)
        for case, files in CASES.items()
        for file, content in files.items()
        for one in bodies(content)
    ]


def bodies(content: bytes) -> list[tuple[str, int, int]]:
    """Return the name, first and last line of each function."""

    def line(at: int) -> int:
        return content.count(b"\n", 0, at) + 1

    found = functions(mask(content, "c/cpp").text, "c/cpp")
    return [(one.name.decode(), line(one.start), line(one.body[1])) for one in found]


@cache
def found_in(case: str) -> dict[str, list[FlowHit]]:
    return follow(CASES[case])


@cache
def marked(case: str, file: str) -> dict[str, frozenset[Spot]]:
    """Return the marked spots of a file by the kind of their mark."""
    marks: dict[str, set[Spot]] = {"ruleid": set(), "ok": set()}
    for line, text in enumerate(CASES[case][file].splitlines(), 1):
        for kind, names in MARK.findall(text):
            marks[kind.decode()] |= {(name.strip(), line) for name in names.decode().split(",")}
    return {kind: frozenset(spots) for kind, spots in marks.items()}


def within(spots: set[Spot] | frozenset[Spot], place: Place) -> set[Spot]:
    return {spot for spot in spots if place.first <= spot[1] <= place.last}


def case_of(place: Place) -> str:
    return place.case or place.file


def judged(place: Place) -> set[str]:
    """Return the rules that the marks of a file speak of."""
    return {name for spots in marked(case_of(place), place.file).values() for name, _ in spots}


def own_findings(place: Place) -> tuple[set[Spot], set[Spot]]:
    """Return the findings of the rules that the marks of a file speak of: found, and marked."""
    case = case_of(place)
    hits = {(hit.pattern, hit.line) for hit in found_in(case).get(place.file, []) if hit.pattern in judged(place)}
    return within(hits, place), within(marked(case, place.file)["ruleid"], place)


def other_findings(place: Place) -> set[Spot]:
    hits = found_in(case_of(place)).get(place.file, [])
    return within({(hit.pattern, hit.line) for hit in hits if hit.pattern not in judged(place)}, place)


def is_near_miss(place: Place) -> bool:
    return not within(marked(case_of(place), place.file)["ruleid"], place)


@pytest.mark.parametrize("case", CASES)
def test_the_functions_of_a_file_have_the_findings_that_are_marked_and_no_others(case: str) -> None:
    own = [place for place in places() if case_of(place) == case and str(place) not in FAULTS]
    both = {str(place): own_findings(place) for place in own}

    assert {name: found for name, (found, _) in both.items()} == {name: said for name, (_, said) in both.items()}


@pytest.mark.parametrize("case", CASES)
def test_near_misses_have_no_findings_of_other_rules(case: str) -> None:
    own = [place for place in places() if case_of(place) == case and is_near_miss(place)]

    assert {str(place): other_findings(place) for place in own} == {str(place): set() for place in own}


@pytest.mark.parametrize("place", [expected(str(one), one) for one in places() if str(one) in FAULTS])
def test_a_known_error_is_still_one(place: Place) -> None:
    found, said = own_findings(place)

    assert found == said


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_every_rule_has_five_functions_to_find_and_five_near_misses(pattern: str) -> None:
    own = [place for place in places() if Path(place.file).stem == pattern]
    bad = [place for place in own if within(marked(place.file, place.file)["ruleid"], place)]
    good = [place for place in own if within(marked(place.file, place.file)["ok"], place) and place not in bad]

    assert len(bad) >= 5
    assert len(good) >= 5


def test_every_mark_names_a_rule_and_stands_in_a_function() -> None:
    spots = {
        (case, file, *spot)
        for case, files in CASES.items()
        for file in files
        for kind in marked(case, file).values()
        for spot in kind
    }
    held = {
        (case_of(place), place.file, *spot)
        for place in places()
        for kind in marked(case_of(place), place.file).values()
        for spot in within(kind, place)
    }

    assert {spot[2] for spot in spots} == PATTERNS
    assert spots == held


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_finding_stands_in_a_function(case: str) -> None:
    for file, hits in found_in(case).items():
        own = [place for place in places() if case_of(place) == case and place.file == file]
        for hit in hits:
            assert any(place.first <= hit.line <= place.last for place in own)


def test_every_fault_of_an_example_is_one_of_its_functions() -> None:
    named = {name for name in FAULTS if ".c" in name}

    assert named <= {str(place) for place in places()}


@pytest.mark.parametrize("case", CASES)
def test_a_hit_says_where_its_path_goes(case: str) -> None:
    for file, hits in found_in(case).items():
        lines = CASES[case][file].count(b"\n")
        for hit in hits:
            assert hit.pattern in PATTERNS
            assert 0.4 <= hit.confidence <= 0.95
            assert 1 <= hit.line <= lines
            assert hit.steps
            assert all(where is None or where in CASES[case] for where, _, _ in hit.steps)
            assert all(text and line >= 1 for _, line, text in hit.steps)
