"""Functions are known by the other names that a file gives them."""

import time
from itertools import pairwise

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import MATCHES_MAX, Scanner
from jarvis_workers.source.match import engines
from tests.support.machine import assert_cpu_within

SCANNER = Scanner()


def found(code: str, engine: str | None = None) -> set[tuple[str, int]]:
    scan = (Scanner(engine) if engine else SCANNER).scan(code.encode(), language="c/cpp")
    assert scan.problem is None
    return {(hit.pattern, hit.line) for hit in scan.hits}


def in_function(head: str, *statements: str) -> str:
    return "\n".join([head, "void f(char *a, char *b, FILE *in)", "{", *statements, "}", ""])


@pytest.mark.parametrize("engine", engines())
def test_a_call_by_the_name_of_a_macro_is_a_call_of_what_it_stands_for(engine):
    code = in_function("#define READ_LINE gets", "READ_LINE(a);", "read_line(a);")

    assert found(code, engine) == {("unsafe_api", 4)}


@pytest.mark.parametrize(
    "head",
    [
        "#define READ_LINE gets\n",
        "  #  define\tREAD_LINE\tgets  /* as of old */\n",
        "#define READ_LINE gets // as of old\n",
        "#define READ_LINE gets\r\n",
        "#define LINE gets\n#define READ_LINE LINE\n",
        "#define READ_LINE LINE\n#define LINE gets\n",
        "#define A gets\n#define B A\n#define READ_LINE B\n",
        "#define READ_LINE(to) gets(to)\n",
        "#define READ_LINE(to) gets((char *)(to));\n",
        "#define READ_LINE(...) gets(__VA_ARGS__)\n",
        "#define READ_LINE(to...) gets(to)\n",
        "#define READ_LINE _getws\n",
    ],
)
def test_macros_that_change_the_name_alone_are_followed(head):
    hits = found(in_function(head, "READ_LINE(a);"))

    assert ("unsafe_api", head.count("\n") + 4) in hits


@pytest.mark.parametrize(
    "head",
    [
        "#define READ_LINE gets_safely\n",
        "#define READ_LINE(to, size) gets(to)\n",
        "#define READ_LINE(to) (gets(to), 1)\n",
        "#define READ_LINE(to) gets(other)\n",
        "#define READ_LINE \\\n    gets\n",
        "#define A gets\n#define B A\n#define C B\n#define READ_LINE C\n",
        "/* #define READ_LINE gets */\n",
        'char *help = "#define READ_LINE gets";\n',
        "#undef READ_LINE\n",
    ],
)
def test_macros_that_do_more_or_are_none_are_not(head):
    hits = found(in_function(head, "READ_LINE(a);"))

    assert ("unsafe_api", head.count("\n") + 4) not in hits


def test_arguments_in_another_order_are_another_function():
    code = "#define COPY(from, to) strcpy(to, from)\n#define TAKE(to, from) strcpy(to, from)\n"

    assert {line for pattern, line in found(in_function(code, "COPY(a, b);", "TAKE(a, b);")) if line > 3} == {7}


def test_of_two_systems_the_other_than_windows_counts():
    either = "#ifdef _WIN32\n#define {0} {1}\n#else\n#define {0} {2}\n#endif\n"
    shuffled = "#ifndef _WIN32\n#define {0} {2}\n#else\n#define {0} {1}\n#endif\n"

    for shape in (either, shuffled):
        head = shape.format("RUN", "_wsystem", "system") + shape.format("PEEK", "_access", "puts")
        assert found(in_function(head, "RUN(a);", "PEEK(a, 4); b = fopen(a, b);")) == {("command_execution", 14)}


def test_a_name_that_rules_know_stays_what_it_is():
    assert found(in_function("#define strlcpy strcpy", "strlcpy(a, b);")) == found(in_function("", "strlcpy(a, b);"))


def test_only_calls_count():
    code = in_function(
        "#define OPEN gets", "struct OPEN x;", "int OPEN = 3;", "OPEN_IT(a);", "x.OPEN(a);", 'x = "OPEN(a)";'
    )

    assert found(code) == set()


def test_windows_spells_functions_in_its_own_way():
    hits = found(
        in_function("", "_wpopen(a, b);", "_getws(a);", "_mbscpy(a, b);", "lstrcpyW(a, b);", "_wexecl(a, b, 0);")
    )

    assert hits >= {
        ("command_execution", 4),
        ("unsafe_api", 5),
        ("unsafe_api", 6),
        ("unsafe_api", 7),
        ("command_execution", 8),
    }


def test_a_suppression_reaches_the_call_by_another_name():
    code = in_function("#define READ_LINE gets", "READ_LINE(a); // jarvis-ignore[unsafe_api]: fixed input")
    hits = SCANNER.scan(code.encode(), language="c/cpp").hits

    assert [hit.suppressed for hit in hits] == ["fixed input"]


@pytest.mark.slow
def test_beyond_all_measure_says_so():
    code = in_function("#define READ_LINE gets", *["READ_LINE(a);"] * (MATCHES_MAX + 10))
    scan = Scanner(rules=[RULES_BY_PATTERN["unsafe_api"]]).scan(code.encode(), language="c/cpp")

    assert scan.problem == f"more than {MATCHES_MAX} calls through macro names; checked only the first of them"
    assert len(scan.hits) == MATCHES_MAX


@pytest.mark.timing
def test_many_names_and_many_calls_take_no_longer_than_their_size_says():
    names = [f"N{number}" for number in range(2_000)]
    head = "#define N0 gets\n" + "".join(f"#define {b} {a}\n" for a, b in pairwise(names))
    code = in_function(head * 20, *(f"{name}(a);" for name in names * 10)).encode()
    started = time.process_time()

    assert SCANNER.scan(code, language="c/cpp").hits
    assert_cpu_within(5, since=started)
