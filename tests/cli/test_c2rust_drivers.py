"""Drivers: C programs by a model that call the functions which nothing reaches; build, gates and crate are real."""

from pathlib import Path

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import HEAD, answers, perfect, task_of
from tests.cli.commands import Jarvis
from tests.cli.test_c2rust_transpile import COMMANDS, functions
from tests.support.servers import require
from tests.support.settings_files import write_settings

HEADER = """#include <stdio.h>
int twice(int a);
int sum_of(FILE *file);
"""
# No test and no generated argument reaches `sum_of`: a FILE cannot be generated.
LIBRARY = """#include "lib.h"
int twice(int a) { return 2 * a; }
static int next(FILE *file) { return getc(file); }
int sum_of(FILE *file)
{
    int sum = 0;
    for (int c = next(file); c != EOF; c = next(file))
        sum += c;
    return sum;
}
"""
TEST = """#include "lib.h"
int main(void) { return twice(2) != 4; }
"""
MAKEFILE = """test: check
\t./check
check: lib.o check.o
\t$(CC) -o $@ lib.o check.o
"""
DRIVER = """#include "lib.h"
int main(void)
{
    for (int count = 0; count < 12; count++) {
        FILE *file = tmpfile();
        for (int i = 0; i < count; i++)
            putc('a' + i, file);
        rewind(file);
        printf("%d\\n", sum_of(file));
        fclose(file);
    }
    return 0;
}
"""
WRONG = (
    (DRIVER.replace("sum_of(file)", "missing(file)"), "missing"),
    (DRIVER.replace("sum_of(file)", "0"), "the driver does not call the function"),
    (DRIVER.replace("return 0", "return 3"), "exit code 3"),
    (DRIVER.replace("int main(void)\n{", 'int main(void)\n{ if (getenv("HOME")) return 0;'), "must not use `getenv`"),
    ("int maine;", "no `main`"),
    (DRIVER.replace("return 0", "for (;;);"), "the driver fails"),
)


def is_about_driver(body: Body) -> bool:
    return "Write a driver" in task_of(body)


@pytest.fixture
def library(jarvis: Jarvis) -> Path:
    require("cc", "make", "cargo")
    return jarvis.tree("files", {"lib.h": HEADER, "lib.c": LIBRARY, "check.c": TEST, "Makefile": MAKEFILE})


def transpile(jarvis: Jarvis, library: Path, server: ModelServer, *more: object) -> str:
    """Run the command with the server as its model; return what it says."""
    group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
    write_settings(jarvis.place, {"models": {"m": group}})
    ended = jarvis.spawn("c2rust", "transpile", "-p", library, *COMMANDS, "--no-review", "-m", "0", *more)
    assert ended.code in (0, 3), ended.err
    return ended.out + ended.err


@pytest.mark.slow
def test_functions_that_no_test_reaches_are_compared_by_a_driver(jarvis: Jarvis, library: Path) -> None:
    def model(body: Body) -> Step:
        return calls("submit_report", driver=DRIVER) if is_about_driver(body) else perfect(body)

    with ModelServer(forever=model) as server:
        without = transpile(jarvis, library, server, "--no-drivers")
        before = {name: one["proof"] for name, one in functions(jarvis).items()}
        asked = len(server.requests)
        transpile(jarvis, library, server)
        after = {name: (one["state"], one["proof"]) for name, one in functions(jarvis).items()}
        assert sum(map(is_about_driver, server.requests[asked:])) == 2
        assert not any(map(is_about_driver, server.requests[:asked]))

    assert before["sum_of"] == before["next"] == "built"
    assert "sum_of" in without
    assert after["sum_of"][0] in ("mechanical", "translated")
    assert ["reached", True, "a driver of the model calls it"] in functions(jarvis)["sum_of"]["gates"]
    assert {after["sum_of"][1], after["next"][1]} <= {"reached", "compared"}


@pytest.mark.slow
def test_a_driver_that_proves_nothing_is_refused_with_the_reason(jarvis: Jarvis, library: Path) -> None:
    problems: list[str] = []
    wrong = iter(WRONG)

    def model(body: Body) -> Step:
        if not is_about_driver(body):
            return perfect(body)
        if answers(body):
            problems.append(body["messages"][-1]["content"])
        return calls("submit_report", driver=next(wrong)[0])

    with ModelServer(forever=model) as server:
        transpile(jarvis, library, server, "-j", "1")
        asked = [body for body in server.requests if is_about_driver(body)]

    assert len(asked) == len(WRONG), "three answers for each of two functions"
    assert not HEAD.search(task_of(asked[0]))
    expected = [text for _, text in WRONG]
    assert sum(any(text in one for text in expected) for one in problems) == len(problems) == 4, "\n".join(problems)
    assert {name: one["state"] for name, one in functions(jarvis).items() if one["proof"] == "built"} == {
        "next": "forwarded",
        "sum_of": "forwarded",
    }
