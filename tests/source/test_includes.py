"""Included names are found however a directive is written, in linear time."""

import pytest

from jarvis_workers.source.includes import INCLUDES_MAX, IncludedName, included_names, rust_included_names


@pytest.mark.parametrize(
    "text",
    [
        '#include "a.inc"',
        ' \t# include\t"a.inc"',
        '#include"a.inc" // comment',
        '#include_next "a.inc"',
        '#import "a.inc"',
        '/* a */ # /* b\n c */ include /* d */ "a.inc"',
        '# /* /* */ include "a.inc"',
        '%:include "a.inc"',
        '??=include "a.inc"',
        '#inc\\\nlude "a.inc"',
        '#\\\ninclude "a.inc"',
        '# \\ \r\n  include "a.inc"',
        '#include \\\n  "a.inc"',
        '#include "a.\\\ninc"',
        '#i\\\nn\\\nclude "a.inc"',
        '#inc??/\nlude "a.inc"',
        '#define NAME "a.inc"\n#include NAME',
        '#if 0\n#include "a.inc"\n#endif',
        '\f#include "a.inc"',
        '#include/**/_next\n#include/* */"a.inc"',
        'import "a.inc";',
        'export import "a.inc" [[x]];',
        ';import /* a */ /* b */"a.inc";',
        'imp\\\nort "a.inc";',
        '#define NAME "a.inc"\nimport NAME;',
    ],
)
def test_every_form_of_a_directive_is_read(text: str) -> None:
    assert IncludedName(b"a.inc", quoted=True) in included_names(text.encode()).names


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_text_in_other_encodings_is_read(encoding: str) -> None:
    content = '#include "a.inc"\nint a; int b; int c; int d;\n'.encode(encoding)

    assert included_names(content).names == (IncludedName(b"a.inc", quoted=True),)


@pytest.mark.parametrize(
    "text",
    [
        'include "a"',
        'x include "a"',
        '#includes "a"',
        "// see #include lines above",
        "#pragma a",
        '#embed "a"',
        'reimport "a"',
        "import std;",
        "import a.b:c;",
    ],
)
def test_what_is_no_directive_names_nothing(text: str) -> None:
    assert included_names(text.encode()).names == ()


def test_angle_brackets_and_macros_are_told_apart() -> None:
    content = b"#include <a>\n#import NAME\n#include TEXT(x)\n#define B <b>\n#include B\nimport <c>;\n"

    assert included_names(content).names == (
        IncludedName(b"a"),
        IncludedName(b"NAME", macro=True),
        IncludedName(b"TEXT", macro=True),
        IncludedName(b"b"),
        IncludedName(b"c"),
    )


def test_a_file_with_too_many_directives_is_not_complete() -> None:
    names = included_names(b'#include "a"\n' * (INCLUDES_MAX + 1))

    assert not names.complete
    assert included_names(b'#include "a"\n' * INCLUDES_MAX).complete


@pytest.mark.parametrize(
    "piece",
    [
        "#include/*",
        "*/include",
        "#include",
        "#/**/include",
        '#include "',
        "# \\\n",
        "??/\n#",
        "import/*",
        "import",
        "import a",
    ],
)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    assert len(included_names((piece * 100_000).encode()).names) <= 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('include!("a.txt")', ["a.txt"]),
        ('include![r"a\\b"]; core::include!{r##"a"#b"##}', ["a\\b", 'a"#b']),
        ('include!("a\\u{2e}t\\x78t\\\\\\"")', ['a.txt\\"']),
        ('#[path="a.rs"] mod a; #! [ path = "b.rs" ]', ["a.rs", "b.rs"]),
        ('#[cfg_attr(a, cfg_attr(b, path = "a.txt"))] mod a;', ["a.txt"]),
        ('#[cfg_attr(a, path = "a.txt")] #[cfg_attr(b, path = "b.txt")] mod a;', ["a.txt", "b.txt"]),
        ("include!(concat!(A, B)); #[path = env!(C)] mod a;", ["concat!", "env!"]),
        ('macro_rules! m { ($f:expr) => { include!($f); } }\nm!("a.txt");', ["$f!"]),
        ('include_str!("a.txt"); include_bytes!("b"); fn include() {}', []),
        ('// include!("a.txt")\n/* #[path = "b"] */', []),
        ("", []),
    ],
)
def test_what_rust_code_includes(text: str, named: list[str]) -> None:
    found = rust_included_names(text.encode()).names

    assert sorted(f"{one.name.decode()}{'!' * one.macro}" for one in found) == sorted(named)


@pytest.mark.parametrize(
    "piece", ['#[cfg_attr(\\"', '#[cfg_attr(a, path = "', 'include!("\\"', "include!(/*", "include!(//include!(\n"]
)
def test_hostile_rust_is_read_in_linear_time(piece: str) -> None:
    assert len(rust_included_names(('#[cfg_attr("' + piece * 20_000).encode()).names) <= 1
