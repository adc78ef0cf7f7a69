"""The rules that there are, and those that a run uses."""

import sys

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.rulesets.rule_tests import try_files
from jarvis_workers.sec.rulesets.rulebook import Rulebook, choose, open_rulebook
from jarvis_workers.sec.stages.options import RuleFacts
from jarvis_workers.sec.stages.ruleset import rules_of
from jarvis_workers.settings import RulesSettings
from tests.support.installed import forget, install

OWN = "- {id: %s, language: rust, category: crypto, cwe: 1, confidence: 0.5, words: [x], message: m, suggestion: s}\n"


@pytest.fixture(autouse=True)
def fresh_modules():
    yield
    forget(sys.modules)()


def test_the_built_in_rules_alone_need_neither_blob_nor_options():
    chosen = choose(Rulebook(RULES), RulesSettings())

    assert (chosen.rules, chosen.content, chosen.facts) == (RULES, None, RuleFacts())


def test_severities_alone_need_no_blob():
    chosen = choose(Rulebook(RULES), RulesSettings(severity={"unsafe": "high"}))

    assert (chosen.content, chosen.facts) == (None, RuleFacts(severity={"unsafe": "high"}))


def test_workers_make_of_the_blob_the_rules_that_were_chosen(tmp_path, monkeypatch):
    (tmp_path / "own.yaml").write_text(OWN % "own" + OWN % "other")
    monkeypatch.syspath_prepend(install(tmp_path / "site"))
    book = open_rulebook([tmp_path])

    chosen = choose(book, RulesSettings(disable=("other",)), ["unsafe_api"])

    patterns = [rule.pattern for rule in chosen.rules]
    assert [rule.pattern for rule in rules_of(chosen.content)] == patterns
    assert {"own", "house_rule"} < set(patterns)
    assert not {"other", "unsafe_api"} & set(patterns)
    assert chosen.facts.project == ["own"]
    assert chosen.facts.off == ["other", "unsafe_api"]


def test_a_rule_that_a_package_and_a_file_give_is_refused(tmp_path, monkeypatch):
    (tmp_path / "own.yaml").write_text(OWN % "house_rule")
    monkeypatch.syspath_prepend(install(tmp_path / "site"))

    with pytest.raises(UsageError, match='rule "house_rule" is defined twice'):
        open_rulebook([tmp_path / "own.yaml"])


def test_an_example_is_small_and_can_be_read(tmp_path):
    example = tmp_path / "a.c"
    example.write_bytes(b"\n" * 4_000_001)

    with pytest.raises(UsageError, match=r"a\.c is larger than 4 MB"):
        try_files(Rulebook(RULES), example)
