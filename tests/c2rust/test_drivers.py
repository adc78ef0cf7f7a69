"""Drivers: what is linked with them, and what they must not contain."""

import pytest

from jarvis_workers.c2rust.bench.driver_programs import link_inputs
from jarvis_workers.c2rust.driver_question import DRIVER_MAX, form_problem

SYMBOLS = """project/libz.a[inflate.o]: inflate T 0 10
project/libz.a[crc32.o]: crc32 T 0 10
project/libother.a[x.o]: other T 0 4
project/inflate.o: inflate T 0 10
project/test/example.o: main T 0 10
project/test/example.o: helper T 0 10
project/tool.o: version T 0 4
project/odd [name].o: odd D 0 4
"""


@pytest.mark.parametrize(
    ("names", "files"),
    [
        (["inflate"], ["libz.a", "libother.a"]),
        (["other", "crc32"], ["libother.a", "libz.a"]),
        (["version"], ["tool.o", "inflate.o", "odd [name].o"]),
        (["odd"], ["odd [name].o", "inflate.o", "tool.o"]),
        (["helper"], []),
        (["absent"], []),
        ([], []),
    ],
)
def test_libraries_are_linked_before_objects_and_none_with_a_main(names: list[str], files: list[str]) -> None:
    assert link_inputs(SYMBOLS, names) == files


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("int main(void) { return f(3); }", ""),
        ('int main(void) { puts("getenv(main)"); /* rand() */ return 0; }', ""),
        ("int timer(int); int main(void) { return timer(1) + randomize; }", ""),
        ("int f(void);", "no `main`"),
        ("int main(void) { return rand(); }", "`rand`"),
        ("int main(void) { return main (); }", "`main`"),
        ("int main(void) { return getenv(0) != 0; }", "`getenv`"),
        ("extern char **environ; int main(void) { return !environ; }", "`environ`"),
        ('int main(void) { __asm__("nop"); }', "`__asm__`"),
        ("__attribute__((constructor)) void f(void) {} int main(void) {}", "`__attribute__`"),
        ("int main(void) { jv_enter(); }", "`jv_enter`"),
        ("int main(void) {" + " " * DRIVER_MAX + "}", "longer than"),
    ],
)
def test_a_driver_must_not_know_in_which_run_it_is(text: str, problem: str) -> None:
    found = form_problem(text)
    assert problem in found
    assert bool(found) == bool(problem)
