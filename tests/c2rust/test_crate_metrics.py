"""Counts of unsafe code in a crate, by hand."""

from jarvis_workers.c2rust.crate_metrics import CrateMetrics, crate_metrics

MODULE = b"""//! A module.
use crate::c::*;

pub unsafe extern "C" fn raw(p: *const i32) -> i32 {
    *p
}

fn safe(n: u32) -> u64 {
    // unsafe { } in a comment, and *mut in "*const".
    let text = "unsafe { *const }";
    n as u64 + text.len() as u64
}

pub fn wrapped(p: *mut u8) -> u8 {
    // SAFETY: as in C.
    unsafe { *p }
}
"""


def test_modules_are_counted_without_types_declarations_and_tests() -> None:
    others = dict.fromkeys(("src/types.rs", "src/c.rs", "src/golden_tests.rs", "build.rs", "c/a.c"), MODULE)
    found = crate_metrics({"src/a.rs": MODULE, **others})
    expected = CrateMetrics(lines=11, unsafe_blocks=1, unsafe_functions=1, unsafe_lines=4, raw_pointers=2, casts=2)
    assert found == expected._replace(dereferences=2)


def test_dereferences_and_calls_count_in_unsafe_code_only() -> None:
    module = b"""
unsafe fn raw(p: *mut i32, n: i32) -> i32 { *p = n * 2; **(p as *mut *mut i32) + strlen(q) }
fn safe(r: &mut i32) { *r = 1; helper(2 * 3); strlen(q) }
fn both(p: *mut i32) -> i32 {
    // SAFETY: raw(p) is fine.
    unsafe { raw(p, 1) + helper(a[1] * 2) + core::slice::from_raw_parts(p, 1)[0] + (*p).field }
}
fn helper(n: i32) -> i32 { n }
"""
    found = crate_metrics(
        {"src/a.rs": module, "src/c.rs": b'extern "C" {\n    pub fn strlen(s: *const u8) -> usize;\n}\n'}
    )
    assert (found.dereferences, found.unsafe_calls) == (4, 3)
