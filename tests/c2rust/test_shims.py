"""Functions with Rust parameters: C calls them through shims, and forwarders call C."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.bench.project_bench import ProjectBuild, open_bench
from jarvis_workers.c2rust.crate import bench_crate
from jarvis_workers.c2rust.project import plan_enums
from jarvis_workers.c2rust.shims import CONVERSIONS, forward_project, forwarder_names
from jarvis_workers.c2rust.signatures import RESULT, ParameterMapping, propose_mappings, propose_signatures
from jarvis_workers.c2rust.stages import signature_choice
from jarvis_workers.c2rust.stages.signature_choice import choose_signatures
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.c2rust.translation import translate_project
from jarvis_workers.sandbox.limits import BenchLimits
from tests.c2rust.deliveries import refusals, translated
from tests.support.servers import missing, require

SOURCE = """
#include <stdio.h>
#include <string.h>
struct point { int x, y; };
static int norm(const struct point *p) { return p->x * p->x + p->y * p->y; }
void turn(struct point *p) { int x = p->x; p->x = -p->y; p->y = x; }
int sum(const int *numbers, unsigned count)
{
    int all = 0;
    for (unsigned at = 0; at < count; at++)
        all += numbers[at];
    return all;
}
void fill(char *text, size_t size) { memset(text, 'a', size); }
size_t size_of(const char *text) { return text == NULL ? 0 : strlen(text); }
void give(int *result) { *result = 7; }
int either(struct point *p) { return p ? p->x : -1; }
int apply(int (*f)(int), int type) { return f(type); }
int twice(int n) { return 2 * n; }
int (*chosen(void))(int) { return twice; }
int main(void)
{
    struct point p = { 3, 4 };
    int numbers[] = { 1, 2, 3 }, given;
    char text[4] = "";
    turn(&p), fill(text, 3), give(&given);
    printf("%d %d %d %d %s", norm(&p), p.x, sum(numbers, 3), sum(numbers, 0), text);
    printf(" %d %d %d", (int)size_of("four"), (int)size_of(NULL), given);
    return printf(" %d %d %d\\n", either(&p), either(NULL), apply(chosen(), 4)) < 0;
}
"""
OUTPUT = "25 -4 6 0 aaa 4 0 7 -4 -1 8"
SIGNATURES = {
    "a__norm": "forward_norm(p: &point) -> i32",
    "turn": "forward_turn(p: &mut point)",
    "sum": "forward_sum(numbers: &[i32]) -> i32",
    "fill": "forward_fill(text: &mut [i8])",
    "size_of": "forward_size_of(text: Option<&core::ffi::CStr>) -> u64",
    "give": "forward_give(result: &mut core::mem::MaybeUninit<i32>)",
    "either": "forward_either(p: Option<&mut point>) -> i32",
    "apply": 'forward_apply(f: Option<unsafe extern "C" fn(i32) -> i32>, r#type: i32) -> i32',
    "chosen": 'forward_chosen() -> Option<unsafe extern "C" fn(i32) -> i32>',
}


NEGATIVE = """
int filled(int *numbers, int count)
{
    for (int at = 0; at < count; at++)
        numbers[at] = at;
    return count;
}
int main(void) { int numbers[2]; return filled(numbers, 2) - 2 || filled(numbers, -1) + 1; }
"""


def test_names_of_forwarders_are_unique_in_the_crate(tmp_path: Path) -> None:
    source = "int forward_sum(int n) { return n; }\nint sum(int original) { return forward_sum(original); }\n"
    project = translated(tmp_path, {"a.c": source})

    forwarded = forward_project(project, propose_mappings(project.project.units)).functions

    assert [one.signature for one in forwarded] == [
        "fn forward_forward_sum(n: i32) -> i32",
        "fn forward_sum_(a0: i32) -> i32",
    ]
    assert forwarded[1].body is not None
    assert "    original(a0)\n" in forwarded[1].body.text


def test_functions_that_cannot_be_forwarded_have_a_reason(tmp_path: Path) -> None:
    source = "int first(int n, ...) { return n; }\nlong double wide(long double x) { return x; }\n"
    project = translated(tmp_path, {"a.c": source})

    forwarded = forward_project(project, propose_mappings(project.project.units))

    assert refusals(forwarded) == {
        "first": "variadic: Rust cannot forward its arguments",
        "wide": "a type of its signature has no counterpart in Rust",
    }


def test_a_forwarder_does_not_get_the_name_of_another_one() -> None:
    assert forwarder_names(["sum", "forward_sum", "sum_", "r#type"]) == {
        "forward_sum": "forward_forward_sum",
        "r#type": "forward_type",
        "sum": "forward_sum_",
        "sum_": "forward_sum__",
    }


@pytest.mark.slow
def test_signatures_with_which_the_tests_fail_are_raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("cargo") is None:
        missing("cargo")
    source = tmp_path / "source"
    source.mkdir()
    project = translated(source, {"a.c": NEGATIVE})
    mappings = propose_mappings(project.project.units)
    assert [one.kind for one in mappings["c:@F@filled"]] == ["raw", "value"]
    wrong = {"c:@F@filled": (ParameterMapping("numbers", "mut_slice", length=1), ParameterMapping("count", "value"))}
    build = ProjectBuild(pack_project(source, 10), BuildCommands(build="cc -O2 -o program a.c"))
    with open_bench(tmp_path / "data", build, BenchLimits(300, 60, 2048, 1024)) as bench:
        chosen = choose_signatures(project, mappings | wrong, bench, BenchSuites(bench, ["./program"]))
        assert [one.form for one in chosen.functions[0].mappings] == ["raw", "value"]
        assert chosen.functions[0].signature == "fn forward_filled(numbers: *mut i32, count: i32) -> i32"
        assert choose_signatures(project, wrong, bench, BenchSuites(bench, [])).functions[0].mappings[0].length == 1
        planned = choose_signatures(project, mappings, bench, BenchSuites(bench, ["./program"]), wrong)
        assert planned.functions[0].signature == chosen.functions[0].signature
        monkeypatch.setattr(signature_choice, "MOST_SIGNATURES", 1)
        again = choose_signatures(project, mappings | wrong, bench, BenchSuites(bench, ["./program"]))
        assert again.functions[0].signature == chosen.functions[0].signature


NUMBERS = """
enum color { RED, GREEN, LIME = 1, DARK = -3 };
typedef enum { READ = 1, WRITE = 2 } mode;
static enum color next(enum color c)
{
    switch (c) { case RED: return GREEN; case GREEN: return DARK; default: return RED; }
}
int number(enum color c) { return c; }
mode both(mode a, mode b) { return a | b; }
int status(int value) { if (value > 2) return -7; return value ? -2147483647 : 0; }
long bounded(long value) { return value > 9 ? -1 : value; }
char narrow(int value) { return value ? -128 : 0; }
int main(void)
{
    int failed = next(RED) != GREEN || next(GREEN) != DARK || next(99) != RED || next(-1) != RED;
    failed |= number(1) != 1 || number(-3) != -3 || number(2147483647) != 2147483647 || number(-99) != -99;
    failed |= both(1, 2) != 3 || both(0, 0xfffffff0u) != 0xfffffff0u;
    failed |= status(0) != 0 || status(3) != -7 || status(1) != -2147483647;
    failed |= bounded(0) || bounded(9) != 9 || bounded(10) != -1 || bounded(-5000000000) != -5000000000;
    return failed || narrow(1) != (char)-128 || narrow(0);
}
"""
NUMBER_SIGNATURES = {
    "a__next": "forward_next(c: Result<color, i32>) -> color",
    "number": "forward_number(c: Result<color, i32>) -> i32",
    "both": "forward_both(a: mode, b: mode) -> mode",
    "status": "forward_status(value: i32) -> Result<(), ErrorCode<i32>>",
    "bounded": "forward_bounded(value: i64) -> Result<i64, ErrorCode<i64>>",
    "narrow": "forward_narrow(value: i32) -> Result<(), ErrorCode<i8>>",
}


@pytest.mark.slow
def test_no_number_is_lost_through_errors_and_enums(tmp_path: Path) -> None:
    """Also not numbers that are no constants of an enum, and those at the ends of their types."""
    require("cc", "cargo")
    source = tmp_path / "source"
    source.mkdir()
    project = translated(source, {"a.c": NUMBERS}).project
    enums = plan_enums(project.units, {"color": "enum", "mode": "flags"})
    choices = propose_signatures(project.units, enums)
    mappings = {key: [one.proposal for one in found] for key, found in choices.items()}
    (bounded,) = (key for key in mappings if key.endswith("@bounded"))
    mappings[bounded][-1] = ParameterMapping(RESULT, "result")
    planned = translate_project(replace(project, enums=enums))
    build = ProjectBuild(pack_project(source, 10), BuildCommands(build="cc -O1 -o program a.c"))
    with open_bench(tmp_path / "data", build, BenchLimits(300, 60, 2048, 1024)) as bench:
        suites = BenchSuites(bench, ["./program"])
        assert suites.run().passed
        chosen = choose_signatures(planned, mappings, bench, suites)
    assert {one.item.slot: one.signature for one in chosen.functions if one.body} == {
        slot: f"fn {signature}" for slot, signature in NUMBER_SIGNATURES.items()
    }


FALSE_CLAIMS = """
#include <stddef.h>
int both(int *a, const int *b) { return *a + *b; }
int maybe(const int *p) { return p ? *p : 0; }
int words(const short *p, unsigned n) { int all = 0; for (unsigned i = 0; i < n; i++) all += p[i]; return all; }
int apart(int *a, const int *b) { return *a + *b; }
int bytes(const char *p) { return *p; }
int main(void)
{
    int numbers[] = { 1, 2 };
    short room[3] = { 0 };
    int odd = words((short *)((char *)room + 1), 2);
    return both(numbers, numbers) + maybe(NULL) + odd + apart(numbers, numbers + 1) - 5;
}
"""


@pytest.mark.slow
def test_arguments_that_contradict_a_signature_make_it_raw(tmp_path: Path) -> None:
    """C passes on what is claimed of NULL, of the same target twice and of an odd address, and the tests would pass."""
    require("cc", "cargo")
    source = tmp_path / "source"
    source.mkdir()
    project = translated(source, {"a.c": FALSE_CLAIMS})
    two = ParameterMapping("a", "mut_ref"), ParameterMapping("b", "ref")
    claims = {
        "c:@F@both": two,
        "c:@F@apart": two,
        "c:@F@maybe": (ParameterMapping("p", "ref"),),
        "c:@F@words": (ParameterMapping("p", "slice", length=1), ParameterMapping("n", "value")),
        "c:@F@bytes": (ParameterMapping("p", "cstr"),),
        "c:@F@main": (),
    }
    build = ProjectBuild(pack_project(source, 10), BuildCommands(build="cc -O0 -o program a.c"))
    with open_bench(tmp_path / "data", build, BenchLimits(300, 60, 2048, 1024)) as bench:
        found = choose_signatures(project, claims, bench, BenchSuites(bench, ["./program"]))
    assert {one.item.slot: [mapping.kind for mapping in one.mappings] for one in found.functions if one.body} == {
        "both": ["raw", "raw"],
        "maybe": ["raw"],
        "words": ["raw", "value"],
        "apart": ["mut_ref", "ref"],
        "bytes": ["cstr"],
    }
    assert "abort" not in "".join(one.crate_item().text for one in found.functions if one.body)


@pytest.mark.slow
def test_tests_pass_through_shims_and_forwarders(tmp_path: Path) -> None:
    require("cc", "cargo")
    source = tmp_path / "source"
    source.mkdir()
    project = translated(source, {"a.c": SOURCE})
    mappings = propose_mappings(project.project.units)
    functions = forward_project(project, mappings).functions
    shims = {one.item.slot: one.crate_item() for one in functions if one.body}

    for slot, signature in SIGNATURES.items():
        assert f"unsafe fn {signature} {{\n" in shims[slot].text
    assert "    // SAFETY: as in C, a0 has a1 elements; nothing changes it during the call.\n" in shims["sum"].text
    assert sum(mapping.form in CONVERSIONS for one in functions for mapping in one.mappings) == 7
    test = f"test \"$(./program)\" = '{OUTPUT}'"
    build = ProjectBuild(pack_project(source, 10), BuildCommands(build="cc -O2 -o program a.c"))
    with open_bench(tmp_path / "data", build, BenchLimits(300, 60, 2048, 1024)) as bench:
        symbols = [one.item.slot for one in project.items]
        declarations = project.declarations().values()
        bench.write_crate(bench_crate(project.types, declarations, list(shims.values()), symbols))
        built, messages = bench.build_library()
        assert built, messages
        suites = BenchSuites(bench, [test])
        assert suites.run(list(shims)).passed
        assert not suites.run(list(shims), trap=["sum"]).passed
