"""What is not code is blank, and nothing moves."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.source.lex import LEXEMES_MAX, comments, mask
from tests.support.machine import assert_cpu_within

LANGUAGES = ("c/cpp", "rust")
TOKENS = st.sampled_from(
    b"""\" ' /* */ // \\ R"x( )x" r#" "# a 1'0 # / * \xe4\xbd\xa0 \xff \0""".split(b" ")
    + b"\n|\r\n| |#if 0\n|#else\n|#endif\n".split(b"|")
)


def masked(content: str, language: str = "c/cpp") -> str:
    return mask(content.encode(), language).text.decode()


@pytest.mark.parametrize("language", LANGUAGES)
@given(content=st.lists(TOKENS, max_size=40).map(b"".join))
def test_masking_keeps_the_length_and_the_newlines(language: str, content: bytes) -> None:
    text, end = mask(content, language)

    assert len(text) == end == len(content)
    assert [at for at, byte in enumerate(text) if byte == 10] == [at for at, byte in enumerate(content) if byte == 10]
    assert all(now in (was, 32) for now, was in zip(text, content, strict=True))


@given(content=st.lists(TOKENS, max_size=40).map(b"".join))
def test_double_quotes_in_masked_c_come_in_pairs(content: bytes) -> None:
    assert mask(content, "c/cpp").text.count(b'"') % 2 == 0


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('f("a\\"b", \'"\'); /* " */ g();', "f(\"    \", ' ');         g();"),
        ("a(); // b(); \\\nc();\nd();", "a();          \n    \nd();"),
        ("a(); // b(); \\\r\nc();\nd();", "a();           \n    \nd();"),
        ('R"x(a)" b)x" u8R"(c)" fooR"(d)"', 'R"         " u8R"   " fooR"   "'),
        ("1'000 + 0xa'b; case'a': u8'b'", "1 000 + 0xa b; case' ': u8' '"),
        ("don't\nf();", "don  \nf();"),
        ("/***/ a /*/ b */ c", "      a          c"),
        ('"two \\\nlines" a', '"     \n     " a'),
        ("/* never closed\na", "               \n "),
    ],
)
def test_comments_and_literals_of_c_are_blank(content: str, expected: str) -> None:
    assert masked(content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("f() <% a<:1:> = 2; %>", "f() {  a[ 1]  = 2; } "),
        ("f() ??< a??(1??) ??!??! ~b; ??>", "f() {   a[  1]   |  |   ~b; }  "),
        ("%:define A\n??=define B", "# define A\n#  define B"),
        ("A<::B> c; A<:::B:> d; a ? b::c : d::>", "A<::B> c; A[ ::B]  d; a ? b::c : d::>"),
        ("\"<% ??<\" /* %> */ '??>'", "\"      \"          '   '"),
        ("why??; int <%= name %>;", "why??; int <%= name %>;"),
    ],
)
def test_digraphs_and_trigraphs_become_what_they_stand_for(content: str, expected: str) -> None:
    assert masked(content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("#if 0\na\n#else\nb\n#endif\nc", "#if 0\n \n#else\nb\n#endif\nc"),
        ("#if 0\n#if 1\na\n#else\nb\n#endif\n#endif\nc", "#if 0\n     \n \n     \n \n      \n#endif\nc"),
        ("  #  if (0) && X\r\na\r\n#elif Y\r\nb\r\n#endif", "  #  if (0) && X\r\n  \n#elif Y\r\nb\r\n#endif"),
        ("#if 0 || X\na\n#endif", "#if 0 || X\na\n#endif"),
        ("#if 0\n#endif\na", "#if 0\n#endif\na"),
        ('"#if 0"\na\n/*\n#if 0\n*/ b', '"     "\na\n  \n     \n   b'),
        ("x #if 0\na", "x #if 0\na"),
        ("#if 0\na", "#if 0\n "),
    ],
)
def test_what_if_zero_leaves_out_is_blank(content: str, expected: str) -> None:
    assert masked(content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a /* b /* c */ d */ e", "a                   e"),
        ('r"a\\" b r#"c"d"# e br##"f"#g"## h', 'r"  " b r#"   "# e br##"    "## h'),
        ("fn f<'a>(x: &'a str) -> char { '\\'' }", "fn f<'a>(x: &'a str) -> char { '  ' }"),
        ("'\"' '\\u{1F600}' b'x' 'é'", "' ' '         ' b' ' '  '"),
        ('"two\nlines \\" still" a', '"   \n              " a'),
        ("r#unsafe // é\na", "r#unsafe      \na"),
        ("a /* never /* closed */\n", "a                      \n"),
        ('a "never closed\n', "a              \n"),
    ],
)
def test_comments_and_literals_of_rust_are_blank(content: str, expected: str) -> None:
    assert masked(content, "rust") == expected


@pytest.mark.sample(1)
@pytest.mark.timing
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "unit",
    ["/*", "/**/", '"', "'", "\\", "((((", '"\\', "//", "*", '"a"', 'R"(', 'r#"', "#if 0\n", "#", "\n", "a'", "<%="],
)
def test_no_repetition_makes_masking_slow(language: str, unit: str) -> None:
    content = (unit * 1_000_000)[:1_000_000].encode()
    began = time.process_time()

    assert len(mask(content, language).text) == len(content)

    assert_cpu_within(3, since=began)


def test_comments_nested_fifty_thousand_deep_are_one_comment() -> None:
    content = b"a " + b"/*" * 50_000 + b"*/" * 50_000 + b" b"

    assert mask(content, "rust").text.split() == [b"a", b"b"]


@pytest.mark.slow
@pytest.mark.parametrize(("language", "unit"), [("c/cpp", b'"a"'), ("rust", b"/*"), ("c/cpp", b"#if 0\n#endif\n")])
def test_beyond_all_measure_the_rest_is_blank_and_said_to_be_unread(language: str, unit: bytes) -> None:
    content = unit * (LEXEMES_MAX + 10) + b"rest"

    text, end = mask(content, language)

    assert len(text) == len(content)
    assert end < len(content)
    assert not text[end:].strip()


@pytest.mark.parametrize(
    ("content", "language", "found"),
    [
        (b'a; // b\n"/* c */" /* d */ e', "c/cpp", [b"// b", b"/* d */"]),
        (b"/* never closed", "c/cpp", [b"/* never closed"]),
        (b"a // b \\\n c\n'\"' /**/", "c/cpp", [b"// b \\\n c", b"/**/"]),
        (b'r#"// a"# /* b /* c */ d */ // e\n/* f */', "rust", [b"/* b /* c */ d */", b"// e", b"/* f */"]),
        (b"'a /* b */", "rust", [b"/* b */"]),
    ],
)
def test_comments_are_found_where_they_are_none_in_a_literal(content: bytes, language: str, found: list[bytes]) -> None:
    assert [content[start:end] for start, end in comments(content, language)] == found


@given(content=st.lists(TOKENS, max_size=30).map(b"".join), language=st.sampled_from(LANGUAGES))
def test_comments_are_blank_in_masked_text(content: bytes, language: str) -> None:
    text = mask(content, language).text

    assert all(not text[start:end].strip() for start, end in comments(content, language))
