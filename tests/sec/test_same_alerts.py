"""Which alerts of other analyzers, and candidates of rules, are one defect."""

import time
from collections.abc import Sequence

import pytest

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.same_defect import NEAR, merged_alerts
from jarvis_workers.sec.trace import trail_of
from tests.sec.verifying import found
from tests.support.machine import assert_cpu_within

Way = Sequence[tuple[str | None, int, str]]
LEAK, USED, NULL, UNSET, OVERFLOW = 401, 416, 476, 457, 787
ALLOCATED: Way = ((None, 5, "allocated here"), (None, 9, "'p' leaks here"))
OURS: Way = ((None, 5, "malloc(9) may return NULL"), (None, 14, "p is not released on this path, which ends here"))


MADE = "Calling 'make'"
IN_CALLEE: Way = ((None, 20, MADE), (None, 5, "Memory is allocated"), (None, 20, "Returned allocated memory"))


def alert(cwe: int, line: int, text: str = "", way: Way = (), file: str = "a.c") -> Candidate:
    described = ours(cwe, line, [*way, (None, line, text)], file)
    return described._replace(pattern="gcc:x", description=f"gcc (warning): {text}", evidence="return n;")


def ours(cwe: int, line: int, way: Way = (), file: str = "a.c") -> Candidate:
    return found(file, line)._replace(pattern="flow", cwe=cwe, trail=trail_of(way, file), evidence="int n;")


