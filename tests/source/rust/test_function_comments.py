"""Comments for functions: duplicates are marked once, and only what has no documentation gets a placeholder."""

from textwrap import dedent

import pytest

from jarvis_workers.source.rust.function_comments import add_documentation, tag_duplicates

BODY = "(x: &[i32]) -> i32 {\n    let mut sum = 0; // why\n    for y in x { sum += y * 2; }\n    sum - 1\n}\n"


def test_a_later_function_that_equals_another_is_marked():
    texts = {
        "src/b.rs": f"#[no_mangle]\npub fn second{BODY.replace('// why', '/* because */')}",
        "src/a.rs": f"fn first{BODY}",
    }
    marked = tag_duplicates(texts)

    assert {file: one.text for file, one in marked.items()} == {
        "src/b.rs": f"/// TODO: duplicate of first (src/a.rs)\n{texts['src/b.rs']}"
    }
    assert not tag_duplicates({**texts, "src/b.rs": marked["src/b.rs"].text})


@pytest.mark.parametrize(
    "other",
    [
        f"unsafe fn g{BODY}",
        f"fn g{BODY.replace('* 2', '* 3')}",
        f"fn g{BODY.replace('i32', 'i64')}",
        f"fn g{BODY.replace('y * 2', 'len(Y)')}",
        "fn g() -> i32 { 1 }\n",
    ],
)
def test_a_function_that_differs_is_not_marked(other: str):
    assert not tag_duplicates({"a.rs": f"fn f{BODY}fn f2() -> i32 {{ 1 }}\n{other}"})


def test_literals_make_a_difference():
    body = '() {\n    println!("{}", {}); println!("one two three"); println!("four", 5, 6, 7, 8, 9, 10, 11);\n}\n'

    assert not tag_duplicates({"a.rs": f"fn f{body}fn g{body.replace('one', 'two')}"})
    assert tag_duplicates({"a.rs": f"fn f{body}fn g{body}"})


def test_functions_and_modules_without_documentation_get_placeholders():
    text = dedent("""\
        // a licence
        use a::b;

        #[inline]
        #[no_mangle]
        pub fn bare() {}

        /// Known.
        fn documented() {}

        #[doc = "Known."]
        fn also() {}

        //// no documentation
        fn commented() {}

        #[test]
        fn tests() {}

        /// TODO: duplicate of bare (a.rs)
        fn copy() {}
    """)
    result = add_documentation({"a.rs": text})["a.rs"]

    assert result.number == 4
    assert result.text.startswith("//! TODO: describe this module.\n\n// a licence\n")
    assert "/// TODO: describe `bare`.\n#[inline]\n#[no_mangle]\npub fn bare" in result.text
    assert [line for line in result.text.splitlines() if "describe `" in line] == [
        f"/// TODO: describe `{name}`." for name in ("bare", "commented", "copy")
    ]
    assert not add_documentation({"a.rs": result.text})


@pytest.mark.parametrize("text", ["//! A.\nuse a;\n", "// x\n#![allow(x)]\n//! A.\n", "/*! A. */", "", "\n"])
def test_a_module_with_documentation_or_without_code_does_not_change(text: str):
    assert not add_documentation({"a.rs": text})


def test_the_first_line_of_a_script_stays_first():
    after = add_documentation({"a.rs": "#!/usr/bin/env run\nuse a;\n"})["a.rs"].text

    assert after == "#!/usr/bin/env run\n//! TODO: describe this module.\n\nuse a;\n"
    assert add_documentation({"a.rs": "#![no_std]\n"})["a.rs"].text.endswith("\n\n#![no_std]\n")


def test_windows_line_ends_are_preserved():
    after = add_documentation({"a.rs": "//! x\r\nfn f() {}\r\n"})["a.rs"].text

    assert after == "//! x\r\n/// TODO: describe `f`.\r\nfn f() {}\r\n"
