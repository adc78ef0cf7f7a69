"""`jarvis c2rust fast` on a small library: build, tests, gates and crate are real."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import Jarvis
from tests.servers import missing

HEADER = """struct pair { int first; unsigned char rest[3]; };
int add(int a, int b);
int sum(const struct pair *p);
const char *name_of(int number);
int never_called(int a);
int variadic(int count, ...);
int is_remainder(double (*f)(double, double));
const char *where(void);
static int seen;
"""
LIBRARY = """#include <math.h>
#include <stdarg.h>
#include "lib.h"
static int calls;
static const char *const names[] = { "zero", "one" };
static int count(int by) { static int total = 3; calls++; total += by; return total; }
int add(int a, int b) { return count(a) + b - 3; }
int sum(const struct pair *p)
{
    int all = p->first;
    for (int i = 0; i < 3; i++)
        all += p->rest[i];
    return all;
}
const char *name_of(int number)
{
    switch (number) {
    case 0:
    case 1:
        return names[number];
    default:
        return "many";
    }
}
int never_called(int a) { return a * 2; }
int is_remainder(double (*f)(double, double)) { return f == fmod; }
const char *where(void) { return __FILE__; }
int variadic(int n, ...) { va_list list; va_start(list, n); int v = va_arg(list, int); va_end(list); return n + v; }
"""
TEST = """#include <math.h>
#include <stdio.h>
#include <string.h>
#include "lib.h"
int main(void)
{
    struct pair p = { 1, { 2, 3, 250 } };
    seen += is_remainder(fmod) && !strcmp(where(), "lib.c");
    return !(add(1, 2) == 3 && sum(&p) == 256 && !strcmp(name_of(1), "one") && !strcmp(name_of(7), "many")
             && variadic(1, 2) == 3 && seen == 1);
}
"""
MAKEFILE = """test: check
\t./check
check: lib.o check.o
\t$(CC) -o $@ lib.o check.o -lm
"""


FILES: dict[str, str | bytes] = {"lib.h": HEADER, "lib.c": LIBRARY, "check.c": TEST, "Makefile": MAKEFILE}


@pytest.fixture
def library(jarvis: Jarvis) -> Path:
    for program in ("cc", "make", "cargo"):
        if shutil.which(program) is None:
            missing(program)
    return jarvis.tree("small", FILES)


@pytest.mark.slow
def test_a_library_becomes_a_crate(jarvis: Jarvis, library: Path) -> None:
    ended = jarvis.spawn("c2rust", "fast", "-p", library, "--build", "make check", "--test", "make test")

    assert ended.code == 3, ended.err
    assert "7 of 9 functions in Rust" in ended.out
    lines = (library / ".jarvis" / "c2rust" / "symbol_map.jsonl").read_text().splitlines()
    states = {one["c_name"]: (one["state"], one["proof"]) for one in map(json.loads, lines)}
    assert states == {
        "main": ("mechanical", "reached"),
        "add": ("mechanical", "compared"),
        "count": ("mechanical", "compared"),
        "sum": ("mechanical", "compared"),
        "name_of": ("mechanical", "compared"),
        "is_remainder": ("mechanical", "compared"),
        "where": ("mechanical", "compared"),
        "never_called": ("forwarded", "built"),
        "variadic": ("forwarded", "none"),
    }
    crate = library.with_name("small_rs")
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    built = crate / "target" / "debug" / "libsmall_rs.a"
    symbols = subprocess.run(["nm", built], capture_output=True, text=True, check=True).stdout
    assert all(f" T {name}\n" in symbols for name in ("add", "sum", "name_of", "variadic", "never_called"))
    text = (crate / "c" / "lib.c").read_text()
    assert "static int count(int by) { extern __typeof__(count) lib__count; return lib__count(by); }" in text


@pytest.mark.slow
def test_tests_that_fail_in_c_end_the_run(jarvis: Jarvis, library: Path) -> None:
    ended = jarvis.spawn("c2rust", "fast", "-p", library, "--build", "make check", "--test", "false")

    assert ended.code not in (0, 3)
    assert "--test false: fails before anything is translated: exit code 1" in ended.err


def test_tests_need_a_build(jarvis: Jarvis, tmp_path: Path) -> None:
    assert jarvis("c2rust", "fast", "-p", tmp_path, "--test", "make test").line == (
        "jarvis: --test needs --build: the command that builds the programs with which the tests run"
    )


def test_the_crate_replaces_no_directory_of_another_kind(jarvis: Jarvis, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "text").write_text("mine")
    ended = jarvis("c2rust", "fast", "-p", tmp_path, "--build", "make", "-o", tmp_path / "notes")

    assert ended.line.endswith("notes: not written by jarvis c2rust; choose an empty directory by -o")
