"""A candidate says all that a report needs."""

import pytest

from jarvis_workers.sec.finding import DISCOVERED, HIT_FIELDS, RULE_FIELDS, Candidate, candidate
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.sec.severity import (
    CATEGORY_ORDER,
    HARM_OF,
    HARMS,
    SEVERITIES,
    WEAKNESSES,
    is_at_least,
    score_of,
    severity_of,
)
from jarvis_workers.sec.trace import trail_of
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
def test_severity_and_score_of_an_unclassified_weakness_follow_from_the_confidence(
    confidence: float, severity: str, score: float
) -> None:
    assert (severity_of(confidence), score_of(confidence, severity)) == (severity, score)


FROM_A_PACKET = trail_of([(None, 3, "n is a number read from the bytes of a buffer")], "a.c")


@pytest.mark.parametrize(
    ("cwe", "confidence", "trail", "severity"),
    [
        (787, 0.41, FROM_A_PACKET, "medium"),  # a length from a packet, copied into a stack buffer
        (787, 0.6, FROM_A_PACKET, "high"),
        (787, 0.6, None, "medium"),
        (787, 0.7, None, "high"),
        (416, 0.8, None, "high"),
        (78, 0.7, None, "high"),
        (690, 0.95, None, "medium"),  # an allocation may fail
        (476, 0.59, None, "low"),
        (401, 0.79, None, "low"),
        (401, 0.95, FROM_A_PACKET, "medium"),
        (252, 0.7, None, "low"),
    ],
)
def test_severity_follows_from_likelihood_harm_and_reach(
    cwe: int, confidence: float, trail: str | None, severity: str
) -> None:
    found = candidate(HIT, "a.c")._replace(cwe=cwe, confidence=confidence, trail=trail)

    assert found.severity == severity
    assert found.severity_under({"unsafe_api": "low"}) == "low"
    assert found.score_under({"unsafe_api": "low"}) == confidence


def test_in_test_code_and_from_models_severity_is_medium_at_most() -> None:
    assert candidate(HIT, "a.c").severity == "high"
    assert candidate(HIT, "tests/a.c").severity == "medium"
    assert candidate(HIT, "a.c")._replace(pattern=DISCOVERED, confidence=0.65).severity == "medium"


def test_each_weakness_of_a_rule_has_a_class_of_harm_or_none() -> None:
    assert HARMS.keys() == WEAKNESSES.keys() | {"other"}
    assert len(HARM_OF) == sum(map(len, WEAKNESSES.values()))


def test_a_severity_rises_with_the_confidence_and_with_data_from_outside() -> None:
    steps = [sure / 100 for sure in range(40, 96)]
    for cwe in HARM_OF:
        for outside in (False, True):
            rated = [SEVERITIES.index(severity_of(sure, cwe, outside=outside)) for sure in steps]
            assert rated == sorted(rated)
        assert all(is_at_least(severity_of(one, cwe, outside=True), severity_of(one, cwe)) for one in steps)


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
