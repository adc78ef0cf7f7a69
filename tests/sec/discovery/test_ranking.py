"""The ranking of functions: what reads, measures and copies outside data comes first; no name decides."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.sec.discovery.function_metrics import FunctionMetrics
from jarvis_workers.sec.discovery.functions import functions_of
from jarvis_workers.sec.discovery.ranking import FURTHEST, PlacedFunction, RankedFunction, rank, shortlist

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
    return {one.name: one for one in functions_of(code.encode(), "a.c")}


def placed(**files: str) -> list[PlacedFunction]:
    return [
        PlacedFunction(f"{name}.c", one) for name, code in files.items() for one in functions_of(code.encode(), "a.c")
    ]


def names(ranked: Sequence[RankedFunction]) -> list[str]:
    return [one.function.metrics.name for one in ranked]


def test_what_a_function_does_with_outside_data_is_counted() -> None:
    known = metrics()

    take, serve, grow = known["take"], known["serve"], known["grow"]
    assert (take.takes_bytes, take.takes_length, take.copies, take.tainted, take.reads) == (True, True, 1, 1, 0)
    assert (serve.reads, serve.decodes, serve.passes) == (1, 1, ("read", "take"))
    assert (grow.allocations, grow.products, grow.loops) == (1, 1, 0)
    assert known["add"] == FunctionMetrics("add", 27, 30, False, False, True, *[0] * 11, (), ())


def test_functions_that_handle_outside_data_are_ranked_first() -> None:
    ranked = rank(placed(a=CODE))

    assert set(names(ranked)[:3]) == {"take", "serve", "grow"}
    distances = {one.function.metrics.name: one.distance for one in ranked}
    assert distances == {"serve": 0, "take": 1, "grow": FURTHEST, "add": FURTHEST, "show": FURTHEST}


def test_a_function_counts_as_nearer_if_its_caller_in_another_file_reads() -> None:
    parser = "int parse(const char *text) { int n = 0; while (*text) { n = n * 10 + *text++; } return n; }\n"
    reader = "int load(int fd) { char b[9]; read(fd, b, 9); return parse(b); }\n"

    (alone,) = rank(placed(a=parser))
    beside = {one.function.metrics.name: one for one in rank(placed(a=parser, b=reader))}

    assert (alone.distance, beside["parse"].distance) == (FURTHEST, 1)
    assert beside["parse"].score > alone.score


def test_another_files_static_function_is_not_the_callee() -> None:
    hidden = "static int parse(const char *text) { return text[0] == 'a' && text[1]; }\n"
    reader = "int load(int fd) { char b[9]; read(fd, b, 9); return parse(b); }\n"

    ranked = {one.function.metrics.name: one for one in rank(placed(a=hidden, b=reader))}

    assert ranked["parse"].distance == FURTHEST


def test_the_names_of_functions_do_not_matter() -> None:
    renamed = CODE
    for name, other in (("take", "zz1"), ("serve", "zz2"), ("grow", "zz3"), ("add", "zz4"), ("show", "zz5")):
        renamed = renamed.replace(f"{name}(", f"{other}(")

    scores = [[one.score for one in rank(placed(a=code))] for code in (CODE, renamed)]

    assert scores[0] == scores[1]


@given(st.permutations(placed(a=CODE, b=CODE.replace("serve", "other"))))
def test_the_ranking_does_not_depend_on_the_order_of_the_files(functions: list[PlacedFunction]) -> None:
    assert rank(functions) == rank(placed(a=CODE, b=CODE.replace("serve", "other")))


def test_of_too_many_functions_the_most_dangerous_are_ranked_and_all_are_counted() -> None:
    functions = placed(a=CODE, b=CODE)

    few, number = shortlist(functions, most=4)

    assert number == len(functions) == 10
    assert {one.metrics.name for one in few} == {"take", "grow"}
    assert shortlist(functions)[1] == 10


def test_a_header_with_an_ending_of_cpp_is_read_as_cpp() -> None:
    code = b"struct S { int g(char *p, int n) { for (auto i : p) n += i; return p[n]; } };"

    assert functions_of(code, "a.hpp") == functions_of(code, "a.cc") != functions_of(code, "a.h")


def test_a_file_in_another_language_and_a_broken_one_have_no_facts_or_some() -> None:
    assert functions_of(b"fn main() { read(1); }", "a.rs") == []
    assert [one.name for one in functions_of(b"int f(char *p) { while (*p++ { g(p[", "a.c")] in ([], ["f"])
