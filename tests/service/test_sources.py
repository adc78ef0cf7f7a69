"""What `-p` can name."""

import os
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.service.sources import ADDRESS, open_source


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two commits; the first is tagged `old`, and a hook waits in it."""
    place = tmp_path / "repo"
    place.mkdir()
    for number, (text, tag) in enumerate((("int a;\n", "old"), ("int b;\n", "new"))):
        (place / "a.c").write_text(text)
        commands = (["init", "-q"], ["add", "-A"], ["commit", "-qm", str(number)], ["tag", tag])
        for command in commands if number == 0 else commands[1:]:
            git(place, *command)
    return place


def git(place: Path, *command: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x"}
    done = subprocess.run(
        ["git", "-C", place, *command], env=os.environ | who, capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


def test_a_directory_is_itself(tmp_path: Path) -> None:
    with open_source(str(tmp_path)) as source:
        assert source == (tmp_path, os.fsencode(tmp_path))


def test_a_revision_is_fetched_named_by_its_commit_and_deleted_afterwards(repository: Path) -> None:
    with open_source(f"file://{repository}@old") as source:
        assert (source.path / "a.c").read_text() == "int a;\n"
        assert source.root.decode() == f"file://{repository}@{git(repository, 'rev-parse', 'old')}"
    assert not source.path.exists()


def test_without_a_revision_it_is_the_newest(repository: Path) -> None:
    with open_source(f"file://{repository}") as source:
        assert (source.path / "a.c").read_text() == "int b;\n"


@pytest.mark.parametrize(
    ("named", "url", "revision"),
    [
        ("https://host/a/b.git", "https://host/a/b.git", None),
        ("https://host/a/b.git@v1.2", "https://host/a/b.git", "v1.2"),
        ("ssh://git@host/a/b@feature/x", "ssh://git@host/a/b", "feature/x"),
        ("ssh://git@host/a/b", "ssh://git@host/a/b", None),
        ("git@host:a/b.git@main", "git@host:a/b.git", "main"),
    ],
)
def test_an_address_is_parted_from_its_revision(named: str, url: str, revision: str | None) -> None:
    match = ADDRESS.match(named)

    assert match
    assert (match["url"], match["revision"]) == (url, revision)


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("https://me:secret@host/a.git", "JARVIS_GIT_TOKEN"),
        ("https://token@host/a.git", "JARVIS_GIT_TOKEN"),
        ("file:///nowhere/at/all@main", "git: fatal: "),
        ("file:///tmp@--upload-pack=x", "is not a revision"),
    ],
)
def test_what_cannot_be_had_is_one_line_without_secrets(named: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as problem, open_source(named):
        pass
    assert "secret" not in str(problem.value)
    assert "\n" not in str(problem.value)


def test_the_token_reaches_git_in_its_environment_alone(tmp_path: Path, repository: Path) -> None:
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    spy.write_text(f'#!/bin/sh\nenv > {tmp_path}/env; echo "$@" >> {tmp_path}/args; exit 1\n')
    spy.chmod(0o755)
    environ = {"PATH": f"{spy.parent}:{os.environ['PATH']}", "JARVIS_GIT_TOKEN": "hush", "OPENAI_API_KEY": "other"}

    with pytest.raises(UsageError), open_source("https://host.example/a.git", environ):
        pass
    assert "hush" not in (tmp_path / "args").read_text()
    assert "http.https://host.example/.extraHeader" in (tmp_path / "env").read_text()
    assert "other" not in (tmp_path / "env").read_text()
