"""Answers that are more than the function that was asked for are refused before anything is compiled."""

import re
import time
from pathlib import Path

import pytest

from jarvis_workers.c2rust.crate_edits import BODY_MAX, body_problem
from tests.agents.loop.hostile_bodies import HOSTILE
from tests.support.machine import assert_cpu_within

ROOT = Path(__file__).parents[2]
# A character and a string for rustc. A lexer that ends the character too late would treat code as text.
HIDDEN = """fn rust_sum(p: &[i32], n: i32) -> i32 {
    let _ = stringify!('\\u{0_0_0_0_4_1}'"'");
}
#[no_mangle] fn free(_: *mut u8) {}
fn second() -> u32 { // ");
    0
}
"""
HEAD = "fn rust_sum(p: &[i32], n: i32) -> i32"


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD} {{ p.iter().sum() }}",
        "/// Größe in C\nfn rust_sum(numbers: &[i32], mut count: i32) -> i32 { count += 1; count }",
        "fn rust_sum(p: /* all */ &[i32], n: i32) -> i32 { p.iter().map(|a: &i32| *a).sum::<i32>() + n }",
        f"{HEAD} {{ fn each(f: impl Fn(&i32) -> i32, p: &[i32]) -> i32 {{ p.iter().map(f).sum() }} each(|a| *a, p) }}",
        f"{HEAD} {{ let c = '\\''; let d: &'static str = \"'\"; (c as i32) + d.len() as i32 }}",
        f'#[inline]\n{HEAD} {{ extern "C" fn compare(a: i32) -> i32 {{ a }} compare(n) }}',
        f"{HEAD} {{ const STEP: i32 = 2; fn inner(a: i32) -> i32 {{ a * STEP }} inner(n) }}",
        f"{HEAD} {{ let (line, file) = (1, 2); if line != n && file!=n {{ n }} else {{ 0 }} }}",
        f"{HEAD} {{ fn first(p: &'static [i32]) -> core::cell::Cell<i32> {{ p[0].into() }} first(&[1]).get() + n }}",
        f"{HEAD} {{\n    // SAFETY: p is not empty.\n    unsafe {{ *p.as_ptr() }}\n}}",
    ],
)
def test_a_function_with_the_planned_signature_is_accepted(text: str) -> None:
    assert body_problem(text, HEAD, "rust_sum") == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "nothing beside it; it has: nothing"),
        ("Here is the function.", "nothing beside it"),
        (f"{HEAD} {{ 0", "nothing beside it; it has: text"),
        (f"{HEAD} {{ 0 }}\n{HEAD} {{ 0 }}", "it has: fn rust_sum, fn rust_sum"),
        (f"{HEAD} {{ 0 }}\nfn helper() {{}}", "it has: fn rust_sum, fn helper"),
        (f"use std::ptr;\n{HEAD} {{ 0 }}", "it has: use"),
        (f"{HEAD} {{ 0 }}".replace("sum", "other"), "it has: fn rust_other"),
        (f"{HEAD} {{ 0 }}".replace("rust_sum", "rust_ѕum"), "outside of ASCII"),
        ("fn rust_sum(p: &[u32], n: i32) -> i32 { 0 }", f"its signature must be `{HEAD}`"),
        (f"unsafe {HEAD} {{ 0 }}", "its signature must be"),
        (f"{HEAD} {{ let а = 0; 0 }}", "outside of ASCII"),
        (f"#[no_mangle]\n{HEAD} {{ 0 }}", "the attribute no_mangle"),
        (f'#[unsafe(export_name = "free")]\n{HEAD} {{ 0 }}', "the attribute export_name"),
        (f'{HEAD} {{ #[path = "/etc/passwd"] mod m; 0 }}', "the attribute path"),
        (f'{HEAD} {{ include!("/etc/passwd"); 0 }}', "`include!`"),
        (f'{HEAD} {{ core::include_bytes ! ("/etc/passwd").len() as i32 }}', "`include_bytes !`"),
        (f"{HEAD} {{ extern crate libc; 0 }}", "`extern`"),
        (f'{HEAD} {{ extern "C" {{ fn abort(); }} 0 }}', "`extern`"),
        (f"{HEAD} {{ std::process::exit(0) }}", "`std::process`"),
        (f"{HEAD} {{ use std::{{fs, mem}}; 0 }}", "it has `fs`"),
        (f'{HEAD} {{ use core::arch::asm; asm!("nop"); 0 }}', "it has `arch`"),
        (f'{HEAD} {{ use core::include_str as q; q!("/etc/hostname").len() as i32 }}', "it has `as`"),
        (f"{HEAD} {{ use std as s; 0 }}", "it has `as`"),
        (f"{HEAD} {{ {'use ' * 80} 0 }}", "longer than 300"),
        (f'{HEAD} {{ concat!("a", "b").len() as i32 }}', "`concat!`"),
        (f'{HEAD} {{ println!("sum"); 0 }}', "`println!`"),
        (f'{HEAD} {{ std::path::Path::new("/etc/passwd").exists() as i32 }}', "`std::path`"),
        (f"{HEAD} {{ mod m {{ pub fn f() {{}} }} 0 }}", "`mod`"),
        (
            f"{HEAD} {{ impl Default for pair {{ fn default() -> Self {{ pair {{ a: 0 }} }} }} 0 }}",
            "impl` is not allowed",
        ),
        (f"{HEAD} {{impl Drop for pair {{ fn drop(&mut self) {{}} }} 0 }}", "impl` is not allowed"),
        (f"{HEAD} {{ crate::f_other::other(1) }}", "`crate::f_other`"),
        (f"{HEAD} {{ unsafe fn g(p: *mut i32) -> i32 {{ *p }} let _ = g; 0 }}", "nested unsafe function"),
        (HIDDEN, "nothing beside it"),
        ("fn rust_sum(self: &[i32], n: i32) -> i32 { 0 }", "`self`"),
        (f"{HEAD} {{ jvc_sum(p, n) }}", "reserved for the comparison"),
        (f'{HEAD} {{ getenv(c"JARVIS_C2RUST_SHADOW".as_ptr()); 0 }}', "reserved for the comparison"),
        (f'{HEAD} {{ getenv(c"\\u{{4a}}ARVIS_C2RUST_SHADOW".as_ptr()); 0 }}', "reserved for the comparison"),
        (f'{HEAD} {{ todo!("sum") }}', "contains todo!"),
        (f"{HEAD} {{ use crate::c::*; 0 }}", "glob import"),
        (f"{HEAD} {{ unsafe {{ sum(p.as_ptr(), n) }} }}", "no // SAFETY: comment"),
        (f"{HEAD} {{ {'0;' * (BODY_MAX // 2)} 0 }}", "longer than"),
    ],
)
def test_anything_else_is_refused(text: str, problem: str) -> None:
    assert problem in body_problem(text, HEAD, "rust_sum")


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_form_of_a_hostile_answer_is_refused(kind: str) -> None:
    """Answers whose form is right are left to the gates (tests/cli/test_c2rust_hostile_answers.py)."""
    body = HOSTILE[kind]
    problem = body_problem(body.of(HEAD, "sum"), HEAD, "rust_sum", "{ return a + b; }")
    assert (body.problem in problem) if body.problem else problem == ""


