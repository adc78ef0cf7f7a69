"""`jarvis config init` and `edit`: the file jarvis.yaml of a directory."""

import os
import stat
from pathlib import Path

import pytest
import yaml

from tests.cli.commands import Jarvis
from tests.cli.terminal import ENTER, at_terminal


@pytest.fixture
def editor(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that replaces the file with the content of `text`."""
    program, text = jarvis.place.parent / "editor", jarvis.place.parent / "text"
    program.write_text(f'#!/bin/sh\nfor file; do :; done\ncp {text} "$file"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(program))
    return text


def test_init_writes_a_model_group_without_a_key(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-of-the-environment")
    ended = jarvis("config", "init", "--model", "m", "--base-url", "http://localhost:1/v1", "--key-env", "MY_KEY")

    text = (jarvis.place / "jarvis.yaml").read_text()
    assert (ended.code, ended.out, ended.err) == (0, "wrote jarvis.yaml; check it with: jarvis doctor\n", "")
    group = {"model": "m", "base_url": "http://localhost:1/v1", "api_key_env": "MY_KEY"}
    assert yaml.safe_load(text) == {"model_group": "default", "models": {"default": group}}
    assert "sk-secret" not in text


def test_init_overwrites_nothing(jarvis: Jarvis) -> None:
    (jarvis.place / "jarvis.yaml").write_text("processes: 1\n")
    ended = jarvis("config", "init", "--model", "m")

    assert ended.line == "jarvis: jarvis.yaml exists; change it with: jarvis config edit"
    assert (jarvis.place / "jarvis.yaml").read_text() == "processes: 1\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "not a terminal; give --model"),
        (("--model", ""), "model is '', should have at least 1 character"),
        (("--model", "m", "--base-url", "here"), "base_url is 'here', should start with http:// or https://"),
        (("--model", "m", "--key-env", "sk-123456"), "the key variable should be the name of an environment variable"),
    ],
)
def test_init_refuses_what_cannot_be_used(jarvis: Jarvis, options: tuple[str, ...], says: str) -> None:
    ended = jarvis("config", "init", *options)

    assert ended.code == 2
    assert says in ended.line
    assert not (jarvis.place / "jarvis.yaml").exists()


@pytest.mark.slow
@pytest.mark.timing
def test_init_asks_at_a_terminal(jarvis: Jarvis) -> None:
    with at_terminal(jarvis.place, "config", "init", environ=os.environ) as terminal:
        for question, answer in (("server", ""), ("Model", "m"), ("Variable", "")):
            terminal.wait_for(question)
            terminal.type(answer + ENTER)
        terminal.wait_for("wrote jarvis.yaml")
        assert terminal.wait() == 0

    group = yaml.safe_load((jarvis.place / "jarvis.yaml").read_text())["models"]["default"]
    assert group == {"model": "m", "base_url": "https://api.openai.com/v1"}


def test_edit_says_that_the_editor_failed(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    (jarvis.place / "jarvis.yaml").write_text("proceses: 2\n")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "false")
    ended = jarvis("config", "edit")

    assert (ended.code, ended.out, ended.line) == (2, "", "jarvis: false: the editor failed (exit code 1)")


def test_edit_opens_the_editor_and_checks_the_file(jarvis: Jarvis, editor: Path) -> None:
    assert "create it with: jarvis config init" in jarvis("config", "edit").line
    (jarvis.place / "jarvis.yaml").write_text("")
    editor.write_text("processes: 2\n")
    valid = jarvis("config", "edit")
    editor.write_text("proceses: 2\n")
    wrong = jarvis("config", "edit")

    assert (valid.code, valid.out) == (0, "jarvis.yaml is valid\n")
    assert (wrong.code, wrong.line) == (
        2,
        'jarvis: jarvis.yaml:1: unknown setting "proceses" (did you mean "processes"?)',
    )
