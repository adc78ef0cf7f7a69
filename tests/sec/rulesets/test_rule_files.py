"""Rule files are data from outside: what is wrong with them is one line that says where."""

import os
import re

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.rules.custom import custom_rule
from jarvis_workers.sec.rulesets.rule_files import read_rules, rule_files
from jarvis_workers.source.safe_regex import is_linear_here

RULE = {
    "id": "own",
    "language": "c/cpp",
    "category": "input_validation",
    "cwe": "117",
    "confidence": "0.7",
    "calls": "[old_log]",
    "message": "Writes text that the caller controls.",
    "suggestion": "Use log_write.",
}


def row(**changes):
    said = {name: value for name, value in {**RULE, **changes}.items() if value is not None}
    return "- " + "\n  ".join(f"{name}: {value}" for name, value in said.items()) + "\n"


def write(place, text, name="own.yaml"):
    file = place / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refused(place, text):
    with pytest.raises(UsageError) as problem:
        read_rules([write(place, text)])
    message = str(problem.value)
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 600
    return message.removeprefix(f"{place}/own.yaml")


def test_a_file_is_a_list_of_rules_under_their_name_or_bare(tmp_path):
    bare, named = write(tmp_path, row()), write(tmp_path, "rules:\n" + row(id="other"), "other.yaml")

    rules = read_rules([bare, named])

    assert [rule["id"] for rule in rules] == ["own", "other"]
    assert all(custom_rule(rule).calls == ("old_log",) for rule in rules)


def test_the_files_of_a_directory_are_read_in_order_and_others_left(tmp_path):
    for name in ("b.yml", "a.yaml", "readme.md"):
        write(tmp_path, "[]", name)

    assert rule_files([tmp_path, tmp_path / "." / "a.yaml"]) == [tmp_path / "a.yaml", tmp_path / "b.yml"]


def test_what_is_left_out_and_what_is_short_is_filled_in(tmp_path):
    text = row(argument="{index: 1, literal: false}", argument_count=2, not_in_tests="true")

    (rule,) = read_rules([write(tmp_path, text)])

    assert rule["argument"] == [{"index": 1, "literal": False}]
    assert rule["argument_count"] == {"min": 2, "max": 2}
    assert rule["not_in_tests"] is True
    assert "words" not in rule


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sugestion": "x"}, ': rule "own": unknown key "sugestion" (did you mean "suggestion"?)'),
        ({"message": None, "mesage": "x"}, ': rule "own": unknown key "mesage" (did you mean "message"?)'),
        ({"cwe": None}, ': rule "own": "cwe" is missing'),
        ({"id": None}, ': rule 1: "id" is missing'),
        ({"id": "Own-Rule"}, ': rule "Own-Rule": "id" is \'Own-Rule\': should match [a-z][a-z0-9_]{1,63}'),
        ({"id": "unsafe_api"}, ': rule "unsafe_api" is the id of a built-in rule; choose another'),
        ({"confidence": "0.99"}, ': rule "own": "confidence" is 0.99: should be at most 0.95'),
        ({"confidence": "high"}, ': rule "own": "confidence" is \'high\': should be a number'),
        ({"language": "cobol"}, ": rule \"own\": \"language\" is 'cobol': should be 'c/cpp' or 'rust'"),
        ({"calls": "['a b']"}, ': rule "own": "calls.0" is \'a b\': should match [A-Za-z_][A-Za-z0-9_]{0,127}'),
        ({"calls": '["f\\n"]'}, ': rule "own": "calls.0" is '),
        ({"calls": None}, ': rule "own": should have either calls or words'),
        ({"words": "[x]"}, ': rule "own": should have either calls or words'),
        ({"bad": '"a\\e[2Jb"'}, ': rule "own": "bad" is '),
        ({"message": '"a\\e[2Jb"'}, ': rule "own": "message" is '),
        ({"argument": "{index: 0, literal: true}"}, ': rule "own": "argument.0.index" is 0: should be at least 1'),
        ({"argument": "{index: 1}"}, ': rule "own": "argument.0" is '),
        ({"argument_count": "{}"}, ': rule "own": "argument_count" is {}: should have min or max'),
        ({"calls": None, "words": "[x]", "argument_count": "1"}, ': rule "own": a condition on arguments needs calls'),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(tmp_path, changes, says):
    message = refused(tmp_path, row(**changes))

    assert re.sub(r"^:\d+", "", message).startswith(says)