def are_one(one: Candidate, other: Candidate) -> bool:
    ways = [merged_alerts([(2, one)], [(1, other)]), merged_alerts([(2, other)], [(1, one)])]
    assert ways in ([{}, {}], [{2: 1}, {2: 1}])
    return bool(ways[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (alert(OVERFLOW, 7), alert(120, 7)),
        (alert(415, 9, "double-‘free’ of ‘p’"), alert(USED, 9, "pointer ‘p’ used after ‘free’")),
        (alert(OVERFLOW, 7, "writing to 'b[4]'"), alert(120, 7, "Array 'b' is too short: b")),
        (alert(LEAK, 9, "leak of ‘p’", ALLOCATED), ours(LEAK, 5, OURS)),
        (alert(LEAK, 12, "Memory leak: p"), ours(LEAK, 5, OURS)),
        (alert(LEAK, 10, "Memory leak: p"), alert(772, 9, "leak of ‘p’", ALLOCATED)),
        (alert(LEAK, 9, "leak of '<unknown>'", ALLOCATED), ours(LEAK, 5, OURS)),
        (alert(USED, 9, "Use of memory after it is freed", [(None, 6, "Memory is released")]),
         ours(825, 11, [(None, 6, "p is released"), (None, 11, "p is used after it was released")])),
        (alert(562, 6, "object backing the pointer will be destroyed"),
         ours(USED, 7, [(None, 6, "refers to a temporary, which ends with its statement"), (None, 7, "s is used")])),
        (alert(NULL, 9, "dereference of NULL ‘p’"), alert(690, 9 + NEAR, "possible null pointer dereference: p.")),
        (alert(UNSET, 9, "‘o.width’ is used uninitialized"), ours(UNSET, 9, [(None, 9, "o->width is used but")])),
        (alert(NULL, 9, "Access to field 'a' results in a dereference of NULL (loaded from variable 'p')"),
         alert(NULL, 9, "dereference of NULL 'p'")),
        (alert(LEAK, 30, "leak", IN_CALLEE), alert(LEAK, 20, "Return value is not stored")),
        (alert(USED, 7, "pointer 'p' used", [(None, 6, "call to 'free' here")]), ours(USED, 6)),
        (alert(590, 7, "free of '& buffer'"), ours(590, 7, [(None, 7, "p is static memory and is released")])),
        (alert(562, 8, "Using pointer to local variable 'b' that is out of scope."),
         ours(562, 9, [(None, 6, "the block of b ends"), (None, 9, "calls use"), (None, 2, "p points to a variable")])),
        (alert(674, 3, "infinite recursion detected", [(None, 5, "recursive call")]), ours(674, 5)),
    ],
)  # fmt: skip
def test_alerts_of_one_defect_are_one(one: Candidate, other: Candidate) -> None:
    assert are_one(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (alert(0, 7), alert(0, 7)),
        (alert(252, 7), alert(690, 7)),
        (alert(415, 9, "double-‘free’ of ‘p’"), alert(USED, 8, "pointer ‘p’ used after ‘free’")),
        (alert(LEAK, 21, "leak", IN_CALLEE), ours(LEAK, 5, OURS)),
        (alert(NULL, 21, "NULL", [(None, 5, "may return NULL"), (None, 8, "Calling 'use'")]), alert(NULL, 5)),
        (alert(OVERFLOW, 7), alert(LEAK, 7)),
        (alert(OVERFLOW, 7, "writing to 'b'"), alert(120, 7, "writing to 'c'")),
        (alert(OVERFLOW, 7, "writing to 'b'"), alert(120, 8, "writing to 'b'")),
        (alert(LEAK, 9, "leak of 'p'"), alert(LEAK, 9, "leak of 'q'")),
        (alert(LEAK, 9, "leak of '<unknown>'", ALLOCATED), alert(LEAK, 9, "leak", [(None, 6, "allocated here")])),
        (alert(LEAK, 9, "leak of 'p'", ALLOCATED), alert(LEAK, 10, "leak of 'p'", [(None, 8, "allocated here")])),
        (alert(LEAK, 9, "Memory leak: q"), ours(LEAK, 5, OURS)),
        (alert(LEAK, 5, "'p' is lost if 'realloc' fails"), alert(LEAK, 9, "leak of 'p'", ALLOCATED)),
        (alert(LEAK, 9, "leak of 'p'", [(None, 6, "allocated here")]),
         ours(LEAK, 5, [OURS[0], (None, 6, "malloc(8) may return NULL"), OURS[1]])),
        (alert(NULL, 9, "dereference of NULL 'p'"), alert(NULL, 10 + NEAR, "dereference of NULL 'p'")),
        (alert(NULL, 9, "dereference of NULL 'p'"), alert(NULL, 9, "dereference of NULL 'p'", file="b.c")),
        (alert(NULL, 9, "p", [(None, 5, "'p->a' may return NULL")]), alert(NULL, 5, "dereference of NULL 'q'")),
    ],
)  # fmt: skip
def test_two_defects_stay_two(one: Candidate, other: Candidate) -> None:
    assert not are_one(one, other)


def test_what_an_alert_shares_with_two_is_one_defect_but_rules_are_never_merged() -> None:
    clang, gcc = alert(674, 3, "calls itself"), alert(674, 3, "infinite recursion", [(None, 5, "recursive call")])
    standing = [(1, ours(674, 5)), (2, ours(674, 5))]

    assert merged_alerts([(7, clang), (8, gcc)], standing) == {7: 1, 8: 1}
    assert merged_alerts([(7, clang), (8, gcc)], []) == {8: 7}


def test_leaks_of_different_memory_on_a_line_are_not_one_by_what_names_neither() -> None:
    way: Way = ((None, 9, "malloc(8) may return NULL"), (None, 11, "d->body is not released before d"))
    of_body, body = alert(LEAK, 11, "Memory leak: d.body"), ours(LEAK, 11, way)
    of_head = alert(LEAK, 11, "leak of '<unknown>'", [(None, 8, "allocated here")])

    assert merged_alerts([(7, of_body), (8, of_head)], [(1, body)]) == {7: 1}


def test_thousands_of_alerts_about_a_line_are_compared_in_bounded_time() -> None:
    alerts = [(number, alert(NULL, 9, f"NULL 'p{number}'")) for number in range(1_000)]
    began = time.process_time()

    assert merged_alerts(alerts, []) == {}
    assert_cpu_within(2, since=began)
