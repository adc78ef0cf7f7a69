"""What functions do with outside data: what reads, measures and copies it is exposed; no name decides."""

from jarvis_workers.sec.reading.file_facts import exposure_of
from jarvis_workers.sec.reading.function_metrics import FunctionMetrics
from jarvis_workers.sec.reading.functions import functions_of

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


def test_what_a_function_does_with_outside_data_is_counted() -> None:
    known = metrics()

    take, serve, grow = known["take"], known["serve"], known["grow"]
    assert (take.copies, take.tainted, take.reads) == (1, 1, 0)
    assert (serve.reads, serve.decodes) == (1, 1)
    assert (grow.allocations, grow.loops) == (1, 0)
    assert known["add"] == FunctionMetrics("add", 27, 30, *[0] * 6)


def test_functions_that_handle_outside_data_are_exposed() -> None:
    exposed = {name for name, one in metrics().items() if exposure_of(one)}

    assert exposed == {"take", "serve", "grow"}


def test_the_names_of_functions_do_not_matter() -> None:
    renamed = CODE
    for name, other in (("take", "zz1"), ("serve", "zz2"), ("grow", "zz3"), ("add", "zz4"), ("show", "zz5")):
        renamed = renamed.replace(f"{name}(", f"{other}(")

    exposures = [list(map(exposure_of, metrics(code).values())) for code in (CODE, renamed)]

    assert exposures[0] == exposures[1]


def test_a_header_with_an_ending_of_cpp_is_read_as_cpp() -> None:
    code = b"struct S { int g(char *p, int n) { for (auto i : p) n += i; return p[n]; } };"

    assert functions_of(code, "a.hpp") == functions_of(code, "a.cc") != functions_of(code, "a.h")


def test_a_file_in_another_language_and_a_broken_one_have_no_facts_or_some() -> None:
    assert functions_of(b"fn main() { read(1); }", "a.rs") == []
    assert [one.name for one in functions_of(b"int f(char *p) { while (*p++ { g(p[", "a.c")] in ([], ["f"])
