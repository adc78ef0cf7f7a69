"""A candidate says all that a report needs."""

import pytest

from jarvis_workers.sec.finding import HIT_FIELDS, RULE_FIELDS, Candidate, candidate
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.sec.severity import CATEGORY_ORDER, SEVERITIES, is_at_least, score_of, severity_of
from jarvis_workers.store.values import Meaning, Spot

HIT = Hit("unsafe_api", 7, 0.8, "strcpy(a, b);")


def test_a_candidate_is_a_hit_with_what_its_rule_says() -> None:
    found = candidate(HIT, "src/a.c")

    assert (found.file, found.line, found.evidence, found.confidence) == ("src/a.c", 7, "strcpy(a, b);", 0.8)
    assert (found.language, found.category, found.cwe) == ("c/cpp", "unsafe_api", 120)
    assert found.description
    assert found.suggestion


@pytest.mark.parametrize(
    ("confidence", "severity", "score"),
    [(0.95, "high", 2.85), (0.8, "high", 2.4), (0.79, "medium", 1.58), (0.6, "medium", 1.2), (0.59, "low", 0.59)],
)
def test_severity_and_score_follow_from_the_confidence(confidence: float, severity: str, score: float) -> None:
    assert (severity_of(confidence), score_of(confidence)) == (severity, score)


def test_a_finding_is_known_again_after_an_edit_above_it_or_new_spaces() -> None:
    known = candidate(HIT, "a.c").fingerprint

    assert candidate(HIT._replace(line=99, evidence="strcpy(a,   b); "), "a.c").fingerprint == known
    assert candidate(HIT, "b.c").fingerprint != known
    assert candidate(HIT._replace(evidence="strcpy(c, b);"), "a.c").fingerprint != known
    assert len(known) == 16


def test_a_candidate_does_not_change() -> None:
    with pytest.raises(AttributeError):
        candidate(HIT, "a.c").line = 8  # type: ignore[misc]


def test_severities_and_categories_have_an_order() -> None:
    assert is_at_least("high", "medium")
    assert is_at_least("medium", "medium")
    assert not is_at_least("low", "high")
    assert SEVERITIES == ("low", "medium", "high")
    assert CATEGORY_ORDER[0] == "unsafe_api"


def test_each_field_of_a_candidate_comes_from_its_rule_or_from_the_scan() -> None:
    assert {*RULE_FIELDS, *HIT_FIELDS, "file"} == set(Candidate._fields)
    assert set(HIT_FIELDS) == set(Spot._fields) - {"path"}
    assert set(RULE_FIELDS) == set(Meaning._fields) - {"pattern"}
