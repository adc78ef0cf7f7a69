"""Calls between translated functions in the crate of a user."""

from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.delivery import link_calls

WRAPPERS = {
    name: f"pub fn {name}() {{\n    unsafe {{ crate::c::{name}() }}\n}}\n" for name in ("rust_a", "rust_b", "rust_c")
}


def item(slot: str, text: str) -> CrateItem:
    return CrateItem(slot, slot, "lib", f'pub unsafe extern "C" fn {slot}() {{}}\n\n{text}\n')


def test_a_translated_function_is_called_directly_and_any_other_by_its_wrapper() -> None:
    """`a` calls `b`, which is translated, and `c`, which is not."""
    a, b = item("a", "fn rust_a() { rust_b(); rust_c() }"), item("b", "unsafe fn rust_b() { /* rust_a */ }")
    linked = link_calls([a, b], WRAPPERS)
    assert linked.items[0] == a, "nothing calls it"
    assert "\npub(crate) unsafe fn rust_b()" in linked.items[1].text
    assert linked.wrappers == (WRAPPERS["rust_c"],)


def test_a_function_that_calls_itself_stays_private() -> None:
    recursive = item("a", "fn rust_a() { rust_a() }")
    assert link_calls([recursive], WRAPPERS).items == (recursive,)


def test_without_wrappers_nothing_changes() -> None:
    mechanical = item("rust_a", "")
    linked = link_calls([mechanical], {})
    assert (linked.items, linked.wrappers) == ((mechanical,), ())
