"""Edits of a crate: which functions changed, and what the gates `form` and `signature` refuse."""

import pytest

from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.crate_edits import CrateEdits, read_edits
from jarvis_workers.source.rust.rust_items import read_items

ADD = 'pub unsafe extern "C" fn add(mut a: i32, b: *mut u8) -> i32 {\n    a + *b as i32 // }\n}\n'
STEP = 'pub static mut step_static_n: i32 = 0;\n\n#[export_name = "a__step"]\npub unsafe extern "C" fn step() {}\n'
FILE = f"//! a.c\n\nuse crate::c::*;\n\n#[no_mangle]\n{ADD}\n{STEP}\npub static table: [u8; 2] = [1, 2];\n"
BODIES = [
    CrateItem("add", "add", "a", ADD),
    CrateItem("step", "a__step", "a", STEP.replace('#[export_name = "a__step"]\n', "")),
]


def edited(old: str, new: str) -> CrateEdits:
    assert old in FILE
    return read_edits({"src/a.rs": FILE.encode()}, {"src/a.rs": FILE.replace(old, new).encode()}, BODIES)


def test_items_have_kinds_names_and_lines() -> None:
    text = "use a::{b};\nconst X: fn() = { 1; }; // fn no() {}\nstruct S { a: [u8; 2] }\n#[no_mangle]\n"
    text += 'pub extern "C" fn f() { "}" }\nmacro_rules! m { () => {} }\nfn open() {'

    assert [(one.kind, one.name, one.line) for one in read_items(text)] == [
        ("use", "a", 1),
        ("const", "X", 2),
        ("struct", "S", 3),
        ("fn", "f", 5),
        ("macro_rules", "m", 6),
        ("text", "", 7),
    ]


def test_a_function_whose_text_is_as_before_is_unchanged() -> None:
    edits = edited("a + *b as i32", "a.wrapping_add(*b as i32)")

    assert [(one.slot, one.file, one.line) for one in edits.functions] == [("add", "src/a.rs", 6)]
    assert edits.functions[0].text == ADD.replace("a + *b as i32", "a.wrapping_add(*b as i32)").strip()
    assert (edits.unchanged, edits.problems, edits.unchecked) == (1, (), ())
    assert [gate.passed for gate in edits.functions[0].gates()] == [True, True]


def test_static_variables_belong_to_their_function() -> None:
    assert [one.slot for one in edited("step_static_n: i32 = 0", "step_static_n: i32 = 1").functions] == ["a__step"]


@pytest.mark.parametrize(
    ("old", "new", "gate", "detail"),
    [
        ("a + *b as i32", "todo!()", "form", "it contains todo!"),
        ("a + *b as i32", 'unimplemented ! ("x")', "form", "it contains unimplemented!"),
        ("a + *b as i32", "use core::ptr::*; 1", "form", "it has a glob import; import each name instead"),
        ("a + *b", "unsafe { *b }", "form", "the unsafe block on line 2 has no // SAFETY: comment"),
        ("a: i32", "a: u32", "signature", 'it should be `pub unsafe extern "C" fn add(mut a: i32, b: *mut u8) -> i32`'),
        ("*mut u8", "*const u8", "signature", None),
        ('pub unsafe extern "C" fn add', "pub fn add", "signature", None),
        ("fn add", "fn added", "form", "it is missing from its file"),
    ],
)
def test_form_and_signature_refuse(old: str, new: str, gate: str, detail: str | None) -> None:
    found = edited(old, new).functions[0].gates()[-1]

    assert (found.gate, found.passed) == (gate, False)
    assert detail in (None, found.detail)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a + *b as i32", "/* todo!() */ a"),
        ("a + *b", "// SAFETY: b is valid\n    unsafe { *b }"),
        ("(mut a: i32, b: *mut u8)", "(\n    x: i32,\n    y: *mut u8,\n)"),
        ("a + *b as i32", 'let s = "use x::*; unimplemented!()"; s.len() as i32'),
    ],
)
def test_form_and_signature_accept(old: str, new: str) -> None:
    assert all(gate.passed for gate in edited(old, new).functions[0].gates())


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("pub static table", "fn helper() {}\npub static table", "`fn helper`: not part of the crate; put it inside"),
        ("use crate::c::*;", "use crate::c::*;\nuse std::mem::*;", "`use std`: not part of the crate"),
        ("[1, 2]", "[1, 3]", "src/a.rs:15: form: `static table`: changed, but not a function"),
        ("pub static table: [u8; 2] = [1, 2];", "", "src/a.rs: form: `static table` is missing"),
        ("pub static table", 'pub unsafe extern "C" fn add() {}\npub static table', "`fn add` is defined twice"),
    ],
)
def test_what_changes_beside_functions_is_refused(old: str, new: str, problem: str) -> None:
    assert problem in "\n".join(edited(old, new).problems)


def test_other_files_are_not_checked() -> None:
    before = {"src/a.rs": FILE.encode(), "build.rs": b"1", "src/types.rs": b"", "Cargo.lock": b""}
    now = {"src/a.rs": FILE.encode(), "build.rs": b"2", "src/b.rs": b"", "Cargo.lock": b"x"}

    assert read_edits(before, now, BODIES).unchecked == ("build.rs: edited", "src/b.rs: new", "src/types.rs: removed")
