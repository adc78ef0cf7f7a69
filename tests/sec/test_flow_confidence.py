"""The confidence of a flow finding says what must come together for the defect."""

import pytest

from tests.sec.following import tell

HEAD = b"#include <stdlib.h>\n#include <time.h>\n"

CERTAIN = 0.85


def confidences(code: bytes, pattern: str) -> list[float]:
    return [hit.confidence for hit in tell(HEAD + code) if hit.pattern == pattern]


def overflows(body: bytes) -> list[float]:
    return confidences(b"long f(int fd, long most, time_t end)\n{\n%b\n}\n" % body, "flow_integer_overflow")


def test_an_overflow_that_one_number_from_outside_causes_is_likely() -> None:
    (sure,) = overflows(b'    int n;\n    scanf("%d", &n);\n    return n + 1;')

    assert sure >= 0.55


@pytest.mark.parametrize(
    "body",
    [
        # The time would have to be near the end of its type.
        b"    time_t now = time(NULL);\n    return now + (rand() & 0xffff) > end;",
        b"    time_t now = time(NULL);\n    long r = rand() * most;\n    return now + (time_t)(r / 1000000) > end;",
        # A sum of numbers of one source.
        b"    unsigned char b[10];\n    int i, sum = 0, n = read(fd, b, 10);\n"
        b"    for (i = 0; i < n; i++)\n        sum += (b[i] & 31) << 22;\n    return sum;",
    ],
)
def test_an_overflow_that_needs_more_than_a_number_from_outside_is_less_likely(body: bytes) -> None:
    found = overflows(body)

    assert found[-1:] and max(found[-1:]) <= 0.5


@pytest.mark.parametrize("part", [b"most >> 16", b"most / 65536", b"most % 65536"])
def test_a_product_of_parts_stays_in_its_type(part: bytes) -> None:
    code = b"    long r = rand() & 0xffff;\n    return (%b) * r;"

    assert overflows(code % part) == []
    assert overflows(code % b"most >> 2") != []


ALLOCATOR = b"""
char *own_malloc(size_t n)
{
    %b
}
int f(size_t n)
{
    char *p = own_malloc(n);
    p[0] = 0;
    return 0;
}
"""


def test_an_allocator_whose_failure_is_not_known_is_doubtful() -> None:
    (known,) = confidences(ALLOCATOR % b"return malloc(n);", "flow_unchecked_null")
    (unknown,) = confidences(ALLOCATOR % b"struct heap *h = heap_for(n); return h->free;", "flow_unchecked_null")

    assert known > 0.8
    assert unknown < 0.7
    assert confidences(ALLOCATOR % b"char *p = malloc(n); if (!p) exit(1); return p;", "flow_unchecked_null") == []


def test_text_that_a_call_in_a_condition_gets_may_be_judged() -> None:
    code = b'int f(char *to, size_t n, const char *a)\n{\n    char *s = getenv("FORMAT");\n    %b\n    '
    code += b"return snprintf(to, n, s, a);\n}\n"

    (plain,) = confidences(code % b"if (!s) return 0;", "flow_format_string")
    (judged,) = confidences(code % b"if (!s || escapes_in(s) > 2) return 0;", "flow_format_string")

    assert plain > 0.8
    assert judged < 0.7


def test_a_program_that_the_user_chooses_is_meant_to_run() -> None:
    code = b'int f(void)\n{\n    char *s = getenv("%b");\n    return s ? system(s) : 0;\n}\n'

    (chosen,), (other,) = (confidences(code % name, "flow_command_injection") for name in (b"EDITOR", b"HOST_NAME"))

    assert chosen < 0.7 < other


@pytest.mark.parametrize("condition", [b"if MSDOS_COMPILER==WIN32C", b"ifdef __MSDOS__", b"if defined(OS2)"])
def test_branches_for_old_systems_are_not_read(condition: bytes) -> None:
    code = b"void f(char *p)\n{\n    free(p);\n#%b\n    p[0] = 0;\n#endif\n}\n"

    assert confidences(code % condition, "flow_use_after_free") == []
    assert confidences(code % b"ifdef HAVE_DOSAGE", "flow_use_after_free") != []


TESTED = b"""
int f(void)
{
    struct entry *p = malloc(8);
    if (p == NULL)
        %b
    p->n = 0;
    return keep(p);
}
"""


@pytest.mark.parametrize(
    "call", [b"NO_MEMORY();", b'complain_of("p");', b"{ hooks->low(8); }", b'{ puts("p"); lack(8); }']
)
def test_a_pointer_that_is_used_after_unknown_code_saw_its_null_is_doubtful(call: bytes) -> None:
    assert [sure <= 0.44 for sure in confidences(TESTED % call, "flow_null_dereference")] == [True]


