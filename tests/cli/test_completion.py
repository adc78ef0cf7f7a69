"""Completion of values: what there is, by how it begins, and never an error."""

import pytest

from jarvis_cli.kit import completion
from jarvis_workers.errors import SettingsError
from jarvis_workers.sec.commands import rule_completion
from jarvis_workers.sec.report import FORMATS


def values(found):
    return [value for value, _ in found]


def test_rules_categories_and_formats_are_completed() -> None:
    assert "unsafe_api" in values(rule_completion.rules("unsafe_a"))
    assert values(rule_completion.rules("atoi_family,unsafe_a")) == ["atoi_family,unsafe_api"]
    assert values(rule_completion.categories("crypt")) == ["crypto"]
    assert values(completion.formats("s")) == ["sarif"]
    assert values(completion.formats("")) == list(FORMATS)
    assert values(completion.severities("")) == ["high", "medium", "low"]


def test_settings_and_runs_are_completed(jarvis) -> None:
    run = jarvis.submit(jarvis.tree("tree", {"a.c": "int x;\n"}), paused=True)

    assert values(completion.settings("report.")) == ["report.min_confidence", "report.source_url"]
    assert values(completion.runs(run[:3])) == [run]
    assert values(completion.runs("la")) == ["last"]


def test_a_completion_that_fails_is_none(jarvis) -> None:
    (jarvis.place / "jarvis.yaml").write_text("brokr_url: x\n")
    with pytest.raises(SettingsError):
        _ = jarvis.settings

    assert completion.runs("") == []
    assert completion.settings("") == []


def test_the_shell_is_given_what_completes(jarvis, monkeypatch) -> None:
    monkeypatch.setenv("_JARVIS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "jarvis sec explain unsafe_a")
    monkeypatch.setenv("COMP_CWORD", "3")

    with pytest.raises(SystemExit):
        jarvis()
