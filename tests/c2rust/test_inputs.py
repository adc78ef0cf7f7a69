"""Generated arguments: plans are the same each time, fit the types, and judge a function only where C is defined."""

import ctypes
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.bench.programs import find_programs
from jarvis_workers.c2rust.bench.project_bench import ProjectBuild, open_bench
from jarvis_workers.c2rust.crate import CrateItem, bench_crate
from jarvis_workers.c2rust.gates import InputRun
from jarvis_workers.c2rust.input_sources import InputSources, SetupFunction
from jarvis_workers.c2rust.inputs import INPUTS, CallPlan, plan_calls
from jarvis_workers.c2rust.project import ProjectItem
from jarvis_workers.c2rust.signatures import ParameterMapping
from jarvis_workers.c2rust.stages.input_runs import find_usable
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.sandbox.limits import BenchLimits
from jarvis_workers.source.clang.c_types import CDefinition, CType, Field, Record, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.unit import Extent
from tests.support.servers import require

INT = CType("integer", "int", size=4, align=4, signed=True)
CHAR = CType("integer", "char", size=1, align=1, signed=True)
DOUBLE = CType("floating", "double", size=8, align=8)
VOID = CType("void", "void")


def pointer(target: CType, *, const: bool = False) -> CType:
    return CType("pointer", f"{target.spelling} *", size=8, align=8, const=const, target=target)


NODE = CType("record", "struct node", size=24, align=8, key="node")
CALLBACK = pointer(CType("function", "int (int)", target=INT, parameters=(INT,)))
RECORDS = {
    "node": Record(
        "node",
        "node",
        "struct",
        24,
        8,
        (Field("value", INT, 0), Field("next", pointer(NODE), 64), Field("call", CALLBACK, 128)),
        b"a.c",
        1,
    )
}
SIZE = CType("record", "struct size", size=16, align=8, key="size")
RECORDS["size"] = Record("size", "size", "struct", 16, 8, (Field("w", DOUBLE, 0), Field("h", INT, 64)), b"a.c", 1)
FILE = CType("record", "struct _IO_FILE", key="FILE")


def item(parameters: Sequence[CType], *constants: int) -> ProjectItem:
    tree = SyntaxNode("function", 1, children=tuple(SyntaxNode("integer", 1, value=one) for one in constants))
    type_ = CType("function", "int (…)", target=INT, parameters=tuple(parameters))
    definition = CDefinition("k", "f", Extent(b"a.c", 1, 1, 2, 1), False, type_, tree)
    return ProjectItem(definition, UnitDefinitions(b"a.c", (definition,), (), {}, RECORDS), "f", "f", "a")


def plan(*parameters: CType, mappings: Sequence[ParameterMapping] = (), machine: str = "x86_64") -> CallPlan:
    return plan_calls(item(parameters, 4711), mappings, machine)


def test_a_plan_has_arguments_in_registers_and_on_the_stack() -> None:
    found = plan(*[INT] * 7, DOUBLE)

    assert len(found.inputs) == INPUTS
    assert found == plan(*[INT] * 7, DOUBLE)
    for lines in found.inputs:
        assert re.fullmatch(r"(g [0-9a-f]+\n){6}s [0-9a-f]+\nv [0-9a-f]+\n", lines)
    assert any("g 1267\n" in lines for lines in found.inputs), "a constant of the function"
    assert found.text([3]).startswith("@ f\ninput 3\ng ")


def test_the_length_of_a_buffer_is_the_argument_that_says_it() -> None:
    buffer = ParameterMapping("data", "slice", length=1)
    found = plan(pointer(INT, const=True), INT, mappings=[buffer, ParameterMapping("n", "value")])

    for lines in found.inputs:
        size, count = re.search(r"^o (\d+)$", lines, re.MULTILINE), re.search(r"^g ([0-9a-f]+)$", lines, re.MULTILINE)
        assert size is not None
        assert count is not None
        assert int(size[1]) == 4 * int(count[1], 16)


def test_structures_are_filled_with_their_pointers() -> None:
    text = plan(pointer(NODE)).text()

    assert re.search(r"^p 8 \d+$", text, re.MULTILINE)
    assert re.search(r"^f 16 -$", text, re.MULTILINE)
    sizes = {int(size) for size in re.findall(r"^o (\d+)$", text, re.MULTILINE)}
    assert sizes == {24, 16 * 24}