@pytest.mark.parametrize("body", [b'puts("p");', b'log_lack("p");', b"{ lacks++; lack(8); }"])
def test_a_pointer_that_is_used_although_its_null_was_only_told_is_likely(body: bytes) -> None:
    assert [sure > 0.55 for sure in confidences(TESTED % body, "flow_null_dereference")] == [True]


def test_a_known_body_behind_a_null_test_returns() -> None:
    code = b"void lack(int n)\n{\n    lacks += n;\n}\n" + TESTED % b"lack(8);"

    assert [sure > 0.55 for sure in confidences(code, "flow_null_dereference")] == [True]


@pytest.mark.parametrize("value", [b"((double)32767 + 1.0)", b"2.5", b"(HALF * 2)"])
def test_a_constant_with_a_fraction_makes_the_arithmetic_one_with_fractions(value: bytes) -> None:
    code = b"#define HALF 0.5\n#define PART " + value + b"\ndouble f(void)\n{\n    int n;\n"
    code += b'    scanf("%d", &n);\n    return n / PART + n;\n}\n'

    assert confidences(code, "flow_integer_overflow") == []
    assert confidences(code.replace(b"n / PART", b"1"), "flow_integer_overflow") != []


@pytest.mark.parametrize("condition", [b"#ifndef _WIN32", b"#if !(defined _WIN32 && !defined __CYGWIN__)"])
def test_of_several_functions_that_outside_of_excluded_branches_is_followed(condition: bytes) -> None:
    kept = b"char *ask(void) { static char answer[80]; return answer; }\n"
    made = b'char *ask(void) { return strdup(getenv("NAME")); }\n'
    code = condition + b"\n%b#else\n%b#endif\n"
    code += b"int f(int n) { char b[9], *s = ask(); if (!s) return 0; strncpy(b, s, 9); return b[0] > n; }\n"

    assert confidences(code % (kept, made), "flow_memory_leak") == []
    assert confidences(code % (made, kept), "flow_memory_leak") != []


STRAIGHT = b"""#include <stdlib.h>
int f(int a, int b, int c)
{
    int *p = malloc(4);
    if (!p)
        return 1;
    free(p);
    return *p;
}
"""


def test_an_effect_that_certainly_follows_its_cause_is_as_likely_as_it_seems() -> None:
    assert confidences(STRAIGHT, "flow_use_after_free")[0] >= 0.8


def test_an_effect_behind_branches_and_an_unknown_call_is_doubtful() -> None:
    behind = STRAIGHT.replace(b"return *p;", b"if (a) g(&a);\nif (b) g(&b);\nif (c) return *p;\nreturn 0;")

    assert confidences(behind, "flow_use_after_free")[0] <= 0.53


def test_an_effect_in_a_loop_behind_a_branch_is_less_likely() -> None:
    looped = STRAIGHT.replace(b"return *p;", b"while (a--) b += *p;\nreturn b;")

    assert confidences(looped, "flow_use_after_free")[0] < 0.7


@pytest.mark.parametrize(
    ("between", "likely"),
    [(b"", 0.88), (b"if (n > 5) return 1;", None)],
    ids=["straight", "behind a branch"],
)
def test_memory_that_a_straight_path_leaves_behind_is_certainly_lost(between: bytes, likely: float | None) -> None:
    code = b"int f(int n)\n{\nchar *pad = malloc(n + 1);\nif (!pad)\n return -1;\npad[0] = 0;\n%b\n%b\nreturn 0;\n}\n"

    (found,) = confidences(code % (between, b"" if likely else b"if (n) free(pad);"), "flow_memory_leak")

    assert found == likely if likely else found < 0.7


def test_null_from_a_function_that_returns_nothing_else_is_certain() -> None:
    code = b"int *get(int n)\n{\n%b\n}\nint f(int n)\n{\nint *p = get(n);\nreturn *p;\n}\n"

    (always,) = confidences(code % b"return NULL;", "flow_null_dereference")
    (at_times,) = confidences(code % b"static int a; if (n) return &a; return NULL;", "flow_null_dereference")

    assert always > CERTAIN > at_times


def test_a_condition_of_a_callee_decides_none_of_its_caller_with_the_same_text() -> None:
    code = b"""static void drop(char *p, int n) { if (n > 3) note(n); if (n > 3) free(p); }
int f(int k, int n)
{
    char *p = malloc(4);
    if (!p)
        return 1;
    drop(p, k);
    if (n > 3)
        return 0;
    return p[0];
}
"""

    assert confidences(code, "flow_use_after_free") != []
