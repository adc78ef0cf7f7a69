"""Patterns of calls are parsed as users of semgrep write them; other text is refused with what to write."""

import time

import pytest

from jarvis_workers.source.call_patterns import CallPattern, ConditionPattern, parse_call, parse_condition


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("f()", CallPattern("f", "", ())),
        ("f(...)", CallPattern("f", "", ("...",))),
        (" read_packet ( $BUF , ... ) ", CallPattern("read_packet", "", ("$BUF", "..."))),
        (
            'f($X, "a, b", "...", -1, 0x1F, NULL, MODE)',
            CallPattern("f", "", ("$X", '"a, b"', '"..."', "-1", "0x1F", "NULL", "MODE")),
        ),
        ("net::Socket::read($BUF)", CallPattern("net::Socket::read", "", ("$BUF",))),
        ("std::getenv($NAME)", CallPattern("getenv", "", ("$NAME",))),
        ("$REQUEST->header($NAME)", CallPattern("header", "$REQUEST", ("$NAME",))),
        ("$REQUEST.header()", CallPattern("header", "$REQUEST", ())),
    ],
)
def test_a_call_is_parsed(text, pattern):
    assert parse_call(text) == pattern


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "should be one call, such as read_packet"),
        ("read_packet", "should be one call"),
        ("$F($X)", "should be one call"),
        ("f($X); g($Y)", "argument 1 should be"),
        ("x = f($X)", "should be one call"),
        ("f(a) + g(b)", "argument 1 should be"),
        ("f($x)", "argument 1 should be a metavariable such as $BUF"),
        ("f($X,)", "argument 2 should be"),
        ("f($X $Y)", "argument 1 should be"),
        ("f(g($X))", "argument 1 should be"),
        ("f(08)", "argument 1 should be"),
        ("f(" + ", ".join(["$X"] * 17) + ")", "at most 16 arguments"),
        ("f(..., $X, ..., $Y, ...)", "at most 2 times ..."),
        ("f(" + "(" * 500 + ")", "at most 400 characters"),
    ],
)
def test_other_text_is_refused(text, says):
    with pytest.raises(ValueError, match=says.replace("$", r"\$")):
        parse_call(text)


@pytest.mark.parametrize(
    ("text", "op", "number"),
    [
        ("if (check($X))", "!=", 0),
        ("if(!check($X))", "==", 0),
        ("if (check($X) == 0)", "==", 0),
        ("if (check($X) != NULL)", "!=", 0),
        ('if (check($X, "a") >= -1 )', ">=", -1),
    ],
)
def test_a_condition_is_parsed(text, op, number):
    condition = parse_condition(text)

    assert isinstance(condition, ConditionPattern)
    assert (condition.call.name, condition.op, condition.number) == ("check", op, number)


def test_a_call_is_no_condition():
    assert parse_condition("iffy($X)") is None


@pytest.mark.parametrize("text", ["if check($X)", "if (!check($X) == 0)", "if (check($X) == $Y)", "if (x)"])
def test_a_condition_of_another_form_is_refused(text):
    with pytest.raises(ValueError, match="should be"):
        parse_condition(text)


@pytest.mark.parametrize("text", ["f(" + "$A," * 130 + ")", "if (" + "(" * 390, "a::" * 130 + "b(", "f(" + '"' * 395])
def test_hostile_text_takes_no_time(text):
    began = time.perf_counter()
    with pytest.raises(ValueError, match="should"):
        parse_condition(text) or parse_call(text)

    assert time.perf_counter() - began < 0.5