def test_each_hostile_answer_is_documented() -> None:
    rows = re.findall(r"^\| (.+?) \|", (ROOT / "docs" / "c2rust-answers.md").read_text(), re.MULTILINE)
    assert [row for row in rows if row in HOSTILE] == list(HOSTILE)


def test_each_documented_input_has_a_test() -> None:
    page = (ROOT / "docs" / "c2rust-answers.md").read_text().partition("## Other bad input")[2]
    rows = re.findall(r"^\| .* \| `(tests/[\w/]+\.py)::(\w+)` \|$", page, re.MULTILINE)
    assert len(rows) == page.count("\n|") - 2 > 20
    for file, test in rows:
        assert f"def {test}(" in (ROOT / file).read_text(), test


@pytest.mark.parametrize(
    ("body", "original"),
    [
        ('{ crate::c::getenv(c"HOME".as_ptr()); 0 }', 'return getenv(c"HOME".as_ptr()) as i32;'),
        ("{ crate::c::exit(1) }", "{ if (p == 0) exit(1); }"),
        ("{ static mut CALLS: i32 = 0; 0 }", "static mut calls: i32 = 0;"),
        ("{ static TABLE: [i32; 2] = [1, 2]; TABLE[0] }", "{ return 1; }"),
        ("{ let cell = core::cell::Cell::new(0); cell.get() }", "{ return 0; }"),
        ("{ struct file { open: i32 } let f = file { open: 1 }; 'exit: loop { break 'exit f.open } }", "{ return 1; }"),
    ],
)
def test_what_the_c_function_does_the_body_may_do(body: str, original: str) -> None:
    assert body_problem(f"{HEAD} {body}", HEAD, "rust_sum", original) == ""


@pytest.mark.parametrize(
    "body",
    ["{ other_crate::sum(p) }", "{ ::other_crate :: sum(p) }", "{ use other_crate; 0 }", "{ use other_crate::sum; 0 }"],
)
def test_a_body_uses_no_crate_that_does_not_replace_the_function(body: str) -> None:
    problem = "it uses the crate other_crate, which does not replace it"
    assert body_problem(f"{HEAD} {body}", HEAD, "rust_sum", "", {"other_crate"}) == problem
    assert body_problem(f"{HEAD} {body}", HEAD, "rust_sum", "", {"crate_of_another"}) == ""


@pytest.mark.parametrize(
    "text",
    [
        HEAD + " {" + "use " * 24_000 + "}",
        HEAD + " {" + ":: a " * 18_000 + "}",
        HEAD + " {#" + " " * 99_000 + "}",
        "static " + " " * 50_000 + "A = " + "{}" * 24_000,
        HEAD + " {" + "unsafe " * 14_000 + "}",
        HEAD + " {" + " \n" * 49_000 + "impl}",
    ],
)
def test_a_long_answer_takes_linear_time(text: str) -> None:
    began = time.process_time()
    body_problem(text, HEAD, "rust_sum")
    assert_cpu_within(3, since=began)
