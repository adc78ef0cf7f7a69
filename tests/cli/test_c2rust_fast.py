"""`jarvis c2rust fast` on a small library: build, tests, gates and crate are real."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.toolchain.cargo import find_rust
from tests.cli.commands import Jarvis
from tests.support.landlocked import refuse_sandboxes
from tests.support.servers import require

HEADER = """struct pair { int first; unsigned char rest[3]; };
int add(int a, int b);
int sum(const struct pair *p);
const char *name_of(int number);
struct unknown;
int never_called(const struct unknown *p, int a);
int doubled(int a);
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
int never_called(const struct unknown *p, int a) { return p ? a : 0; }
int doubled(int a) { return (int)(a * 2u); }
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
    require("cc", "make", "cargo")
    return jarvis.tree("small", FILES)


@pytest.mark.slow
def test_a_library_becomes_a_crate(jarvis: Jarvis, library: Path) -> None:
    (library / "nested.c").write_text("int nested(int a) { int in(int b) { return a + b; } return in(2); }\n")
    (library / "Makefile").write_text(MAKEFILE.replace("lib.o check.o", "lib.o check.o nested.o"))
    loaded = "static int ready; __attribute__((constructor)) static void prepare(void) { ready = 1; }\nint main(void)"
    text = TEST.replace("return !(", "int nested(int);\n    return !(nested(1) == 3 && ready && ")
    (library / "check.c").write_text(text.replace("int main(void)", loaded))
    ended = jarvis.spawn("c2rust", "fast", "-p", library, "--build", "make check", "--test", "make test")

    assert ended.code == 3, ended.err
    assert "is incomplete: 8 of 11 functions in Rust" in ended.err
    assert "8 of 11 functions in Rust" in ended.out
    assert "the tests run 20 of 21 lines of the functions in Rust" in ended.out
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
        "doubled": ("mechanical", "compared"),
        "prepare": ("forwarded", "compared"),
        "never_called": ("forwarded", "built"),
        "variadic": ("forwarded", "none"),
    }
    report = json.loads(jarvis("runs", "report", "last", "--format", "json").out)
    assert (report["run"]["state"], report["conversion"]["failures"]) == ("incomplete", [])
    assert "1 function is unproven and stays in C" in jarvis("runs", "show", "last").out
    crate = library.with_name("small_rs")
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    built = crate / "target" / "debug" / "libsmall_rs.a"
    symbols = subprocess.run(["nm", built], capture_output=True, text=True, check=True).stdout
    assert all(f" T {name}\n" in symbols for name in ("add", "sum", "name_of", "variadic", "never_called"))
    assert subprocess.run([crate / "target" / "debug" / "check"], check=False).returncode == 0
    assert "C interface: 8 symbols" in ended.out
    assert "tests with the crate: make test: 1 of 1 programs come from the crate" in ended.out
    assert "NOT CHECKED: translation units that could not be read: 1" in ended.out
    assert (crate / "c" / "nested.c").read_bytes() == (library / "nested.c").read_bytes()
    golden = subprocess.run(
        ["cargo", "test", "--quiet", "--offline"], cwd=crate, check=True, capture_output=True, text=True
    )
    assert "3 passed; 0 failed" in golden.stdout
    text = (crate / "c" / "lib.c").read_text()
    assert "static int count(int by) { extern __typeof__(count) lib__count; return lib__count(by); }" in text


