"""Marks in examples are compared with what fires, line by line."""

import pytest

from jarvis_workers.sec.examples import Failure, try_examples, try_own
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Scanner

SCANNER = Scanner()


def failures(code, *subjects, language="c/cpp"):
    return list(try_examples(SCANNER, code.encode(), language, subjects).failures)


def test_a_mark_speaks_of_its_own_line_or_of_the_next_with_code():
    code = """\
void f(void)
{
    strcpy(a, b); // ruleid: unsafe_api
    // ruleid: unsafe_api
    // ok: atoi_family

    gets(c);
    /* ok: unsafe_api */ strncpy(a, b, 2);
}
"""
    tried = try_examples(SCANNER, code.encode(), "c/cpp")

    assert tried.failures == ()
    assert (tried.marks, tried.rules) == (4, {"unsafe_api", "atoi_family"})


def test_what_is_missed_or_unexpected_is_named_by_line():
    code = "void f(void)\n{\nx(a); // ruleid: unsafe_api, atoi_family\ngets(a); // ok: unsafe_api\ngets(b);\n}\n"

    assert failures(code) == [
        Failure(3, "atoi_family", "missed"),
        Failure(3, "unsafe_api", "missed"),
        Failure(4, "unsafe_api", "unexpected"),
        Failure(5, "unsafe_api", "unexpected"),
    ]


def test_rules_that_nobody_marks_are_left_alone_unless_they_are_the_subject():
    code = "void f(void)\n{\n    gets(a);\n}\n"

    assert failures(code) == []
    assert failures(code, "unsafe_api") == [Failure(3, "unsafe_api", "unexpected")]


def test_what_is_still_to_do_holds_nothing():
    code = "void f(void)\n{\n    x(a); // todoruleid: unsafe_api\n    gets(b); // todook: unsafe_api\n}\n"

    assert failures(code) == []


def test_a_mark_in_a_string_is_none_and_an_unknown_rule_fails():
    code = 'char *s = "ruleid: unsafe_api";\nint i; // ruleid: unsafe_apy\nint j; // ok: whatever\n'

    assert failures(code) == [Failure(2, "unsafe_apy", "unknown rule")]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.pattern)
def test_the_examples_that_a_rule_carries_hold(rule):
    assert try_own(rule) == []


def test_examples_that_do_not_hold_are_told():
    rule = RULES_BY_PATTERN["unsafe_api"]

    assert try_own(rule._replace(bad="int i;")) == [
        "the rule does not fire on its bad example",
    ]
    assert try_own(rule._replace(good=rule.bad)) == [
        "the rule fires on its good example with at least the confidence of the bad one"
    ]
    assert try_own(rule._replace(bad="", good="")) == []
