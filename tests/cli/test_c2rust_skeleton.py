"""`jarvis c2rust skeleton` on a small library: build, tests and crate are real."""

import json
import subprocess

import pytest

from tests.cli.commands import Jarvis
from tests.support.servers import require

LIBRARY = """#include <string.h>
#include "lib.h"
static int largest(const int *numbers, unsigned count)
{
    int found = 0;
    for (unsigned at = 0; at < count; at++)
        found = numbers[at] > found ? numbers[at] : found;
    return found;
}
int range(const int *numbers, unsigned count, struct range *result)
{
    result->last = largest(numbers, count);
    return result->last > 0;
}
unsigned long size_of(const char *text) { return strlen(text); }
char *rest(char *text) { return text + 1; }
int total(int count, ...) { return count; }
"""
FILES: dict[str, str | bytes] = {
    "lib.h": "struct range { int first, last; }; int range(const int *, unsigned, struct range *);\n"
    "unsigned long size_of(const char *); char *rest(char *); int total(int, ...);\n",
    "lib.c": LIBRARY,
    "check.c": '#include "lib.h"\nint main(void)\n{\n    int numbers[] = { 1, 5, 2 };\n    struct range r;\n'
    "    char text[] = {65, 66, 0};\n    return !(range(numbers, 3, &r) && r.last == 5 && size_of(text) == 2 && "
    "*rest(text) == 66 && total(1) == 1);\n}\n",
    "Makefile": "test: check\n\t./check\ncheck: lib.o check.o\n\t$(CC) -o $@ lib.o check.o\n",
}
SIGNATURES = {
    "largest": "fn forward_largest(numbers: &[i32]) -> i32",
    "range": "fn forward_range(numbers: &[i32], result: &mut range) -> i32",
    "size_of": "fn forward_size_of(text: &core::ffi::CStr) -> u64",
    "rest": "fn forward_rest(text: *mut i8) -> *mut i8",
}


@pytest.mark.slow
def test_functions_get_signatures_through_which_the_tests_pass(jarvis: Jarvis) -> None:
    require("cc", "make", "cargo")
    library = jarvis.tree("small", FILES)
    command = "c2rust", "skeleton", "-p", library, "--build", "make check", "--test", "make test"
    ended = jarvis.spawn(*command)

    assert ended.code == 0, ended.err
    assert "is done: 4 of 6 functions with Rust signatures; 4 of their 5 pointer parameters are" in ended.err
    assert "make test: 1 of 1 programs come from the crate" in ended.out
    lines = (library / ".jarvis" / "c2rust" / "signatures.jsonl").read_text().splitlines()
    found = {one["c_name"]: one for one in map(json.loads, lines)}
    assert {name: one["rust_signature"] for name, one in found.items() if one["rust_signature"]} == SIGNATURES
    assert found["range"]["mapping"] == [
        {"name": "numbers", "kind": "slice", "length": "count"},
        {"name": "count", "kind": "value"},
        {"name": "result", "kind": "mut_ref"},
    ]
    assert {one["proof"] for name, one in found.items() if name in SIGNATURES} == {"compared"}
    crate = library.with_name("small_skeleton")
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    subprocess.run([crate / "target" / "debug" / "check"], check=True)
    report = jarvis("runs", "report", "last", "--format", "markdown").out
    assert "`fn forward_largest(numbers: &[i32]) -> i32`" in report
    files = jarvis("runs", "export", "last", "-d", library / "exported").out
    assert "signatures.jsonl" in files
    assert (library / "exported" / "crate" / "src" / "lib.rs").read_bytes() == (crate / "src" / "lib.rs").read_bytes()
    edited = jarvis("c2rust", "check", "--crate-dir", crate)
    assert edited.code == 2
    assert "translated functions" in edited.err
    assert jarvis.spawn(*command).code == 0