@pytest.mark.slow
def test_edits_of_a_crate_pass_the_gates_or_are_refused_by_name(jarvis: Jarvis, library: Path) -> None:
    assert jarvis("c2rust", "check", "-p", library).line.endswith(
        "small_rs: not a crate of jarvis c2rust fast; give its directory with --crate-dir"
    )
    jarvis.spawn("c2rust", "fast", "-q", "-p", library, "--build", "make check", "--test", "make test")
    file = library.with_name("small_rs") / "src" / "lib_c.rs"
    text = file.read_text()
    assert jarvis("c2rust", "check", "-p", library).out.startswith("8 functions unchanged since run ")

    file.write_text(text.replace("let mut all: i32 = (*p).first;", "let mut all = { (*p).first };"))
    good = jarvis("c2rust", "check", "-p", library)
    file.write_text(text.replace("let mut all: i32 = (*p).first;", "let mut all: i32 = (*p).first + 1;"))
    wrong = jarvis("c2rust", "check", "--crate-dir", file.parents[1])
    file.write_text(text.replace("let mut all: i32 = (*p).first;", "let mut all: i32 = true;"))
    broken = jarvis("c2rust", "check", "--crate-dir", file.parents[1])
    file.write_text(
        text.replace("let mut all: i32 = (*p).first;", "let mut all: i32 = (*p).first; if [all].len() == 0 {}")
    )
    warned = jarvis("c2rust", "check", "--crate-dir", file.parents[1])
    file.write_text(text)
    (file.parent / "types.rs").write_text("")
    elsewhere = jarvis("c2rust", "check", "--crate-dir", file.parents[1])

    assert (good.code, wrong.code, broken.code, elsewhere.code) == (0, 1, 1, 3), good.out
    assert re.search(
        r"sum: passes \(form, signature, check, inputs, reached, suite, shadow\), \d+ calls compared with C", good.out
    )
    assert "sum: REFUSED by inputs: result: C " in wrong.out
    assert re.search(r"(src/lib_c.rs:\d+): sum: REFUSED by check: src/lib_c.rs:\d+: E0308 mismatched types", broken.out)
    if shutil.which("cargo-clippy"):
        assert warned.code == 1
        assert re.search(r"clippy: \d new warnings, such as src/lib_c.rs:\d+: ", warned.out)
    else:
        assert "clippy: not run: cargo-clippy is not installed" in warned.out
    assert "NOT CHECKED: src/types.rs: edited; the gates check functions only" in elsewhere.out


@pytest.mark.parametrize("version", [None, "rustc 1.63.0"])
def test_a_conversion_needs_a_recent_cargo(
    jarvis: Jarvis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None
) -> None:
    for name in ("rustc", "cargo") if version else ():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\n[ "$1" = --print ] && echo {tmp_path} || echo {version}\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    find_rust.cache_clear()
    ended = jarvis("c2rust", "fast", "-p", tmp_path, "--build", "make")
    find_rust.cache_clear()

    assert ended.code == 2
    assert "1.63 is too old" in ended.line if version else "rustc is not installed" in ended.line
    assert "install Rust 1.77 or newer: https://rustup.rs" in ended.line


@pytest.mark.slow
def test_without_a_sandbox_a_project_is_read_and_not_built(jarvis: Jarvis, library: Path) -> None:
    scanned = jarvis.spawn("c2rust", "scan", "-p", library, preexec_fn=refuse_sandboxes)
    built = jarvis.spawn("c2rust", "fast", "-p", library, "--build", "make check", preexec_fn=refuse_sandboxes)

    assert (scanned.code, built.code) == (0, 2), scanned.err
    assert built.line.startswith("jarvis: projects are built and tested only in the sandbox: no command is run in tier")
    assert not (jarvis.place.parent / "data" / "builds").exists()


def test_tests_need_a_build(jarvis: Jarvis, tmp_path: Path) -> None:
    assert jarvis("c2rust", "fast", "-p", tmp_path, "--test", "make test").line == (
        "jarvis: --test requires --build, the command that builds the programs under test"
    )


@pytest.mark.parametrize(
    ("test", "problem"),
    [(" ", "--test: give a command, such as --test make"), ("./t 'x", "--test: no closing quotation: ./t 'x")],
)
def test_a_test_command_that_is_not_a_command_is_refused(
    jarvis: Jarvis, tmp_path: Path, test: str, problem: str
) -> None:
    ended = jarvis("c2rust", "fast", "-p", tmp_path, "--build", "make", "--test", test)

    assert (ended.code, ended.line) == (2, f"jarvis: {problem}")


def test_the_crate_replaces_no_directory_of_another_kind(jarvis: Jarvis, tmp_path: Path) -> None:
    require("cargo")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "text").write_text("mine")
    ended = jarvis("c2rust", "fast", "-p", tmp_path, "--build", "make", "-o", tmp_path / "notes")

    assert ended.line.endswith("notes: not written by jarvis c2rust; choose an empty directory with -o")


