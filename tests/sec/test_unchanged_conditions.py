"""Loops that are entered and never left, as nothing changes what their conditions test."""

import pytest

from tests.sec.following import tell

LOOP = """
#include <stdio.h>
#define MOST 10
int main(void) {
    int a = 0, b = 1;
    HEAD {
        printf("again\\n");
        STEP
    }
    return b;
}
"""


def is_endless(head: str, step: str) -> bool:
    hits = tell(LOOP.replace("HEAD", head).replace("STEP", step).encode())
    return [hit.line for hit in hits if hit.pattern == "flow_endless_loop"] == [6]


@pytest.mark.parametrize(
    ("head", "step"),
    [
        ("while (a < 10)", "b++;"),
        ("while (a < MOST && b)", ""),
        ("for (; a < MOST; b++)", "b += 2;"),
        ("for (int i = 0; i < MOST; i++)", "i--;"),
        ("for (a = 0; a < 9; a++)", "--a; b = a;"),
    ],
)
def test_a_loop_that_changes_nothing_of_its_condition_never_ends(head: str, step: str) -> None:
    assert is_endless(head, step)


@pytest.mark.parametrize(
    ("head", "step"),
    [
        ("while (a < 10)", "a++;"),
        ("while (a < 10)", "if (b++ > 4) break;"),
        ("while (a < 10)", "if (b++ > 4) return 1;"),
        ("while (a < 10)", "next(&a);"),
        ("while (a < 10)", "leave_some_day();"),
        ("while (a < 10)", "print_and_exit(b);"),
        ("while (a < 10)", "execv(path, args);"),
        ("while (a < 10)", "exit(1);"),
        ("while (a > 10)", "b++;"),
        ("while (a < outside)", "b++;"),
        ("while (a < 10)", 'scanf("%d", &a);'),
        ("for (a = 0; a < 9; a++)", "if (b) a--;"),
        ("for (a = 0; a < 9; a += 2)", "a--;"),
        ("while (1)", "b++;"),
    ],
)
def test_a_loop_that_may_end_or_is_meant_not_to_is_right(head: str, step: str) -> None:
    assert not is_endless(head, step)


def test_a_static_variable_or_one_of_a_pointer_may_be_changed_elsewhere() -> None:
    assert not is_endless("static int on = 1; while (on)", "")
    assert not is_endless("int *p = &a; while (a < 10)", "++*p;")
