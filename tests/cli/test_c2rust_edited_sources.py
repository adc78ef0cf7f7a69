"""`jarvis c2rust run` again after an edit of the C code: the model is asked only what the edit changes."""

from collections import Counter
from pathlib import Path

import pytest

from tests.agents.loop.planning import answer_about_plan, is_about_signatures, is_layout
from tests.agents.loop.server import Body, ModelServer, Step
from tests.agents.loop.translating import function_of, perfect, with_reviews
from tests.cli.commands import Jarvis
from tests.cli.test_c2rust_run import COMMANDS, use_model
from tests.support.servers import require

NUMBERS = """#include "lib.h"
static int calls;
enum { LIMIT = 100 };
static int capped(int a)
{
    return a > LIMIT ? LIMIT : a;
}
int total(const int *numbers, int count)
{
    int all = 0;
    calls++;
    for (int i = 0; i < count; i++)
        all += capped(numbers[i]);
    return all;
}
void shift(struct point *p, int by)
{
    p->x += by;
    p->y += by;
}
int counted(void) { return calls; }
"""
TEXTS = """#include "lib.h"
int length(const char *text)
{
    int n = 0;
    while (text[n])
        n++;
    return n;
}
int distance(const struct point *p) { return p->x + p->y + length("ab"); }
"""
HEADER = """struct point { int x; int y; };
int total(const int *numbers, int count);
void shift(struct point *p, int by);
int counted(void);
int length(const char *text);
int distance(const struct point *p);
"""
CHECK = """#include "lib.h"
int main(void)
{
    int numbers[] = { 3, 1, 200 };
    struct point p = { 1, 2 };
    shift(&p, 3);
    return !(total(numbers, 3) == 104 && counted() == 1 && length("abc") == 3 && distance(&p) == 11);
}
"""
MAKEFILE = """test: check
\t./check
check: numbers.o texts.o check.o
\t$(CC) -o $@ numbers.o texts.o check.o
"""
FILES: dict[str, str | bytes] = {
    "lib.h": HEADER,
    "numbers.c": NUMBERS,
    "texts.c": TEXTS,
    "check.c": CHECK,
    "Makefile": MAKEFILE,
}


def model(body: Body) -> Step:
    return answer_about_plan(body, "src/all.rs") or perfect(body)


def topics(server: ModelServer) -> Counter[str]:
    """Return what the requests are about: a function, or a plan."""

    def topic(body: Body) -> str:
        return "modules" if is_layout(body) else "signatures" if is_about_signatures(body) else function_of(body)

    return Counter(map(topic, server.requests))


def move(jarvis: Jarvis, library: Path) -> Counter[str]:
    """Run the command, and return what the model was asked."""
    with ModelServer(forever=with_reviews(model)) as server:
        use_model(jarvis, server)
        ended = jarvis.spawn("c2rust", "run", "-p", library, *COMMANDS, "--no-replace", "--no-optimize", "--no-review")
        assert ended.code == 0, ended.err
    return topics(server)


@pytest.mark.slow
def test_an_edited_function_is_asked_about_and_no_other(jarvis: Jarvis) -> None:
    """`total` grows by two lines, so that all functions below it move.

    The question about the signatures of its file has its code, and no other translation has it.
    """
    require("cc", "make", "cargo")
    library = jarvis.tree("small", FILES)
    first, again = move(jarvis, library), move(jarvis, library)
    edited = NUMBERS.replace("    return all;\n", "    if (all < 0)\n        all = 0;\n    return all;\n")
    (library / "numbers.c").write_text(edited)
    after_edit = move(jarvis, library)
    (library / "lib.h").write_text(HEADER.replace("int y; };", "int y; int z; };"))
    after_type = move(jarvis, library)

    functions = ("capped", "total", "shift", "counted", "length", "distance")
    assert first == Counter({"modules": 1, "signatures": 2} | dict.fromkeys(functions, 1))
    assert again == Counter()
    assert after_edit == Counter(["signatures", "total"])
    assert after_type == Counter(["shift", "distance"]), "the questions about signatures show no types"
