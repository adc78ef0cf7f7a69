"""Bodies of a model call other functions by their Rust signatures; build, tests, gates and crate are real."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import answers, task_of
from tests.cli.commands import Jarvis
from tests.cli.test_c2rust_transpile import MAKEFILE, functions, head_of, transpile
from tests.support.servers import require

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


C_SUM = "{ let numbers = [a, b]; // SAFETY: it reads two numbers.\n unsafe { sum(numbers.as_ptr(), 2) / 2 } }"
RAW_SUM = """{
    let mut all: i32 = 0;
    for at in 0..count {
        // SAFETY: the caller passes `count` numbers.
        all = all.wrapping_add(unsafe { *numbers.offset(at as isize) });
    }
    all
}"""


def changing(body: Body) -> Step:
    """Ask for a raw pointer in `sum`, which breaks its caller `mean`, and for the impossible in `largest`."""
    (name, head), task = head_of(body), task_of(body)
    wish: dict[str, object] | None = None
    text = BODIES.get(name, "{ nonsense }")
    if name in ("sum", "largest"):
        kind = "raw" if name == "sum" else "cstr"
        wish = {"parameters": [{"name": "numbers", "kind": kind, "length": None}], "reason": "it may\nbe null"}
    if name == "sum" and "*const" in head:
        text, wish = RAW_SUM, None
    if name == "mean" and "which was refused" in task:
        assert "rust_sum(&[a, b])" in task and "E0425" in task
        text = C_SUM
    return calls("submit_report", rust=f"{head} {text}", change_signature=wish)


@pytest.mark.slow
def test_a_signature_changes_on_request_and_broken_callers_are_translated_again(jarvis: Jarvis, library: Path) -> None:
    with ModelServer(forever=changing) as server:
        ended = transpile(jarvis, library, server, "-m", 1, "--no-review")
        asked = Counter(head_of(body)[0] for body in server.requests)
        again = transpile(jarvis, library, server, "-m", 1, "--no-review", "-o", library.with_name("again"))
        assert sum(asked.values()) == len(server.requests), "the second run asks nothing"

    assert (ended.code, again.code) == (0, 0), ended.err
    assert asked == {"sum": 2, "mean": 2, "largest": 2, "spread": 1}
    assert "the signature of sum is changed; the model asked for it: it may be null" in ended.out
    assert "the signature of largest is not changed: numbers cannot be cstr; possible: raw, ref, slice" in ended.out
    found = functions(jarvis)
    assert [found[name]["state"] for name in ("sum", "mean", "spread")] == ["translated"] * 3
    assert found["sum"]["rust_signature"] == "unsafe fn rust_sum(numbers: *const i32, count: i32) -> i32"
    crate = library.with_name("small_rs")
    text = (crate / "src" / "lib_c.rs").read_text()
    assert "sum(numbers.as_ptr(), 2) / 2" in text
    assert (library.with_name("again") / "src" / "lib_c.rs").read_text() == text
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    assert subprocess.run([crate / "target" / "debug" / "check"], check=False).returncode == 0


@pytest.mark.slow
def test_a_caller_that_cannot_be_translated_again_steps_down(jarvis: Jarvis, library: Path) -> None:
    """`mean` had both of its answers; `spread`, which calls it, still does so, by its wrapper."""

    def slow(body: Body) -> Step:
        if head_of(body)[0] == "mean" and not answers(body):
            return calls("submit_report", rust=f"{head_of(body)[1]} {{ nonsense }}")
        return changing(body)

    with ModelServer(forever=slow) as server:
        ended = transpile(jarvis, library, server, "-m", 1, "--no-review")

    assert ended.code == 0, ended.err
    found = functions(jarvis)
    assert [found[name]["state"] for name in ("sum", "mean", "spread")] == ["translated", "mechanical", "translated"]
    assert found["mean"]["not_translated"] == "a signature changed, and no answer was left"
    crate = library.with_name("small_rs")
    assert "pub fn rust_mean(a: i32, b: i32)" in (crate / "src" / "c.rs").read_text()
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    assert subprocess.run([crate / "target" / "debug" / "check"], check=False).returncode == 0
