"""The ranking of functions: what reads, measures and copies outside data comes first; no name decides."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.sec.discovery.function_metrics import FunctionMetrics
from jarvis_workers.sec.discovery.functions import functions_of
from jarvis_workers.sec.discovery.ranking import PlacedFunction, RankedFunction, rank, score_of

CODE = """
typedef unsigned char octet;
struct message { unsigned length; char name[64]; };

static void take(struct message *m, const octet *bytes, unsigned n)
{
    memcpy(m->name, bytes, n);
    m->length = n;
}

int serve(int fd)
{
    octet bytes[2000];
    struct message m;
    long got = read(fd, bytes, sizeof bytes);
    unsigned n = bytes[0] << 8 | bytes[1];
    take(&m, bytes + 2, n);
    return got > 0;
}

char *grow(char *old, unsigned count)
{
    unsigned size = count * 16;
    return realloc(old, size);
}

int add(int a, int b)
{
    return a + b;
}

int show(int level)
{
    return add(level, 1);
}
"""


def metrics(code: str = CODE) -> dict[str, FunctionMetrics]:
    return {one.name: one for one in functions_of(code.encode(), "a.c").functions}


def placed(**files: str) -> list[PlacedFunction]:
    found = {f"{name}.c": functions_of(code.encode(), "a.c").functions for name, code in files.items()}
    return [PlacedFunction(name, one) for name, functions in found.items() for one in functions]


def ranked_all(functions: Sequence[PlacedFunction]) -> list[RankedFunction]:
    ranked, number = rank(functions, len(functions))
    assert number == len(functions) == len(ranked)
    return ranked


def test_what_a_function_does_with_outside_data_is_counted() -> None:
    known = metrics()

    take, serve, grow = known["take"], known["serve"], known["grow"]
    assert (take.copies, take.tainted, take.reads, take.lines) == (1, 1, 0, 5)
    assert (serve.reads, serve.decodes) == (1, 1)
    assert (grow.allocations, grow.loops) == (1, 0)
    assert known["add"] == FunctionMetrics("add", 27, 30, *[0] * 6)


def test_functions_that_handle_outside_data_are_ranked_first() -> None:
    first = [one.function.metrics.name for one in ranked_all(placed(a=CODE))[:3]]

    assert set(first) == {"take", "serve", "grow"}


def test_of_two_functions_that_do_the_same_the_longer_one_is_first() -> None:
    loop = "for (int i = 0; i < n; i++) p[i] = 0;\n"
    code = f"void f(int *p, int n)\n{{\n{loop}}}\nvoid g(int *p, int n)\n{{\n{loop}p[0]++;\np[1]--;\n}}\n"

    assert [one.function.metrics.name for one in ranked_all(placed(a=code))] == ["g", "f"]


def test_the_names_of_functions_do_not_matter() -> None:
    renamed = CODE
    for name, other in (("take", "zz1"), ("serve", "zz2"), ("grow", "zz3"), ("add", "zz4"), ("show", "zz5")):
        renamed = renamed.replace(f"{name}(", f"{other}(")

    scores = [[one.score for one in ranked_all(placed(a=code))] for code in (CODE, renamed)]

    assert scores[0] == scores[1]


@given(st.permutations(placed(a=CODE, b=CODE.replace("serve", "other"))))
def test_the_ranking_does_not_depend_on_the_order_of_the_files(functions: list[PlacedFunction]) -> None:
    assert ranked_all(functions) == ranked_all(placed(a=CODE, b=CODE.replace("serve", "other")))


def test_of_many_functions_the_first_are_ranked_and_all_are_counted() -> None:
    functions = placed(a=CODE, b=CODE)

    few, number = rank(iter(functions), 4)

    assert number == len(functions) == 10
    assert [one.score for one in few] == sorted((score_of(one.metrics) for one in functions), reverse=True)[:4]


def test_a_header_with_an_ending_of_cpp_is_read_as_cpp() -> None:
    code = b"struct S { int g(char *p, int n) { for (auto i : p) n += i; return p[n]; } };"

    assert functions_of(code, "a.hpp") == functions_of(code, "a.cc") != functions_of(code, "a.h")


def test_a_file_in_another_language_and_a_broken_one_have_no_facts_or_some() -> None:
    assert functions_of(b"fn main() { read(1); }", "a.rs") == ([], 0)
    assert [one.name for one in functions_of(b"int f(char *p) { while (*p++ { g(p[", "a.c").functions] in ([], ["f"])


def test_lines_with_code_in_no_function_are_counted() -> None:
    outside = b"/* a */\n#define TWICE(x) \\\n    ((x) * 2)\n\nUNKNOWN(handler) NAMED(b) = {\n    1,\n};\n"

    assert functions_of(outside + b"int f(void)\n{\n    return TWICE(1);\n}\n", "a.c").lines_outside == 5
    assert functions_of(outside, "a.c") == ([], 5)
