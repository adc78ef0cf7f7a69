"""Weaknesses of the CWE list have a name and one of the categories of the rules."""

import pytest

from jarvis_workers.sec.cwe import OF_RULES, OTHER, category_of, cwe_number, is_cwe, weakness_name
from jarvis_workers.sec.proof.weaknesses import MEMORY
from jarvis_workers.sec.severity import CATEGORY_ORDER


@pytest.mark.parametrize(
    ("cwe", "category"),
    [(125, "buffer_overflow"), (441, "network_api"), (22, "input_validation"), (835, "error_handling"), (1_999, OTHER)],
)
def test_a_weakness_that_no_rule_has_is_in_a_category_of_the_rules(cwe: int, category: str) -> None:
    assert category_of(cwe) == category


def test_categories_are_those_of_reports_and_agree_with_the_rules() -> None:
    listed = [cwe for cwe in range(2_000) if weakness_name(cwe) != f"CWE-{cwe}"]

    assert {category_of(cwe) for cwe in listed} == set(CATEGORY_ORDER)
    assert all(category_of(cwe) == category for cwe, category in OF_RULES.items())
    assert {121, 122, 125, 415, 416, 476, 787} & MEMORY <= set(listed)
    assert weakness_name(787) == "Out-of-bounds write"


@pytest.mark.parametrize("value", ["CWE-787", "cwe 787", "787: Out-of-bounds Write", 787])
def test_the_number_of_a_weakness_is_read_as_models_write_it(value: object) -> None:
    assert cwe_number(value) == 787


@pytest.mark.parametrize("value", [True, 0, -1, 2_000, "787", None, 1.5])
def test_other_values_are_no_weakness(value: object) -> None:
    assert not is_cwe(value)
