"""Unsafe blocks are removed or made smaller as far as the compiler accepts it, and nothing else changes."""

import re
from textwrap import dedent

import pytest

from jarvis_workers.c2rust.unsafe_cleaning import CleanedTexts, Compilation, RustDiagnostic, Texts, clean_unsafe
from jarvis_workers.source.rust.rust_syntax import RustText, unsafe_block_lines
from tests.c2rust.dangerous import DangerCompiler

COMMENT = "// SAFETY: assumed, not proven: the conditions of `danger` hold"


def cleaned(text: str) -> str:
    """Return the text of a file after cleaning, which a second time changes nothing."""
    result = clean({"a.rs": dedent(text)})
    after = result.files["a.rs"].text if result.files else dedent(text)
    assert not clean({"a.rs": after}).files
    return after.replace(COMMENT, "// SAFETY")


def clean(files: dict[str, str]) -> CleanedTexts:
    return clean_unsafe(files, DangerCompiler(files))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fn f() { unsafe { safe() } }", "fn f() { safe() }"),
        ("fn f() {\n    unsafe {\n        a();\n        b()\n    }\n}\n", "fn f() {\n    a();\n    b()\n}\n"),
        ("fn f() {\n    unsafe { a(); }\n    b();\n}\n", "fn f() {\n    { a(); }\n    b();\n}\n"),
        ("static X: [u8; 1] = unsafe {\n    [\n        1\n    ]\n};\n", "static X: [u8; 1] = [\n    1\n];\n"),
        ("fn f() -> u8 { g(unsafe { x }, unsafe { y }) }", "fn f() -> u8 { g(x, y) }"),
        ("fn f() { let x = unsafe { let y = 1; y }; }", "fn f() { let x = { let y = 1; y }; }"),
        ("fn f() { let _ = unsafe { x }; }", "fn f() { let _ = { x }; }"),
        ("fn f() { g(&unsafe { x }); }", "fn f() { g(&{ x }); }"),
        ("fn f() { unsafe { a() // b\n } }", "fn f() { { a() // b\n } }"),
        ("fn f() {\n    // SAFETY: none\n    unsafe { a() }\n}\n", "fn f() {\n    a()\n}\n"),
        ("fn f() {\n    // why\n    unsafe { a() }\n}\n", "fn f() {\n    // why\n    a()\n}\n"),
        ("unsafe fn f() { unsafe { a() } }", "unsafe fn f() { a() }"),
        ("fn f() { unsafe { unsafe { danger() } } }", "fn f() { // SAFETY\nunsafe { danger() } }"),
    ],
)
def test_an_unneeded_block_is_removed(before: str, after: str):
    assert cleaned(before).replace("// SAFETY\nfn f() {", "fn f() { // SAFETY\n").replace("\n ", "\n") == after.replace(
        "\n ", "\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "fn f() { unsafe { #[cfg(windows)] danger2() } }",
        "fn f() { unsafe { if cfg!(windows) { danger2() } } }",
        'fn f() { g("unsafe { x }"); } // unsafe { y }',
        "fn f() { g(unsafe { broken }); }",
        "fn f() { g(unsafe { hidden }); }",
    ],
)
def test_what_the_compiler_does_not_see_or_accept_stays(text: str):
    assert cleaned(text).replace("// SAFETY\n", "") == text


def test_a_block_that_fails_does_not_keep_others():
    text = "fn f() { g(unsafe { a }); h(unsafe { hidden }); g(unsafe { b }); }\n"

    file = clean({"a.rs": text}).files["a.rs"]
    assert "g(a); h(unsafe { hidden }); g(b);" in file.text
    assert file.removed == 2


def test_a_block_is_reduced_to_the_statements_that_need_it():
    after = cleaned("""
        fn f() {
            unsafe {
                let a = 1;
                let b = danger(a);
                one(a);
                danger(b);
                danger(
                    a
                );
                if a {
                    two();
                    three();
                } else {
                    danger();
                }
            }
        }
    """)

    assert after == dedent("""
        fn f() {
            let a = 1;
            // SAFETY
            let b = unsafe { danger(a) };
            one(a);
            // SAFETY
            unsafe {
                danger(b);
                danger(
                    a
                );
            }
            if a {
                two();
                three();
            } else {
                // SAFETY
                unsafe { danger(); }
            }
        }
    """)


class GluedCompiler(DangerCompiler):
    """Rejects `glued` outside of unsafe blocks, where it is."""

    def __call__(self, texts: Texts, *lints: str, users: bool = True) -> Compilation:
        result = super().__call__(texts, *lints, users=users)
        source = RustText(texts["a.rs"])
        places = [match.start() for match in re.finditer(r"\bglued\b", source.code)]
        lines = {source.line_of(at) for at in places if not any(one.start < at < one.end for one in source.blocks)}
        errors = [RustDiagnostic("error", "E0425", "not found", "a.rs", line + 1, 9) for line in sorted(lines)]
        # As rustc does: blocks that the probe removes are named by other errors.
        probe = not source.blocks
        return result if probe else Compilation(result.passed and not errors, [*result.diagnostics, *errors])


def test_places_of_errors_save_compilations() -> None:
    """Of the two blocks of the last function, one is at fault."""
    block = "    unsafe {{\n        {};\n        danger();\n    }}\n"
    glued = block.format("glued")
    before = {"one": block.format("one()"), "glued": glued, "both": glued + block.format("one()")}
    one = "    one();\n    // SAFETY\n    unsafe { danger(); }\n"
    after = {"one": one, "glued": f"    // SAFETY\n{glued}", "both": f"    // SAFETY\n{glued}{one}"}
    text, wanted = (
        "".join(f"fn f() {{\n{bodies[name]}}}\n" for name in [*["one", "glued"] * 20, "both"])
        for bodies in (before, after)
    )
    compiler = GluedCompiler({"a.rs": text})

    assert clean_unsafe({"a.rs": text}, compiler).files["a.rs"].text.replace(COMMENT, "// SAFETY") == wanted
    assert len(compiler.runs) <= 8


def test_heads_and_arms_are_reduced():
    after = cleaned("""
        unsafe fn f() {
            unsafe {
                while danger() {
                    one();
                    two();
                }
                'l: for i in danger {
                    match i {
                        0 => {
                            one();
                            two();
                            three();
                        }
                        1 => danger(i),
                        _ => {}
                    }
                }
                three()
            }
        }
    """)

    assert after == dedent("""
        unsafe fn f() {
            // SAFETY
            while unsafe { danger() } {
                one();
                two();
            }
            'l: for i in danger {
                match i {
                    0 => {
                        one();
                        two();
                        three();
                    }
                    // SAFETY
                    1 => unsafe { danger(i) },
                    _ => {}
                }
            }
            three()
        }
    """)


@pytest.mark.parametrize(
    "statement",
    [
        "let ref mut a = danger();",
        "let Some(a) = danger() else { return };",
        "match danger() { x => a(x) }",
        "if let Some(x) = danger() { a(x) }",
        "if let Some(x) = a && danger() { a(x) }",
        "match b { ref mut x => danger(x) }",
        "match b { x if danger(x) => a, _ => b }",
        "#[allow(x)] let a = danger();",
        "macro_statement! { danger() }",
    ],
)
def test_what_cannot_be_divided_stays_whole(statement: str):
    text = f"fn f() {{\n    unsafe {{\n        zero();\n        {statement}\n        a();\n    }}\n}}\n"

    after = cleaned(text)
    line = next(line for line in after.splitlines() if "danger()" in line or "danger(x)" in line)
    assert line.strip() in (statement, f"unsafe {{ {statement} }}")


def test_names_that_a_large_part_binds_stay_visible():
    after = cleaned("fn f() {\n    unsafe {\n        a();\n        let ref b = danger();\n        c(b);\n    }\n}\n")

    assert "a();\n    // SAFETY\n    unsafe {\n        let ref b = danger();\n        c(b);\n    }\n" in after


def test_strings_over_several_lines_are_not_indented():
    text = 'fn f() {\n    unsafe {\n        a("x\n   y");\n        b();\n        danger();\n    }\n}\n'

    assert 'a("x\n   y");\n    b();' in cleaned(text)


def test_a_block_with_a_comment_gets_no_other():
    text = "fn f() {\n    // SAFETY: x is valid\n    unsafe { danger() }\n    unsafe {\n        // SAFETY: as above\n"
    text += "        danger()\n    }\n}\n"

    assert cleaned(text) == text


def test_the_result_has_fewer_unsafe_lines():
    body = "".join(f"        one({n});\n" for n in range(9))
    text = f"fn f() {{\n    unsafe {{\n{body}        danger();\n    }}\n}}\n"

    assert (unsafe_block_lines(text), unsafe_block_lines(cleaned(text))) == (12, 1)


def test_unbalanced_text_does_not_change():
    text = "fn f() { unsafe { danger(); ) } unsafe {"

    assert cleaned(text).replace("// SAFETY\n", "") == text
