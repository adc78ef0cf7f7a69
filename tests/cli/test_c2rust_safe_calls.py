"""Bodies of a model call other functions by their Rust signatures; build, tests, gates and crate are real."""

import subprocess
from pathlib import Path

import pytest

from tests.agents.server import Body, ModelServer, Step, calls
from tests.agents.translating import task_of
from tests.cli.commands import Jarvis
from tests.cli.test_c2rust_transpile import MAKEFILE, functions, head_of, transpile
from tests.servers import require

HEADER = """int sum(const int *numbers, int count);
int mean(int a, int b);
int largest(const int *numbers, int count);
int spread(int a, int b);
"""
LIBRARY = """#include "lib.h"
int sum(const int *numbers, int count)
{
    int all = 0;
    for (int i = 0; i < count; i++)
        all += numbers[i];
    return all;
}
int mean(int a, int b)
{
    int numbers[] = { a, b };
    return sum(numbers, 2) / 2;
}
int largest(const int *numbers, int count)
{
    int found = -1000;
    for (int i = 0; i < count; i++)
        if (numbers[i] > found)
            found = numbers[i];
    return found;
}
int spread(int a, int b)
{
    int numbers[] = { a, b };
    return largest(numbers, 2) - mean(a, b);
}
"""
TEST = """#include "lib.h"
int main(void)
{
    int numbers[] = { 1, 2, 3, 10 };
    return !(mean(4, 6) == 5 && mean(-1, 0) == 0 && spread(4, 6) == 1 && sum(numbers, 4) == 16);
}
"""
FILES: dict[str, str | bytes] = {"lib.h": HEADER, "lib.c": LIBRARY, "check.c": TEST, "Makefile": MAKEFILE}
BODIES = {
    "sum": "{ numbers.iter().fold(0, |all: i32, one| all.wrapping_add(*one)) }",
    "mean": "{ rust_sum(&[a, b]) / 2 }",
    "spread": "{ rust_largest(&[a, b]).wrapping_sub(rust_mean(a, b)) }",
}


def model(body: Body) -> Step:
    """Answer with safe bodies, but for `largest` with one that does not compile."""
    name, head = head_of(body)
    return calls("submit_report", rust=f"{head} {BODIES.get(name, '{ nonsense }')}")


@pytest.fixture
def library(jarvis: Jarvis) -> Path:
    require("cc", "make", "cargo")
    return jarvis.tree("small", FILES)


@pytest.mark.slow
def test_bodies_call_functions_by_their_rust_signatures(jarvis: Jarvis, library: Path) -> None:
    """Translated functions are called directly in the crate; `largest` is mechanical, and has a wrapper."""
    with ModelServer(forever=model) as server:
        ended = transpile(jarvis, library, server, "-m", 0, "--no-review")
        tasks = {head_of(body)[0]: task_of(body) for body in server.requests}

    assert ended.code == 0, ended.err
    assert "fn rust_sum(numbers: &[i32]) -> i32;" in tasks["mean"]
    assert "without `unsafe`" not in tasks["sum"], "it calls nothing"
    assert {name: one["state"] for name, one in functions(jarvis).items()} == {
        "sum": "translated",
        "mean": "translated",
        "largest": "mechanical",
        "spread": "translated",
        "main": "mechanical",
    }
    crate = library.with_name("small_rs")
    text, declared = ((crate / "src" / name).read_text() for name in ("lib_c.rs", "c.rs"))
    assert "\npub(crate) fn rust_sum(numbers: &[i32]) -> i32 {" in text
    assert "\npub(crate) fn rust_mean(" in text
    assert "\nfn rust_spread(" in text
    assert "pub fn rust_largest(numbers: &[i32]) -> i32 {" in declared
    assert "fn rust_mean" not in declared
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    assert subprocess.run([crate / "target" / "debug" / "check"], check=False).returncode == 0
    (crate / "src" / "lib_c.rs").write_text(text.replace("rust_sum(&[a, b])", "rust_sum(&[b, a])"))
    checked = jarvis.spawn("c2rust", "check", "--crate-dir", crate)
    assert checked.code == 0, checked.err + checked.out
    assert "mean: passes (form, signature, check" in checked.out, checked.out
