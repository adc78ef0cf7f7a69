"""Of lex and yacc files the C code is read, each action by itself, and nothing moves."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.source.functions import functions
from jarvis_workers.source.grammar_files import GRAMMARS, c_text
from jarvis_workers.source.lex import comments, mask
from tests.support.machine import assert_cpu_within

WORDS = rb"""%% %{ %} { } | : ; ' " \ [ ] < > /* */ // a $$ $<a>1 @1 %union %code %destructor %top{ <A>{ {b} #if"""
LINES = [b"\n", b"\n\n", b"\r\n", b" ", b"\t", b"\n%%\n", b"\n%{\n", b"\n%}\n", b"#if 0\n", b"\xff", b"\0"]
TOKENS = st.sampled_from([*WORDS.split(), *LINES])


def code(text: str, language: str) -> str:
    return mask(text.encode(), language).text.decode()


def bodies(text: str, language: str) -> list[tuple[str, str]]:
    content = text.encode()
    return [
        (one.name.decode(), content[slice(*one.body)].decode().strip())
        for one in functions(mask(content, language).text, language)
    ]


@pytest.mark.parametrize("language", GRAMMARS)
@given(content=st.lists(TOKENS, max_size=60).map(b"".join))
def test_lines_and_offsets_hold_whatever_stands_in_a_grammar(language: str, content: bytes) -> None:
    text, end = mask(content, language)
    found = list(functions(text, language))

    assert len(text) == len(c_text(content, language)) == end == len(content)
    assert [at for at, byte in enumerate(text) if byte == 10] == [at for at, byte in enumerate(content) if byte == 10]
    assert all(one.body[1] <= other.start for one, other in pairwise(found))
    assert all(content[start : start + 1] == b"/" for start, _ in comments(content, language))


def test_each_action_of_yacc_is_a_function_and_so_is_what_stands_around_the_rules() -> None:
    text = (
        "%{\nint f(void) { return 1; }\n%}\n"
        "%%\na: B { g($1); } C { h(); }\n | '{' D { i(); }\n;\n"
        "%%\nint k(void)\n{\n}\n"
    )

    assert bodies(text, "yacc") == [
        ("f", "return 1;"),
        ("yyaction", "g($1);"),
        ("yyaction", "h();"),
        ("yyaction", "i();"),
        ("k", ""),
    ]


def test_an_action_of_lex_ends_with_its_line_or_with_its_braces() -> None:
    text = (
        '%%\n"{"\treturn 1;\n[}"]+  if (a) {\n  b();\n  }  else c();\nx  { d(); }\n%{\ne();\n%}\n'
        "%%\nint f(void) { g(); }\n"
    )

    assert bodies(text, "lex") == [
        ("yyaction", "return 1;"),
        ("yyaction", "if (a) {\n  b();\n  }  else c();"),
        ("yyaction", "d();"),
        ("yyaction", "e();"),
        ("f", "g();"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: B { $$ = $1; }", "     { yy = y1; }"),
        ("a: B { $<t>$.x = $[b]; @$ = @1; }", "     { y_t_y.x = y_b_; ly = l1; }"),
        ('a: \'{\' "}" /* { */ { b("$1"); }', '                   { b("  "); }'),
        ("a: B <t> %prec C { d(); }", "                 { d(); }"),
    ],
)
def test_values_of_yacc_are_names_in_its_actions(text: str, expected: str) -> None:
    assert code(f"%%\n{text}\n", "yacc") == f"%;\n{expected}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%union { int a; }", " union { int a; }"),
        ("%code requires { int a; }", "                 int a;  "),
        ("%destructor { free($$); } <t>", "%:;         { free(yy); }    "),
        ("%define api.value.type { int }", " " * 30),
        ("%parse-param { int a }", " " * 22),
        ("%{ int a; %}", "   int a;   "),
        ('%token <t> A "strcpy(a, b)"', " " * 27),
    ],
)
def test_of_the_declarations_of_yacc_only_code_is_read(text: str, expected: str) -> None:
    assert code(text, "yacc") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%top{ int a; }", "      int a;  "),
        ("  int a;\nb  [a-z]'\"\nc  /* d", "  int a;\n" + " " * 10 + "\n" + " " * 7),
        ("%option noyywrap\n/* a */\n", " " * 16 + "\n" + " " * 7 + "\n"),
    ],
)
def test_of_the_definitions_of_lex_only_code_is_read(text: str, expected: str) -> None:
    assert code(text, "lex") == expected


@pytest.mark.parametrize(
    ("rule", "action"),
    [
        ("[^]\"' ]+\ta();", "a();"),
        ('"a b\\" c" a();', "a();"),
        ('\\ \\"x a();', "a();"),
        ("{name}{2,3} a();", "a();"),
        ("<A,B>x$ a();", "a();"),
        ("<<EOF>> a();", "a();"),
        ("x |", ""),
        ("x | /* as y */", ""),
        ("x", ""),
        ("<A>{\n  y a();\n }", "a();"),
        ("x %{\na();\n%}", "{\na();\n}"),
        ("  a(); /* at the start */", "a();"),
    ],
)
def test_a_pattern_of_lex_is_no_code(rule: str, action: str) -> None:
    assert code(f"%%\n{rule}\n", "lex").removeprefix("%;").strip() == action


def test_a_comment_is_one_wherever_it_stands() -> None:
    text = "/* a */\n%%\n/* b */\nc: D /* e { */ { f(); /* g */ } // h\n;\n"

    found = [text[start:end] for start, end in comments(text.encode(), "yacc")]

    assert found == ["/* a */", "/* b */", "/* e { */", "/* g */", "// h"]


@pytest.mark.parametrize("language", GRAMMARS)
@pytest.mark.parametrize(
    "piece",
    ["a: {\n", "%{\n", '"\n', "'", "/*", "[", "<A>{\n", "a [b\n", "{}", "$<a", "a |\n", "%%\n", "%destructor {"],
)
def test_hostile_grammars_take_linear_time(language: str, piece: str) -> None:
    content = b"%%\n" + piece.encode() * (60_000 // len(piece))

    since = time.process_time()
    functions(mask(content, language).text, language)

    assert_cpu_within(2, since=since)
