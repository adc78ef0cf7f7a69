"""The rules of a run travel as data, or as the fingerprint of an installed package."""

import sys

import pytest

from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.stages.ruleset import RuleSet, conditions_of, installed, rules_of
from tests.support.installed import forget, install

OWN = {
    "id": "own",
    "language": "c/cpp",
    "category": "crypto",
    "cwe": 1,
    "confidence": 0.5,
    "message": "No.",
    "suggestion": "Yes.",
    "calls": ["f"],
}


@pytest.fixture(autouse=True)
def fresh_modules():
    yield
    forget(sys.modules)()


def ids(rules):
    return [rule.pattern for rule in rules]


def test_the_built_in_rules_alone_need_no_blob():
    assert RuleSet().encode() is None
    assert rules_of(None) is RULES


def test_a_blob_brings_a_projects_rules_and_leaves_others_out():
    content = RuleSet(off=(RULES[0].pattern,), project=(OWN,)).encode()

    assert ids(rules_of(content)) == [*ids(RULES[1:]), "own"]
    assert content == RuleSet((RULES[0].pattern,), (dict(reversed(OWN.items())),)).encode()


def test_what_is_to_be_verified_is_known_of_built_in_rules_and_of_a_projects():
    own = {"id": "own_one", "verification": "the key leaves the process"}
    content = RuleSet(project=(own, {"id": "own_two"})).encode()

    assert conditions_of(None) == {rule.pattern: rule.verification for rule in RULES}
    assert conditions_of(content).items() >= {"own_one": "the key leaves the process", "own_two": ""}.items()


@pytest.mark.parametrize("value", ["house_rules:RULES", "house_rules:rules"])
def test_rules_of_a_package_come_from_a_tuple_or_a_function(tmp_path, monkeypatch, value):
    monkeypatch.syspath_prepend(install(tmp_path, value))

    (package,) = installed()

    assert (package.name, ids(package.rules)) == ("house", ["house_rule"])
    assert ids(rules_of(RuleSet(packages={"house": package.fingerprint}).encode())) == [*ids(RULES), "house_rule"]


def test_a_worker_without_the_package_says_so(tmp_path, monkeypatch):
    content = RuleSet(packages={"house": "0123456789abcdef"}).encode()

    with pytest.raises(StepFailed, match=r'"house" .* is not installed on this worker'):
        rules_of(content)

    monkeypatch.syspath_prepend(install(tmp_path))
    with pytest.raises(StepFailed, match=r'"house" .* a different version on this worker'):
        rules_of(content)


def test_the_fingerprint_changes_with_rows_and_with_code(tmp_path, monkeypatch):
    seen = set()
    for number, said in enumerate(({}, {"confidence": 0.8}, {"call": "other"})):
        with monkeypatch.context() as patch:
            patch.syspath_prepend(install(tmp_path / str(number), **said))
            seen.add(installed()[0].fingerprint)
        forget(sys.modules)()

    assert len(seen) == 3


@pytest.mark.parametrize(
    ("value", "code", "says"),
    [
        ("no_such_module:RULES", "", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("house_rules:RULES", "", "cannot be loaded: AttributeError: "),
        ("house_rules:RULES", "raise ValueError('out of\\norder')", "cannot be loaded: ValueError: out of order;"),
        ("house_rules:RULES", "RULES = 3", "cannot be loaded: TypeError: "),
        ("house_rules:RULES", "RULES = ('x',)", "provides a str, expected rows of jarvis_workers.sec.rules.Rule"),
        ("house_rules:RULES", "from jarvis_workers.sec.rules import RULES", "is the id of a built-in rule"),
    ],
)
def test_a_package_that_does_not_load_is_one_line(tmp_path, monkeypatch, value, code, says):
    monkeypatch.syspath_prepend(install(tmp_path, value, code))

    with pytest.raises(UsageError) as problem:
        installed()

    message = str(problem.value)
    assert message.startswith(f'entry point "house" (jarvis_workers.rules, {value})')
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("said", "says"), [({"id": "No such"}, "is not a valid id"), ({"id": "x" * 65}, "is not a valid id")]
)
def test_a_row_that_cannot_stand_in_a_report_is_refused(tmp_path, monkeypatch, said, says):
    monkeypatch.syspath_prepend(install(tmp_path, **said))

    with pytest.raises(UsageError, match=says):
        installed()


def test_a_row_without_a_check_is_refused(tmp_path, monkeypatch):
    code = "from jarvis_workers.sec.rules import RULES\nRULES = [RULES[0]._replace(pattern='mine', check=None)]\n"
    monkeypatch.syspath_prepend(install(tmp_path, code=code))

    with pytest.raises(UsageError, match='rule "mine" has no check'):
        installed()


def test_a_row_for_another_language_is_refused(tmp_path, monkeypatch):
    code = install(tmp_path / "a").joinpath("house_rules.py").read_text().replace("c/cpp", "cobol")
    monkeypatch.syspath_prepend(install(tmp_path / "b", code=code))

    with pytest.raises(UsageError, match='"cobol" is not c/cpp or rust'):
        installed()
