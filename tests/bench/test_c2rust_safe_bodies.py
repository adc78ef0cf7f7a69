"""The hand-written bodies have the form that the gates accept, and what is missing of a conversion is found."""

from pathlib import Path

import pytest

from jarvis_workers.c2rust.crate_edits import body_problem
from jarvis_workers.source.rust.rust_syntax import unsafe_lines
from tests.agents.loop.server import calls
from tests.bench.c2rust_safe_bodies import BODIES, Answers, Planned, UnsafeCode, bodies_of, missing, unsafe_code
from tests.bench.c2rust_unsafe_blocks import unsafe_code_lines
from tests.support.servers import require

TEXT = (BODIES / "tinyexpr_bodies.rs").read_text()
SHARED = """use core::ffi::CStr;

const A: i32 = 1;

/// Adds.
fn both(s: &CStr) -> i32 {
    A
}

fn rust_sum(a: i32) -> i32 {
    a + both(c"")
}

fn rust_one() -> i32 {
    1
}
"""
LIBRARY = """pub type Callback = unsafe extern "C" fn(u8) -> u8;

pub unsafe extern "C" fn shim(p: *const [u8; 2]) -> u8 {
    rust_good(p)
}

unsafe fn rust_good(p: *const [u8; 2]) -> u8 {
    // SAFETY: the caller passes a valid pointer.
    let a = unsafe { *p };
    a[0]
}

unsafe fn rust_several(p: *const *const u8) -> u8 {
    // SAFETY: the caller passes a valid pointer.
    unsafe { **p }
}

unsafe fn rust_bare(p: *const u8) -> u8 {
    let a = *p;
    a + unsafe { *p }
}
"""


@pytest.mark.parametrize(("name", "text"), bodies_of(TEXT).items())
def test_safe_bodies_pass_the_form(name: str, text: str) -> None:
    start = text.index("unsafe fn" if f"unsafe fn rust_{name}(" in text else f"fn rust_{name}(")
    assert body_problem(text, text[start : text.index("{\n")].strip(), f"rust_{name}") == ""


def test_a_body_has_the_items_that_it_mentions() -> None:
    bodies = bodies_of(SHARED)

    assert bodies["one"] == "fn rust_one() -> i32 {\n    1\n}"
    assert [line.strip() for line in bodies["sum"].split("\n")[1:7]] == [
        "use core::ffi::CStr;",
        "const A: i32 = 1;",
        "fn both(s: &CStr) -> i32 {",
        "A",
        "}",
        'a + both(c"")',
    ]


def test_questions_say_whether_types_have_raw_pointers() -> None:
    def task(head: str, types: str) -> str:
        return f"The signature:\n\n§{head}\n\nTypes (with their C layout):\n\n§{types}\n\nFunctions:\n\n§*mut u8\n"

    answers = Answers({"f": "F", "g": "G", "h": "H"})
    for text in (task("fn rust_f(a: u8)", "a: u8,"), task("fn rust_g()", "pub struct s {\n§    p: *mut u8,\n§}")):
        name = "f" if "rust_f" in text else "g"
        assert answers({"messages": [{"role": "user", "content": text}]}) == calls("submit_report", rust=name.upper())

    assert answers.planned == {"f": Planned("fn rust_f(a: u8)", False), "g": Planned("fn rust_g()", True)}
    assert answers.unused == {"h"}


def test_what_is_missing_of_a_conversion_is_found() -> None:
    functions = [
        {"name": "a", "state": "translated", "reason": "", "not_translated": ""},
        {"name": "b", "state": "mechanical", "reason": "", "not_translated": "no body was accepted"},
        {"name": "main", "state": "mechanical", "reason": "", "not_translated": "it has no Rust signature"},
    ]
    planned = {"a": Planned("fn rust_a()", False), "b": Planned("fn rust_b(p: *mut u8)", True)}

    assert list(missing(functions, planned, {"a": UnsafeCode(0, 0, 0, 0)})) == ["b is mechanical: no body was accepted"]
    assert list(missing(functions[::2], planned, {"a": UnsafeCode(2, 2, 1, 0), "b": UnsafeCode(3, 3, 0, 0)})) == [
        "a: 1 blocks without one operation, 0 operations in no block",
        "a has unsafe code, but no raw pointer in its signature and types",
    ]


@pytest.mark.parametrize("text", [LIBRARY, TEXT])
def test_both_counters_find_the_same_unsafe_lines(tmp_path: Path, text: str) -> None:
    (file := tmp_path / "a.rs").write_text(text)

    assert unsafe_code_lines([file]) == unsafe_lines(text) > 10


@pytest.mark.slow
def test_blocks_with_several_operations_are_found(tmp_path: Path) -> None:
    require("cargo")
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n')
    (tmp_path / "src" / "lib.rs").write_text(LIBRARY)

    assert unsafe_code(tmp_path, tmp_path / "target") == {
        "good": UnsafeCode(1, 1, 0, 0),
        "several": UnsafeCode(1, 1, 1, 0),
        "bare": UnsafeCode(1, 1, 1, 1),
    }
