"""`jarvis doctor`, as a user sees it."""

import json

import pytest

from jarvis_cli.main import run


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def test_a_machine_that_can_run_passes(capsys):
    assert run(["doctor"]) == 0

    shown = capsys.readouterr().out
    assert "✓ store" in shown
    assert "jarvis.db" in shown


def test_a_store_that_cannot_be_used_fails_with_a_remedy(monkeypatch, capsys):
    monkeypatch.setenv("JARVIS_STORE_URL", "nonsense")

    assert run(["doctor"]) == 2

    shown = capsys.readouterr().out
    assert "✗ store" in shown
    assert "→ set JARVIS_STORE_URL" in shown


def test_as_json_each_check_is_an_object(capsys):
    assert run(["doctor", "--json"]) == 0

    checks = json.loads(capsys.readouterr().out)
    assert {"name", "state", "says", "remedy"} == set(checks[0])
