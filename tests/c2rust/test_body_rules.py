"""A question has only the rules that apply to its function."""

import pytest

from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.c2rust.body_question import CONDITIONS, BodyQuestion, applicable_rules
from jarvis_workers.c2rust.body_translation import PROMPTS

PLAIN = BodyQuestion("f", "rust_f", "fn rust_f(a: i32) -> i32", "", "int f(int a) { return a; }", "", "", "")


@pytest.mark.parametrize(
    ("rule", "question"),
    [
        ("raw_pointers", PLAIN._replace(head="unsafe fn rust_f(a: *const i32)")),
        ("raw_pointers", PLAIN._replace(mechanical="pub unsafe fn f(a: *mut u8) {}")),
        ("foreign", PLAIN._replace(declarations="pub fn g(a: i32) -> i32;")),
        ("unsigned", PLAIN._replace(c="unsigned f(unsigned a) { return a + 1; }")),
        ("unsigned", PLAIN._replace(c="uint32_t f(void) { return 7; }")),
        ("conversions", PLAIN._replace(mechanical="return a as u8;")),
        ("floats", PLAIN._replace(head="fn rust_f(a: f64) -> f64")),
        ("strings", PLAIN._replace(head="fn rust_f(a: &core::ffi::CStr)")),
        ("strings", PLAIN._replace(c="int f(char *a) { return strlen (a); }")),
        ("slices", PLAIN._replace(head="fn rust_f(a: &mut [u8])")),
        ("results", PLAIN._replace(head="fn rust_f() -> Result<(), ErrorCode<i32>>")),
        ("results", PLAIN._replace(safe="fn rust_g() -> core::ptr::NonNull<i32>;")),
        ("enums", PLAIN._replace(types="#[repr(u32)]\npub enum color { RED = 0 }")),
        ("flags", PLAIN._replace(types="#[repr(transparent)]\npub struct mode { pub bits: u32 }")),
        ("options", PLAIN._replace(head="fn rust_f(a: Option<&i32>)")),
        ("uninitialized", PLAIN._replace(head="fn rust_f(a: &mut core::mem::MaybeUninit<i32>)")),
        ("globals", PLAIN._replace(declarations="pub static mut count: i32;")),
        ("allocation", PLAIN._replace(c="void f(void *a) { free(a); }")),
        ("callbacks", PLAIN._replace(types='pub type F = Option<unsafe extern "C" fn(i32) -> i32>;')),
        ("unions", PLAIN._replace(types="pub union u { pub a: i32 }")),
        ("jumps", PLAIN._replace(c="int f(int a) { switch (a) { default: return 1; } }")),
    ],
)
def test_a_rule_is_shown_if_it_applies(rule: str, question: BodyQuestion) -> None:
    assert [name for name, applies in applicable_rules(question).items() if applies] == [rule]


def test_a_plain_function_has_no_rules_and_each_rule_has_a_text() -> None:
    def text(**rules: bool) -> str:
        return fill_from(PROMPTS, "translate_rules", **{**dict.fromkeys(CONDITIONS, False), **rules})

    assert text(**applicable_rules(PLAIN)) == ""
    texts = {text(**{name: True}) for name in CONDITIONS}
    assert len(texts) == len(CONDITIONS) and "" not in texts


def test_raw_pointers_bring_the_checklist_of_unsafe_code() -> None:
    text = fill_from(PROMPTS, "translate_rules", **{name: name == "raw_pointers" for name in CONDITIONS})
    for point in ("Aliases", "Lifetime", "Bounds and initialization", "Layout", "Panic", "Send"):
        assert point in text
