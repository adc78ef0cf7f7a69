"""What a function does with a pointer before and behind a place moves the confidence, or dismisses."""

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Scanner

RULES = [
    RULES_BY_PATTERN[pattern]
    for pattern in (
        "malloc_no_null_check",
        "malloc_free_mismatch",
        "uaf_suspect",
        "double_free_and_free_non_heap",
        "possible_null_deref",
        "uninitialized_ptr_use",
        "realloc_assign_back",
    )
]


def scan(body: str) -> dict[str, float]:
    source = f"int f(struct s *s, char *t, int n)\n{{\n{body}\n}}\n"
    return {hit.pattern: hit.confidence for hit in Scanner(rules=RULES).scan(source.encode(), language="c/cpp").hits}


@pytest.mark.parametrize(
    ("bad", "between"),
    [
        ("char *p = malloc(n);\n{}\np[0] = 0;", "if (!p) return 1;"),
        ("char *p = strchr(t, 58);\n{}\n*p = 0;", "if (p == NULL) return 1;"),
        ("free(t);\n{}\nt[0] = 1;", "t = s->t;"),
        ("free(s->t);\n{}\nfree(s->t);", "s->t = strdup(t);"),
        ("free(s->t);\n{}\nputs(s->t);", "refill(s);"),
        ("char *p;\n{}\n*p = 1;", "p = t;"),
        ("char *p;\n{}\n*p = 1;", "fill(&p);"),
        ("char *p = NULL;\n{}\np[0] = 1;", "p = t;"),
    ],
)
def test_a_test_or_a_new_value_before_the_use_dismisses(bad, between):
    assert len(scan(bad.format(""))) == 1
    assert scan(bad.format(between)) == {}


def test_a_multiplication_is_no_dereference():
    assert scan("char *p;\nn = n * p;") == {}
    assert "uninitialized_ptr_use" in scan("char *p;\nn = n + *p;")


def test_what_surely_runs_is_surer_than_what_may_run():
    straight = scan("free(t);\nt[0] = 1;")["uaf_suspect"]
    inner = scan("free(t);\nif (n) { t[0] = 1; }")["uaf_suspect"]
    outer = scan("if (n) { free(t); }\nt[0] = 1;")["uaf_suspect"]
    both = scan("if (n) { free(t); }\nif (s) { t[0] = 1; }")["uaf_suspect"]

    assert straight >= 0.7 > inner >= 0.5
    assert straight > outer >= 0.5
    assert both < 0.5


def test_a_test_behind_the_release_makes_a_use_less_sure():
    assert scan("free(t);\nif (t) { t[0] = 1; }")["uaf_suspect"] < scan("free(t);\nif (n) { t[0] = 1; }")["uaf_suspect"]


def test_memory_that_is_only_passed_on_is_less_sure_than_memory_that_is_used():
    passed = scan("char *p = malloc(n);\nkeep(s, p);")["malloc_no_null_check"]

    assert passed < 0.6 <= scan("char *p = malloc(n);\nmemset(p, 0, n);")["malloc_no_null_check"]
    assert scan("char *p = malloc(n);\nkeep(s, p);\nif (!p) return 1;") == {}


def test_a_search_that_was_made_before_most_likely_finds_again():
    assert scan("if (strchr(t, ':'))\n    t = strchr(t, ':') + 1;") == {}
    known = scan("if (count(t, ':') > 1)\n    *strchr(s->t, ':') = 0;")["possible_null_deref"]
    assert known < scan("*strchr(s->t, ':') = 0;")["possible_null_deref"]


def test_a_file_that_replaces_the_allocator_decides_for_itself():
    source = b"#define malloc must_malloc\n#define free(p) reset(&p)\nvoid f(char *t)\n{\n"
    body = b"char *p = malloc(3);\np[0] = 0;\nfree(t);\nt[0] = 1;\n}\n"

    assert Scanner(rules=RULES).scan(source + body, language="c/cpp").hits == ()


def test_realloc_into_its_only_pointer_is_no_finding_where_the_program_ends_without_memory():
    goes_on = scan("x->p = realloc(x->p, n);\nif (!x->p) {\n    return 1;\n}")
    ends = scan("x->p = realloc(x->p, n);\nif (!x->p) {\n    abort();\n}")

    assert "realloc_assign_back" in goes_on
    assert "realloc_assign_back" not in ends


def test_a_pair_that_works_on_most_systems_is_less_sure():
    soft = scan("char *p = malloc(3);\ng_free(p);").get("malloc_free_mismatch")

    assert soft is None
    assert scan("char *p = g_strdup(t);\ndelete p;")["malloc_free_mismatch"] >= 0.8


def test_what_the_scan_cannot_place_in_a_function_is_left_alone():
    source = b"#define DROP(p) free(p), p->x = 1, free(p)\nchar *p = malloc(3), *q;\n"

    assert Scanner(rules=RULES).scan(source, language="c/cpp").hits == ()


def test_so_many_releases_are_read_in_bounded_time():
    body = "".join(f"free(p{number % 50});" for number in range(4_000))

    assert scan(body)["double_free_and_free_non_heap"] >= 0.7


def test_a_second_release_behind_a_label_is_doubtful():
    body = "char *p = malloc(9); if (!f()) goto failed; free(p); switch (g()) { default: abort(); } failed: free(p);"

    assert scan(body)["double_free_and_free_non_heap"] < 0.7
