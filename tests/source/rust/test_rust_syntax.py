"""The lines of unsafe code in a Rust file."""

import pytest

from jarvis_workers.source.rust.rust_items import read_items
from jarvis_workers.source.rust.rust_syntax import RustText, unsafe_block_lines, unsafe_lines

CODE = """fn f() {
    // unsafe { }
    let x = unsafe {
        g(unsafe { h() })
    };
    "unsafe {"
}
unsafe fn g() {
}
unsafe impl Send for X {}
"""


def test_lines_of_unsafe_code_are_counted_once() -> None:
    assert unsafe_lines(CODE) == 6
    assert unsafe_block_lines(CODE) == 3


def test_the_types_of_a_head_may_have_semicolons() -> None:
    text = "unsafe fn f(a: &[[u8; 2]; 3], b: [u8; 4]) -> u8 {\n    let c = unsafe { a[0][0] };\n    b[0]\n}\n"

    assert unsafe_lines(text) == 4
    source = RustText(text)
    assert [text[: one.brace] for one in source.unsafe_functions] == [text.partition("{")[0]]
    assert source.in_unsafe_function(source.blocks[0])


def test_types_of_functions_are_not_unsafe_code() -> None:
    text = 'type F = unsafe fn(u8);\nfn f(g: Option<unsafe extern "C" fn(u8) -> u8>) -> bool {\n    g.is_some()\n}\n'

    assert unsafe_lines(text) == 0
    assert unsafe_lines(text.replace("\nfn f(", "\nunsafe fn f(")) == 3


def test_unsafe_code_in_the_arguments_of_macros_is_found() -> None:
    text = "fn f() {\n    m!(a, unsafe { g() });\n}\nm! {\n    unsafe fn h() {\n    }\n}\n"

    source = RustText(text)
    assert [text[one.start : one.end] for one in source.blocks] == ["unsafe { g() }"]
    assert [text[one.start : one.end] for one in source.unsafe_functions] == ["unsafe fn h() {\n    }"]
    assert unsafe_lines(text) == 3


def test_unsafe_code_that_is_not_understood_is_counted_but_no_block() -> None:
    text = "fn f() {\n    unsafe {\n    g();\n"

    assert (RustText(text).blocks, unsafe_lines(text)) == ([], 1)


def test_foreign_blocks_of_the_edition_2024_are_unsafe_code() -> None:
    assert unsafe_lines('unsafe extern "C" {\n    safe fn f();\n    unsafe fn g();\n}\n') == 4


@pytest.mark.parametrize(
    "unit", ["{", "unsafe {", "fn f() {", "unsafe fn f(", 'r#"', "/*", "m!{", "a<", "'a ", "\x00\xff"]
)
def test_hostile_text_is_read_in_bounded_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))

    assert len(read_items(text)) <= 1
    assert RustText(text).blocks == []
    assert unsafe_lines(text) <= 1