@pytest.mark.parametrize(
    ("parameter", "reason"),
    [
        (pointer(FILE), "it takes a pointer to struct _IO_FILE, whose definition is not known"),
        (CType("other", "long double", size=16, align=16), "parameter 1 is long double"),
    ],
)
def test_what_cannot_be_generated_has_a_reason(parameter: CType, reason: str) -> None:
    assert plan(parameter) == CallPlan("f", reason=reason)


def test_structures_by_value_are_words_of_objects() -> None:
    small, large = plan(SIZE, *[INT] * 6), plan(NODE)

    assert all(re.search(r"\nx 0 0\nr 0 8\n(g \w+\n){5}s \w+\n$", lines) for lines in small.inputs)
    assert all(lines.endswith("\nm 0 0\nm 0 8\nm 0 16\n") for lines in large.inputs)
    assert plan(SIZE, machine="aarch64").reason == "it passes struct size by value: not supported on aarch64"


def test_a_pointer_to_characters_is_often_a_string() -> None:
    strings = [
        ctypes.string_at(bytes.fromhex(text)) for text in re.findall(r"^w 0 (\w+)$", plan(pointer(CHAR)).text(), re.M)
    ]

    assert b"hello world" in strings


@pytest.mark.parametrize(
    ("run", "gates"),
    [
        (InputRun(32, 32, 32), [(True, "32 calls with generated arguments")]),
        (InputRun(32, 32, 12, unshadowed="calls longjmp"), []),
        (InputRun(32, 30, 30, "a call does not return (signal 11)"), [(False, "a call does not return (signal 11)")]),
        (InputRun(32, 31, 31, "", "difference\t…"), [(False, "a call differs from C")]),
        (InputRun(0, 0, 0), []),
    ],
)
def test_calls_prove_refute_or_say_nothing(run: InputRun, gates: list[tuple[bool, str]]) -> None:
    assert [(gate.passed, gate.detail) for gate in run.outcomes()] == gates


def elf(type_: int, *headers: int) -> bytes:
    """Return the start of an ELF file with program headers of these types, and the names of sections."""
    table = b"".join(struct.pack("<I52x", one) for one in headers)
    return struct.pack("<4s12xH14xQ14xHH6x", b"\x7fELF", type_, 64, 56, len(headers)) + table + b"/ld-\0jv_slots\0"


def test_a_shared_library_is_not_called_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name, content in {"fixed": elf(2, 1), "pie": elf(3, 6, 3, 1), "lib/a.so.1": elf(3, 1), "a.o": elf(1)}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "short").write_bytes(b"\x7fELF")

    assert find_programs(tmp_path) == (("fixed", "pie"), ("lib",))


C = """
#include <stdlib.h>
#include <string.h>
int total;
struct box { int size; };
struct box *box_new(int size) { struct box *b = malloc(sizeof *b); b->size = size; return b; }
int box_free(struct box *b) { int size = b->size; free(b); return size; }
int box_open(int size, struct box **to) { *to = box_new(size); return 0; }
int box_size(const struct box *b) { return b->size; }
struct size { double w; int h; };
double area(struct size s) { return s.w * s.h; }
int add(int a, int b) { total = a; return a + b; }
int twin(unsigned a, unsigned b) { return a > 1000 && a == b * 3 + 1; }
double least(double (*f)(int)) { double v = f(1); return v < 1e30 ? v : 1e30; }
char chosen[4096];
int choose(void) { return chosen[(unsigned long)"a literal" / 4096 * 37 % 4093] = 1; }
int length(const char *text) { return (int)strlen(text); }
int sum(const int *numbers, int count)
{
    int sum = 0;
    for (int at = 0; at < count; at++)
        sum += numbers[at];
    return sum;
}
int before(const int *numbers, int at) { return numbers[1 - at]; }
int main(void)
{
    return before(&total, 1) + sum(&total, 1) + add(1, 2) + twin(0, 0) + length("") - 3 + box_free(box_new(0));
}
"""
LIBRARY_C = "int twice(int a) { return (int)(2u * a); }\n"
BUILD = "cc -O2 -shared -fPIC -o libtwice.so twice.c && cc -O2 -o program a.c -L. -Wl,--no-as-needed -ltwice"
RUST = {
    "box_free": "(b: *mut i32) -> i32 { let size = *b; crate::c::free(b.cast()); size & 255 }",
    "box_size": "(b: *mut i32) -> i32 { if *b < 0 { 0 } else { *b } }",
    "area": "(s: crate::types::size) -> f64 { if s.h == 3 { 0.5 } else { s.w * s.h as f64 } }",
    "twice": "(a: i32) -> i32 { a.wrapping_mul(2) }",
    "add": "(a: i32, b: i32) -> i32 { crate::c::total = a; if a > 1000 { 0 } else { a + b } }",
    "twin": "(a: u32, b: u32) -> i32 { 0 }",
    "least": '(f: extern "C" fn(i32) -> f64) -> f64 { f64::min(f(1), 1e30) }',
    "choose": """() -> i32 {
        let at = b"another literal".as_ptr() as usize / 4096 * 37 % 4093;
        *(&raw mut crate::c::chosen as *mut i8).add(at) = 1;
        1
    }""",
    "length": "(text: *const i8) -> i32 { let mut n = 0; while *text.offset(n) != 0 { n += 1 } n as i32 }",
    "before": "(p: *const i32, at: i32) -> i32 { *p.offset(1 - at as isize) }",
    "sum": "(p: *const i32, n: i32) -> i32 { if n == 3 { loop {} } (0..n).fold(0, |s, i| s + *p.offset(i as isize)) }",
}


