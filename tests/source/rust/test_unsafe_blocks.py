"""The lines of unsafe code in a Rust file."""

from jarvis_workers.source.rust.unsafe_blocks import BLOCK, UNSAFE_FUNCTION, RustText, unsafe_lines

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
    assert unsafe_lines(CODE, BLOCK) == 3


def test_the_types_of_a_head_may_have_semicolons() -> None:
    text = "unsafe fn f(a: &[[u8; 2]; 3], b: [u8; 4]) -> u8 {\n    let c = unsafe { a[0][0] };\n    b[0]\n}\n"

    assert unsafe_lines(text) == 4
    assert UNSAFE_FUNCTION.findall(text) == [text.partition("{")[0]]
    source = RustText(text)
    assert source.in_unsafe_function(source.blocks[0])


def test_types_of_functions_are_not_unsafe_code() -> None:
    text = 'type F = unsafe fn(u8);\nfn f(g: Option<unsafe extern "C" fn(u8) -> u8>) -> bool {\n    g.is_some()\n}\n'

    assert unsafe_lines(text) == 0
    assert unsafe_lines(text.replace("\nfn f(", "\nunsafe fn f(")) == 3
