"""The user's editor is started with an argument list, whatever the file is called."""

import sys
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.editors import editor_command, open_editor


@pytest.mark.parametrize(
    ("environ", "command"),
    [
        ({"EDITOR": "vi"}, ["vi", "+7", "/src/a.c"]),
        ({"EDITOR": "vi", "VISUAL": "code --wait"}, ["code", "--wait", "--goto", "/src/a.c:7"]),
        ({"EDITOR": "/opt/my\\ editor/nano -w", "VISUAL": " "}, ["/opt/my editor/nano", "-w", "+7", "/src/a.c"]),
        ({"EDITOR": "hx"}, ["hx", "/src/a.c:7"]),
        ({"EDITOR": "clion"}, ["clion", "--line", "7", "/src/a.c"]),
    ],
)
def test_an_editor_is_asked_for_the_line_in_its_own_way(environ, command):
    assert editor_command(environ, Path("/src/a.c"), 7) == command


@pytest.mark.parametrize("name", ["-c !touch x.c", "a;touch x.c", "$(touch x).c", "{line}.c", "a\nb.c", "+7"])
def test_a_hostile_file_name_is_one_argument_and_no_option(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    command = editor_command({"EDITOR": "vi -R"}, Path(name), 7)

    assert command == ["vi", "-R", "+7", f"{tmp_path}/{name}"]


def test_an_editor_runs_and_one_that_is_not_there_is_one_line(tmp_path):
    script = tmp_path / "editor.py"
    script.write_text("import pathlib, sys; pathlib.Path(sys.argv[0]).with_name('seen').write_text(repr(sys.argv[1:]))")

    open_editor(editor_command({"EDITOR": f"{sys.executable} {script}"}, tmp_path / "a b.c", 3))

    assert (tmp_path / "seen").read_text() == repr(["+3", f"{tmp_path}/a b.c"])
    with pytest.raises(UsageError, match="no/such/editor: cannot be started: No such file"):
        open_editor(["no/such/editor"])
    with pytest.raises(UsageError, match="EDITOR='vi"):
        editor_command({"EDITOR": "'vi"}, tmp_path, 1)


@pytest.mark.parametrize(("script", "how"), [("exit 3", "exit code 3"), ("kill -9 $$", "signal 9")])
def test_an_editor_that_fails_is_one_line(tmp_path, script, how):
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o700)

    with pytest.raises(UsageError) as error:
        open_editor([str(editor)])

    assert str(error.value) == f"{editor}: the editor failed ({how})"
