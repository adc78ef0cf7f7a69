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
    assert found == CrateMetrics(lines=11, unsafe_blocks=1, unsafe_functions=1, unsafe_lines=4, raw_pointers=2, casts=2)
