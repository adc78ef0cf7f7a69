"""Macros with parameters: how their text is read, and what their calls expand to."""

from typing import Any

import pytest

from jarvis_workers.dataflow import summarize
from jarvis_workers.dataflow.frontend.macro_text import with_expansions, without_operators
from tests.sec.following import model_of

BASE = b"#define COMPARE(a, op, b, type) do { type x = (a); if (!(x op b)) abort(); } while (0)\n"


def macros_of(content: bytes) -> Any:
    model = model_of(content + b"void f(void) { free(malloc(1)); }\n")
    assert model is not None
    return model["macros"]


def test_a_macro_of_one_expression_is_that_expression() -> None:
    assert macros_of(b"#define TWICE(n) ((n) * 2)\n") == {"TWICE": [["n"], ["b", "*", ["v", "n"], ["n", 2]]]}


def test_a_macro_of_statements_is_a_block() -> None:
    macro = macros_of(b"#define STOP_IF(c) do { if (c) abort(); } while (0)\n")["STOP_IF"]

    assert macro == [["c"], ["blk", 0, [["if", 0, ["v", "c"], [["e", 0, ["c", ["v", "abort"], [], 0]]], []]], 0]]


def test_a_loop_around_a_break_stays() -> None:
    _, (_, _, [statement], _) = macros_of(b"#define TRY(c) do { if (c) break; go(); } while (0)\n")["TRY"]

    assert statement[:3] == ["loop", 0, "do"]


def test_operators_and_types_are_substituted_in_the_text() -> None:
    params, (_, _, [declaration, test], _) = macros_of(BASE + b"#define SAME(p) COMPARE(p, ==, 7, char *)\n")["SAME"]

    assert params == ["p"]
    assert declaration[:4] == ["d", 0, "x", "char*"]
    assert test[2] == ["u", "!", ["b", "==", ["v", "x"], ["n", 7]]]


def test_variable_arguments_may_have_a_name() -> None:
    params, (_, _, parts, _) = macros_of(b"#define SAY(to, rest...) say(to, ## rest)\n")["SAY"]

    assert (params, parts) == (["to", "..."], [["v", "to"], ["v", "__VA_ARGS__"]])


def test_macros_of_the_command_line_come_first() -> None:
    code = b"#define SIZE 4\nvoid f(void) { free(malloc(SIZE)); }\n"
    defines = ("SIZE=8", "DEBUG", "TWICE(n)=((n) * 2)", "EMPTY=", "WRONG=(", "NAME='x")

    model = summarize(code, language="c/cpp", header=False, test=False, path="a.c", defines=defines)

    assert model is not None
    assert model["macros"] == {"SIZE": ["n", 8], "DEBUG": ["n", 1], "TWICE": [["n"], ["b", "*", ["v", "n"], ["n", 2]]]}


@pytest.mark.parametrize("condition", [b"ifndef SMALL", b"if !defined(SMALL)", b"if (!defined SMALL)"])
def test_a_branch_for_the_absence_of_a_macro_is_not_read(condition: bytes) -> None:
    code = b"#%b\n#define SIZE 64\n#else\n#define SIZE 8\n#endif\nvoid f(void) { free(malloc(SIZE)); }\n" % condition

    def size(*defines: str) -> Any:
        model = summarize(code, language="c/cpp", header=False, test=False, path="a.c", defines=defines)
        return model["macros"]["SIZE"] if model is not None else None

    assert (size(), size("SMALL"), size("OTHER=1")) == (["n", 64], ["n", 8], ["n", 64])


@pytest.mark.parametrize(
    "definition",
    [
        BASE,
        b"#define CASE(n) case n: go(); break\n",
        b"#define JOIN(a, b) a ## b ## _c\n",
        b"#define LONG(a) do { " + b"go(a); " * 200 + b"} while (0)\n",
    ],
)
def test_what_cannot_be_read_by_itself_is_unknown(definition: bytes) -> None:
    assert macros_of(definition) == {}


def test_names_of_parameters_become_literals_and_pasted_arguments_stay() -> None:
    assert without_operators(b"say(#a, f, ## __VA_ARGS__)", (b"a", b"f", b"...")) == b'say("", f, __VA_ARGS__)'


def test_a_macro_that_names_itself_is_expanded_a_few_times() -> None:
    texts = {"M": ((b"a",), b"{ M(a); }")}

    assert with_expansions(b"M(1)", texts) == b"{ { { { M(1); }; }; }; }"


def test_commas_in_parentheses_and_literals_separate_no_arguments() -> None:
    texts = {"M": ((b"a", b"b"), b"{ a; b; }")}

    assert with_expansions(b'M(f(1, 2), ",")', texts) == b'{ f(1, 2); ","; }'
