"""Taint rules in files: what is wrong with one is a line with file, line and what to write instead."""

import json
import time
from pathlib import Path

import pytest
import yaml

from jarvis_workers.dataflow.calls.taint_rules import taint_rule
from jarvis_workers.errors import UsageError
from jarvis_workers.sec.examples import try_own
from jarvis_workers.sec.rules.custom import custom_rule
from jarvis_workers.sec.rulesets.rule_files import read_rules
from jarvis_workers.sec.rulesets.rule_tests import rules_in, try_files
from jarvis_workers.sec.rulesets.rulebook import open_rulebook
from tests.support.machine import assert_cpu_within

EXAMPLES = Path(__file__).parents[2] / "data" / "taint"
RULE = {
    "id": "own",
    "mode": "taint",
    "language": "c/cpp",
    "category": "input_validation",
    "cwe": 89,
    "confidence": 0.8,
    "message": "Text from a packet becomes part of a statement.",
    "suggestion": "Escape it.",
    "sources": [{"pattern": "read_packet($BUF, ...)", "focus": "$BUF"}],
    "sinks": [{"pattern": "run_query($DB, $SQL)", "focus": "$SQL"}],
}


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def write(place, *rules, name="own.yaml"):
    file = place / name
    file.write_text(yaml.dump({"rules": list(rules)}, Dumper=Dumper, sort_keys=False))
    return file


def refused(place, **changes):
    row = {name: value for name, value in {**RULE, **changes}.items() if value is not None}
    file = write(place, row)
    with pytest.raises(UsageError) as problem:
        read_rules([file])
    message = str(problem.value)
    assert message.isprintable()
    assert len(message) < 600
    return message.removeprefix(f"{file}:")


def test_the_marked_examples_come_out_as_marked():
    result = try_files(open_rulebook(rules_in(EXAMPLES)), EXAMPLES)

    assert result.failures == []
    assert result.summary.endswith("marks of 2 rules in 2 files")


def test_a_rule_is_tried_on_its_own_examples(tmp_path):
    bad = "read_packet(name, 8);\nrun_query(db, name);\n"
    file = write(tmp_path, {**RULE, "bad": bad, "good": "run_query(db, name);\n"})
    wrong = write(tmp_path, {**RULE, "bad": "run_query(db, name);\n"}, name="wrong.yaml")

    (rule,), (silent,) = (list(map(custom_rule, read_rules([one]))) for one in (file, wrong))

    assert try_own(rule) == []
    assert try_own(silent) == ["the rule does not fire on its bad example"]


def test_a_rule_is_read_as_data(tmp_path):
    sanitizers = [{"pattern": "escape($X)"}, {"pattern": "if (check($X) == 0)"}]
    propagators = [{"pattern": "join($TO, $FROM)", "from": "$FROM", "to": "$TO"}]

    (row,) = read_rules([write(tmp_path, {**RULE, "sanitizers": sanitizers, "propagators": propagators})])

    assert json.loads(json.dumps(row)) == {**RULE, "sanitizers": sanitizers, "propagators": propagators}
    assert taint_rule(row).names == {"read_packet", "run_query", "escape", "check", "join"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sources": None}, '2: rule "own": "sources" is missing'),
        ({"mode": None}, '2: rule "own": "mode" is missing'),
        ({"mode": "search"}, "3: rule \"own\": \"mode\" is 'search': should be 'taint'"),
        ({"language": "rust"}, "4: rule \"own\": \"language\" is 'rust': should be 'c/cpp'"),
        ({"sources": []}, '10: rule "own": "sources" is []: should have at least 1 item'),
        ({"sanitizers": []}, '16: rule "own": "sanitizers" is []: should have at least 1 item'),
        ({"sources": "f()"}, '10: rule "own": "sources" is \'f()\': should be a list'),
        ({"calls": ["f"]}, '16: rule "own": unknown key "calls"'),
        ({"sourcs": []}, '16: rule "own": unknown key "sourcs" (did you mean "sources"?)'),
        ({"sinks": [{"patern": "f()"}]}, '14: rule "own": unknown key "sinks.0.patern" (did you mean "pattern"?)'),
        ({"sinks": [{"pattern": "f"}]}, '14: rule "own": "sinks.0.pattern" is \'f\': should be one call, such as '),
        ({"sinks": [{"pattern": "if (f($X))"}]}, '14: rule "own": "sinks.0.pattern" is '),
        (
            {"sinks": [{"pattern": "f($X)"}, {"pattern": 3}]},
            '15: rule "own": "sinks.1.pattern" is 3: should be a string',
        ),
        ({"sinks": [{"pattern": "f($A, $B)", "focus": "$C"}]}, "focus: $C is not in the pattern; write one of $A, $B"),
        (
            {"sinks": [{"pattern": "f($A)", "focus": "returns"}]},
            "focus: returns is not in the pattern; write one of $A",
        ),
        ({"sources": [{"pattern": "f()", "focus": "$A"}]}, "focus: $A is not in the pattern; write one of returns"),
        ({"sinks": [{"pattern": "f()", "focus": "$A"}]}, "write a metavariable such as $X in it"),
        ({"sanitizers": [{"pattern": "if (f($A, $B))"}]}, "a condition needs a focus, such as focus: $X"),
        ({"sanitizers": [{"pattern": "if (f($A))", "focus": "returns"}]}, "focus: returns is not in the pattern"),
        ({"sanitizers": [{"pattern": "if (x)"}]}, "should be if (check($X)), if (!check($X)) or if (check($X) == 0)"),
        ({"propagators": [{"pattern": "f($A)", "from": "$A"}]}, '17: rule "own": "propagators.0.to" is missing'),
        ({"propagators": [{"pattern": "f($A)", "from": "$B", "to": "returns"}]}, "from: $B is not in the pattern"),
        ({"sinks": [{"pattern": "f($A)"}] * 101}, "should have at most 100 items"),
        ({"sinks": [{"pattern": "f(" + "(" * 5_000}]}, "should have at most 400 characters"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(tmp_path, changes, says):
    assert says in refused(tmp_path, **changes)


@pytest.mark.slow
def test_too_many_rules_and_patterns_are_refused_at_once(tmp_path):
    began = time.process_time()
    files = [write(tmp_path, {**RULE, "id": f"own_{number}"}, name=f"{number}.yaml") for number in range(51)]
    with pytest.raises(UsageError, match="more than 50 taint rules in total; remove some"):
        read_rules(files)
    sinks = [{"pattern": f"f{number}($A)"} for number in range(100)]
    files = [
        write(tmp_path, {**RULE, "id": f"own_{number}", "sinks": sinks}, name=f"{number}.yaml") for number in range(10)
    ]
    with pytest.raises(UsageError, match="more than 1,000 names in total; remove some"):
        read_rules(files)
    (tmp_path / "huge.yaml").write_text("rules:\n" + "- {id: a, mode: taint}\n" * 10_000)
    with pytest.raises(UsageError, match="is larger than 64 KB; split it"):
        read_rules([tmp_path / "huge.yaml"])

    assert_cpu_within(2, since=began)