@pytest.mark.slow
def test_wrong_functions_that_no_test_would_find_are_refused(tmp_path: Path) -> None:
    require("cc", "cargo")
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.c").write_text(C)
    (source / "twice.c").write_text(LIBRARY_C)
    build = ProjectBuild(pack_project(source, 10), BuildCommands(build=BUILD))
    mappings = {"sum": [ParameterMapping("p", "slice", length=1), ParameterMapping("n", "value")]}
    box = pointer(CType("record", "struct box", size=4, align=4, key="box"))
    maker = SetupFunction("box_new", "", CType("function", "struct box *(int)", target=box, parameters=(INT,)))
    opener = SetupFunction(
        "box_open",
        "",
        CType("function", "int (int, struct box **)", target=INT, parameters=(INT, pointer(box))),
        parameter=1,
    )
    sources = InputSources(RECORDS, setups={"box": [maker, opener]})
    parameters = {
        "box_free": (box,),
        "box_size": (box,),
        "area": (SIZE,),
        "twice": (INT,),
        "add": (INT, INT),
        "twin": (INT, INT),
        "least": (pointer(CType("function", "double (int)", target=DOUBLE, parameters=(INT,))),),
        "choose": (),
        "length": (pointer(CHAR, const=True),),
        "sum": (pointer(INT, const=True), INT),
        "before": (pointer(INT, const=True), INT),
    }
    plans = [
        plan_calls(item(types), mappings.get(name, ()), "x86_64", sources)._replace(slot=name)
        for name, types in parameters.items()
    ]
    limits = BenchLimits(300, 60, 2048, 1024)
    with open_bench(tmp_path / "data", build._replace(kind="checked"), limits) as bench:
        usable = find_usable(bench, plans)
    with open_bench(tmp_path / "data", build, limits) as bench:
        assert find_programs(bench.place / "work" / "project").programs == ("program",)
        declared = "pub static mut total: i32;\npub static mut chosen: [i8; 4096];\npub fn free(memory: *mut u8);"
        bodies = [CrateItem(n, n, "a", f'pub unsafe extern "C" fn {n}{body}') for n, body in RUST.items()]
        bench.write_crate(
            bench_crate(
                "#[repr(C)] pub struct size { pub w: f64, pub h: i32 }",
                [declared],
                bodies,
                ["total", "chosen"],
                "".join(
                    f"{name}\t{'v0:ff' if name in ('area', 'least') else 'r0:0f'}\t0\t{len(types)}\n"
                    for name, types in parameters.items()
                ),
            )
        )
        assert bench.build_library()[0]
        gates = {name: BenchSuites(bench, []).call(name, usable[name]).outcomes() for name in RUST}

    assert gates.pop("choose") == []
    assert {name: gate.passed for name, (gate,) in gates.items()} == {
        "box_free": False,
        "box_size": False,
        "area": False,
        "twice": True,
        "add": False,
        "twin": False,
        "least": True,
        "length": True,
        "sum": False,
        "before": True,
    }
    called, recorded = (
        {int(at, 16) for at in re.findall(r"^g (\w+)$", lines, re.MULTILINE)}
        for lines in (usable["before"].plan, "".join(one.lines for one in usable["before"].recorded))
    )
    assert called & recorded & {0, 1}
    assert called & set(range(2, 10)), "what is before an object can be read"
    assert not recorded & set(range(2, 10)), "but it is not recorded"
    assert gates["sum"][0].detail == "a call with generated arguments does not return (signal 24)"