@pytest.mark.slow
def test_programs_that_link_different_files_of_one_symbol_are_left_out_by_name(jarvis: Jarvis, library: Path) -> None:
    use = "int add(int, int);\nint name(void);\nint main(void) {{ return add({0}, -{0}) != name(); }}\n"
    for file, text in {"p1.c": use.format(1), "p2.c": use.format(2), "n1.c": "int name(void) { return 0; }\n"}.items():
        (library / file).write_text(text)
    (library / "n2.c").write_text("int name(void) { return 1 - 1; }\n")
    rules = "all: check p1 p2\np1: p1.o n1.o lib.o\n\t$(CC) -o $@ $^ -lm\np2: p2.o n2.o lib.o\n\t$(CC) -o $@ $^ -lm\n"
    (library / "Makefile").write_text(rules + MAKEFILE)
    ended = jarvis.spawn("c2rust", "fast", "-p", library, "--build", "make all", "--test", "make test")

    assert ended.code == 3, ended.err
    for name in ("p1", "p2"):
        assert f"warning: the crate has no program {name}: linking with" in ended.out
    assert re.search(r"undefined (reference to|symbol:) .?name", ended.out)
    assert "tests with the crate: make test: 1 of 3 programs come from the crate" in ended.out
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=library.with_name("small_rs"), check=True)


@pytest.mark.slow
def test_unchanged_sources_are_not_tested_again(jarvis: Jarvis, library: Path) -> None:
    def convert(*options: str) -> tuple[int, str, list[int]]:
        command = ("c2rust", "fast", "-q", "-p", library, "--build", "make check", "--test", "make test", *options)
        ended = jarvis.spawn(*command)
        run = json.loads(jarvis("runs", "report", "last", "--format", "json").out)["run"]
        cached = [run["stages"][stage]["cached"] for stage in ("skeleton", "check", "merge")]
        return ended.code, (library / ".jarvis" / "c2rust" / "symbol_map.jsonl").read_text(), cached

    first, second, fresh = convert(), convert(), convert("--no-cache")
    proof = convert("--proof", "built")
    (library / "check.c").write_text(TEST.replace("sum(&p)", "sum(&p) + 1 - 1"))
    changed = convert()

    assert (first[2], second[2], fresh[2]) == ([0, 0, 0], [1, 2, 1], [0, 0, 0])
    assert first[:2] == second[:2] == fresh[:2]
    assert proof[2] == [1, 2, 0]
    assert changed[2] == [0, 0, 0]


VARIANTS = {
    "f.h": "#ifdef UNIT\n#define STATIC\nint twice(int);\n#else\n#define STATIC static\n#endif\nint quad(int);\n",
    "f.c": """#include "f.h"
STATIC int twice(int a) { return a * 2; }
int quad(int a) { return twice(twice(a)); }
""",
    "demo.c": '#include "f.h"\nint main(void) { return quad(3) != 12; }\n',
    "t.c": '#include "f.h"\nint main(void) { return twice(4) + quad(2) != 16; }\n',
    "Makefile": "demo: demo.c f.c\n\t$(CC) -o $@ demo.c f.c\ntests: t.c f.c\n\t$(CC) -DUNIT -o t t.c f.c && ./t\n",
}


@pytest.mark.slow
def test_a_file_that_its_test_compiles_with_other_macros_is_converted_once(jarvis: Jarvis) -> None:
    require("cc", "make", "cargo")
    tree = jarvis.tree("variants", VARIANTS)
    ended = jarvis.spawn("c2rust", "fast", "-p", tree, "--build", "make", "--test", "make tests", "--test", "./demo")

    assert ended.code == 0, ended.err
    assert "4 of 4 functions in Rust" in ended.out
    assert "make tests: passes with Rust" in ended.out and "./demo: passes with Rust" in ended.out


@pytest.mark.slow
def test_a_function_of_which_a_test_compiles_another_variant_is_not_called_different(jarvis: Jarvis) -> None:
    require("cc", "make", "cargo")
    text = (
        "int clamp(int v)\n{\n#ifdef STRICT\n    if (v < 0)\n        return -1;\n#endif\n    return v > 9 ? 9 : v;\n}\n"
    )
    check = "int clamp(int);\nint main(void) {{ return clamp(-5) != {} || clamp(20) != 9; }}\n"
    make = "plain: f.c p.c\n\t$(CC) -o $@ f.c p.c\ncheck: f.c s.c\n\t$(CC) -DSTRICT -o s f.c s.c && ./s\n"
    files = {"f.c": text, "p.c": check.format(-5), "s.c": check.format(-1), "Makefile": make}
    tree = jarvis.tree("strict", files)
    ended = jarvis.spawn("c2rust", "fast", "-p", tree, "--build", "make", "--test", "./plain", "--test", "make check")

    assert "f.c:1: clamp: compiled in several variants, which differ by macros" in ended.out
    assert "behaves differently" not in ended.out
    assert "2 of 3 functions in Rust" in ended.out
