"""Tests in the user's crate are recorded calls of C, of functions whose result depends on their arguments alone."""

from pathlib import Path

import pytest

from jarvis_workers.c2rust.golden_tests import RecordedCall, golden_tests, module_of, pure_functions
from jarvis_workers.c2rust.project import Project
from tests.c2rust.deliveries import translated

SOURCE = """
#include <stdlib.h>
#include <string.h>
static int total;
static const int table[] = { 1, 2, 3 };
int add(int a, unsigned char b) { return a + b + table[0]; }
int indirect(int a) { return add(a, 1); }
int counted(int a) { return total += a; }
int through(int a) { return counted(a); }
int local(int a) { static int calls; return a + calls++; }
int called(int (*f)(int)) { return f(1); }
int is_null(int (*f)(int)) { return !f; }
int random_one(void) { return rand(); }
int even(int n) { int odd(int); return n ? odd(n - 1) : 1; }
int odd(int n) { return n ? even(n - 1) : 0; }
double half(double x) { return x / 2; }
void fill(short *to, const char *text, int n) { memset(to, text[0], 2 * n); }
char *find(char *text) { return strchr(text, 'a'); }
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root: Path = tmp_path_factory.mktemp("golden")
    return translated(root, {"a.c": SOURCE}).project


def written_for(project: Project, name: str, *calls: RecordedCall) -> str:
    return golden_tests(project, {name: calls}).get(name, "")


def test_functions_with_state_are_not_tested(project: Project) -> None:
    pure = pure_functions(project)

    names = {item.slot for item in project.functions if item.definition.key in pure}
    assert names == {"add", "indirect", "is_null", "even", "odd", "half", "fill", "find"}


def test_a_test_has_the_recorded_arguments_and_result(project: Project) -> None:
    text = written_for(project, "add", RecordedCall("g fffffffffffffffe\ng 5\n", 0xDEADBEEF00000004, 0, ()))

    assert "fn golden_add_1() {\n" in text
    assert "let result = unsafe { add(-2, 5) };\n    assert_eq!(result, 4);\n" in text


def test_buffers_are_compared_after_the_call(project: Project) -> None:
    call = RecordedCall("o 4\nw 2 ffff\no 2\nw 0 61\nG 0\nG 1\ng 2\n", 7, 0, ("61616161", "6100"))
    text = written_for(project, "fill", call)

    assert "let mut memory_0: [i16; 2] = [0, -1];\n    let memory_1: [i8; 2] = [97, 0];\n" in text
    assert "fill(memory_0.as_mut_ptr().cast(), memory_1.as_ptr().cast(), 2) };\n    assert_eq!(result, ());" in text
    assert "assert_eq!(memory_0, [24929, 24929]);" in text


def test_floating_point_numbers_are_exact(project: Project) -> None:
    text = written_for(project, "half", RecordedCall("v 3ff0000000000000\n", 0, 0x3FE0000000000000, ()))

    assert (
        "half(f64::from_bits(0x3ff0000000000000)) };\n    assert_eq!(result, f64::from_bits(0x3fe0000000000000));"
        in text
    )


def test_the_first_calls_with_different_results_are_chosen(project: Project) -> None:
    calls = [RecordedCall(f"g {a:x}\ng 0\n", result, 0, ()) for a, result in enumerate([1, 1, 2, 3, 4])]
    text = written_for(project, "add", *calls)

    assert [f"add({a}, 0)" in text for a in range(5)] == [True, False, True, True, False]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("counted", RecordedCall("g 1\n", 1, 0, ())),
        ("find", RecordedCall("o 2\nw 0 61\nG 0\n", 1, 0, ("6100",))),
        ("half", RecordedCall("v 7ff8000000000000\n", 0, 0x7FF8000000000000, ())),
        ("fill", RecordedCall("o 2\nG 0\nG 0\ng 1\n", 0, 0, ("0000",))),
        ("fill", RecordedCall("o 8\np 0 0\nG 0\ng 0\ng 0\n", 0, 0, ("00" * 8,))),
    ],
)
def test_what_cannot_be_written_in_rust_has_no_test(project: Project, name: str, call: RecordedCall) -> None:
    assert written_for(project, name, call) == ""


def test_a_crate_without_tests_has_no_module() -> None:
    assert module_of([]) == ""
    assert module_of(["fn a() {}"]).endswith("use crate::c::*;\nfn a() {}")
