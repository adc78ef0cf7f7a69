"""The second counter of unsafe blocks finds those that can be removed alone. rustc is real."""

from pathlib import Path

import pytest

from tests.bench.c2rust_unsafe_blocks import one_block, removable, sources, unsafe_lines
from tests.support.servers import require

pytestmark = pytest.mark.slow

LIBRARY = """// unsafe {
/// Reads.
pub unsafe fn read(p: *const u8) -> u8 {
    let quote = '"';
    let text = "unsafe {";
    let a = unsafe { *p };
    let b = unsafe { 1 + a };
    let c = unsafe { b + unsafe { *p } };
    unsafe {
        a + b + c + text.len() as u8 + quote as u8
    }
}
"""


def test_blocks_that_can_be_removed_are_found(tmp_path: Path) -> None:
    require("cargo")
    crate = tmp_path / "crate"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text('[package]\nname = "crate"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n')
    library = crate / "src/lib.rs"
    library.write_text(LIBRARY)

    assert list(removable(crate, tmp_path / "target")) == [f"src/lib.rs:{line}" for line in (7, 8, 9, 8)]
    assert sources(crate) == [library]
    assert library.read_text() == LIBRARY
    assert unsafe_lines(crate) == 6


def test_a_body_is_put_into_one_block() -> None:
    body = "    let x = unsafe { 1 };\n    if x == 1 {\n        f();\n    }\n"
    text = f"pub unsafe fn f() {{\n{body}}}\n\npub fn g() {{\n    h();\n}}\n"

    assert one_block(text) == text.replace(body, f"    unsafe {{\n{body.replace('unsafe ', '')}    }}\n")
