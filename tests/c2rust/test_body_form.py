"""Answers that are more than the function that was asked for are refused before anything is compiled."""

import pytest

from jarvis_workers.c2rust.body_form import BODY_MAX, body_problem

HEAD = "fn rust_sum(p: &[i32], n: i32) -> i32"


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD} {{ p.iter().sum() }}",
        "/// Größe in C\nfn rust_sum(numbers: &[i32], mut count: i32) -> i32 { count += 1; count }",
        f'#[inline]\n{HEAD} {{ extern "C" fn compare(a: i32) -> i32 {{ a }} compare(n) }}',
        f"{HEAD} {{ const STEP: i32 = 2; fn inner(a: i32) -> i32 {{ a * STEP }} inner(n) }}",
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
        (f"{HEAD} {{ 0 }}".replace("rust_sum", "rust_ѕum"), "it has: fn"),
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
        (f"{HEAD} {{ std::process::exit(0) }}", "`::process`"),
        (f"{HEAD} {{ use std::{{fs as f, mem}}; 0 }}", "use std::{fs"),
        (f'{HEAD} {{ use core::arch::asm; asm!("nop"); 0 }}', "`asm!`"),
        (f"{HEAD} {{ jvc_sum(p, n) }}", "reserved for the comparison"),
        (f'{HEAD} {{ getenv(c"JARVIS_C2RUST_SHADOW".as_ptr()); 0 }}', "reserved for the comparison"),
        (f'{HEAD} {{ todo!("sum") }}', "contains todo!"),
        (f"{HEAD} {{ use crate::c::*; 0 }}", "glob import"),
        (f"{HEAD} {{ unsafe {{ sum(p.as_ptr(), n) }} }}", "no // SAFETY: comment"),
        (f"{HEAD} {{ {'0;' * (BODY_MAX // 2)} 0 }}", "longer than"),
    ],
)
def test_anything_else_is_refused(text: str, problem: str) -> None:
    assert problem in body_problem(text, HEAD, "rust_sum")
