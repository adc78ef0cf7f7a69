"""The lines of unsafe code in a Rust file."""

from jarvis_workers.source.rust.unsafe_blocks import BLOCK, unsafe_lines

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
