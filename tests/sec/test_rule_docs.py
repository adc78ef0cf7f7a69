"""The list of rules is the one that is promised, and its documentation is that of the table."""

from pathlib import Path

import pytest

from jarvis_workers.sec.rule_docs import about, as_markdown, in_order, weakness_link
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
PROMISED = {
    "c/cpp": """
        unsafe_api boundary_funcs strncpy_no_nul scanf_no_width alloc_size_overflow alloca_unbounded vla_usage
        realloc_assign_back malloc_no_null_check malloc_free_mismatch uaf_suspect double_free_and_free_non_heap
        possible_null_deref uninitialized_ptr_use unchecked_io errno_unchecked error_path_leak format_string
        command_execution insecure_tmpfile getenv_unchecked atoi_family rand_insecure strtok_nonreentrant
        open_permissive_perms inet_legacy time_apis_not_threadsafe hardcoded_secret pthread_returns_unchecked
        cond_wait_no_loop thread_leak_no_join deadlock_patterns
    """,
    "rust": """
        unsafe raw_pointer mem_transmute mem_forget maybe_uninit unwrap_expect extern_c unsafe_send_sync ignored_result
    """,
}


@pytest.mark.parametrize(
    ("language", "pattern"), [(language, name) for language, names in PROMISED.items() for name in names.split()]
)
def test_every_rule_that_the_seeds_name_is_in_the_table(language, pattern):
    assert {rule.language for rule in RULES if rule.pattern == pattern} == {language}


def test_no_two_rules_have_one_id():
    assert len(RULES_BY_PATTERN) == len(RULES)


def test_the_page_about_the_rules_is_up_to_date():
    assert PAGE.read_text() == as_markdown(RULES), (
        "write it anew: jarvis sec rules --format markdown --lang en > docs/rules.md"
    )


def test_the_page_has_a_row_and_a_section_for_every_rule():
    page = as_markdown(RULES)

    for rule in RULES:
        assert (
            f"| [`{rule.pattern}`](#{rule.pattern}) | {rule.category} | [CWE-{rule.cwe}]({weakness_link(rule)}) |"
            in page
        )
        assert f"\n### {rule.pattern}\n" in page


def test_code_with_fences_stays_inside_its_fence():
    rule = RULES_BY_PATTERN["unsafe"]._replace(bad="/// ```\nunsafe {}", title="a | b")

    page = as_markdown([rule])

    assert "````rust\n/// ```\nunsafe {}\n````" in page
    assert "| a \\| b |" in page


def test_rules_come_by_language_category_and_id():
    ordered = in_order(reversed(RULES))

    assert [rule.language for rule in ordered] == sorted(rule.language for rule in RULES)
    assert ordered == in_order(RULES)
    assert about(ordered[0])["id"] == ordered[0].pattern