def test_the_line_of_a_problem_is_named(tmp_path):
    rules = row(id="first") + row(
        argument="\n    - index: 1\n      literal: true\n    - index: 99\n      literal: true"
    )

    assert refused(tmp_path, rules).startswith(':20: rule "own": "argument.1.index" is 99')
    assert refused(tmp_path, "rules:\n" + rules).startswith(':21: rule "own": "argument.1.index" is 99')
    assert refused(tmp_path, row() + row(cwe=None)).startswith(':9: rule "own": "cwe" is missing')


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("3", ': expected a list of rules under the key "rules"'),
        ("rules: {}", ': expected a list of rules under the key "rules"'),
        ("- 3", ":1: rule 1: should be a mapping of names to values"),
        ("a: [b", ":1: expected ',' or ']'"),
        ("!!python/object/apply:os.system [ls]", ":1: could not determine a constructor"),
        (row() + "  cwe: 3\n", ':9: "cwe" occurs twice'),
        ("- &a [x]\n- *a\n", ":2: YAML aliases are not allowed"),
        ("[" * 5_000, ": cannot be read as YAML: "),
        (b"- \xff", " is not UTF-8 (byte 2)"),
        ("#" * 70_000, " is larger than 64 KB; split it"),
        ("- {}\n" * 501, ": 501 rules, limit 500"),
        ("a: \x1b[2J", ": cannot be read as YAML: "),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path, text, says):
    assert refused(tmp_path, text).startswith(says)


@pytest.mark.parametrize("text", ["sesame\n", "key: sesame\n", "rules: sesame\n", "rules: {sesame: 1}\n"])
def test_the_content_of_a_file_without_rules_is_not_shown(tmp_path, text):
    assert refused(tmp_path, text) == ': expected a list of rules under the key "rules"'


def test_a_regular_expression_is_checked_where_it_can_be_used(tmp_path):
    text = row(argument="{index: 1, regex: '(?=a)'}")

    message = refused(tmp_path, text)

    assert message.startswith(':9: rule "own": "argument.0.regex" is ')
    assert ("invalid perl operator" if is_linear_here() else "needs google-re2") in message


def test_rules_that_stand_twice_or_are_too_many_are_refused(tmp_path):
    files = [write(tmp_path, row(), name) for name in ("a.yaml", "b.yaml")]
    with pytest.raises(UsageError, match=r'b\.yaml: rule "own" is also in .*a\.yaml'):
        read_rules(files)

    many = [
        write(
            tmp_path,
            "".join(row(id=f"r{number}", calls="[f]", message="m", suggestion="s") for number in numbers),
            name,
        )
        for name, numbers in (("c.yaml", range(300)), ("d.yaml", range(300, 501)))
    ]
    with pytest.raises(UsageError, match=r"d\.yaml: more than 500 rules in total"):
        read_rules(many)


def test_too_many_names_are_refused(tmp_path):
    names = "[" + ", ".join(f"f{number}" for number in range(200)) + "]"
    files = [write(tmp_path, row(id=f"r{number}", calls=names), f"{number}.yaml") for number in range(6)]

    assert len(read_rules(files[:5])) == 5
    with pytest.raises(UsageError, match=r"5\.yaml: more than 1,000 names in total"):
        read_rules(files)


def test_what_is_no_file_does_not_keep_anybody_waiting(tmp_path):
    os.mkfifo(tmp_path / "own.yaml")

    with pytest.raises(UsageError, match="is not a regular file"):
        read_rules([tmp_path / "own.yaml"])
    with pytest.raises(UsageError, match="No such file"):
        rule_files([tmp_path / "gone"])
