"""Functions that rustc calls unreachable become private to the crate, unless that fails or they are exported."""

import re

from jarvis_workers.c2rust.unsafe_cleaning import Compilation, RustDiagnostic, Texts
from jarvis_workers.c2rust.visibility import UNREACHABLE, reduce_visibility

TEXT = """pub fn used() {}
    pub unsafe extern "C" fn unused() {}
pub struct Item;
#[no_mangle]
pub fn exported() {}
pub const fn needed() {}
"""


def compile_crate(texts: Texts, *lints: str, users: bool = True) -> Compilation:
    """Call all but `used` unreachable; `needed` must be public."""
    text = texts["a.rs"]
    places = [(text.count("\n", 0, one.start()) + 1, one) for one in re.finditer(r"pub (?!fn used)", text)]
    found = [
        RustDiagnostic("warning", UNREACHABLE, "", "a.rs", line, one.start() - text.rfind("\n", 0, one.start()))
        for line, one in places
        if UNREACHABLE in lints and not users
    ]
    return Compilation("pub(crate) const fn needed" not in text, found)


def test_unreachable_functions_become_private_to_the_crate():
    after = TEXT.replace("pub unsafe", "pub(crate) unsafe")

    assert reduce_visibility({"a.rs": TEXT}, compile_crate) == {"a.rs": (after, 1)}
    assert reduce_visibility({"a.rs": after}, compile_crate) == {}
