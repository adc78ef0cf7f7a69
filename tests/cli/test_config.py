"""`jarvis config show`, as a user sees it."""

import json

import pytest

from jarvis_cli.main import run
from tests.support.settings_files import write_settings


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def test_each_setting_is_shown_with_its_place(here, capsys):
    (here / "jarvis.yaml").write_text("processes: 3\nscan: {use_ignore_files: false}\n")

    assert run(["config", "show"]) == 0

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["processes", "3", "jarvis.yaml"] in lines
    assert ["scan.use_ignore_files", "no", "jarvis.yaml"] in lines
    assert ["lease_seconds", "30", "default"] in lines
    assert ["broker_url", "-", "default"] in lines


def test_as_json_values_keep_their_types_and_secrets_are_hidden(here, capsys):
    write_settings(here, {"broker_url": "redis://:word@localhost"})

    assert run(["config", "show", "--json"]) == 0

    rows = {row["setting"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["broker_url"] == {"setting": "broker_url", "value": "redis://:***@localhost", "from": "jarvis.yaml"}
    assert rows["scan.languages"]["value"] == ["c/cpp", "rust"]


def test_a_wrong_setting_is_one_line_and_exit_2(here, capsys):
    (here / "jarvis.yaml").write_text("brokr_url: x\n")

    assert run(["config", "show"]) == 2

    assert (
        capsys.readouterr().err == 'jarvis: jarvis.yaml:1: unknown setting "brokr_url" (did you mean "broker_url"?)\n'
    )


def test_a_scan_says_which_file_of_the_directory_changes_what_is_scanned(jarvis):
    tree = jarvis.tree("tree", {"a.c": "int a;\n"})
    scan = ("sec", "fast", "-p", tree)
    (jarvis.place / "jarvis.yaml").write_text("processes: 1\nscan: {batch_files: 10}\n")
    assert "depends on" not in jarvis(*scan).err
    (jarvis.place / "jarvis.yaml").write_text("scan: {languages: [rust]}\nrules: {disable: [unsafe_api]}\n")
    (jarvis.place / "pyproject.toml").write_text("[tool.jarvis.report]\nmin_confidence = 0.9\n")

    first = jarvis(*scan, "--min-confidence", "0.1").err.splitlines()[0]

    says = "jarvis: settings in this directory change the scope of the scan: jarvis.yaml sets "
    assert first == says + "scan.languages, rules.disable"
    assert "; pyproject.toml [tool.jarvis] sets report.min_confidence" in jarvis(*scan).err
    assert "depends on" not in jarvis(*scan, "-q").err
