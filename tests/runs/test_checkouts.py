"""The branch and commit of a working tree are read from its files, whatever these hold."""

import os
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.runs.checkouts import Checkout, read_checkout, read_remote

COMMIT = "a" * 40


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree/.git/refs/heads").mkdir(parents=True)
    (tmp_path / "tree/src").mkdir()
    return tmp_path / "tree"


def test_branch_and_commit_are_those_that_git_says(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        facts = {
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@b",
        }
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *arguments], env=os.environ | facts, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    git("init", "-q", "-b", "topic/x")
    assert read_checkout(tmp_path) == Checkout("topic/x", None)
    git("commit", "-q", "--allow-empty", "-m", "x")
    commit = git("rev-parse", "HEAD")
    (tmp_path / "src").mkdir()
    assert read_checkout(tmp_path / "src") == Checkout("topic/x", commit)
    git("pack-refs", "--all")
    git("worktree", "add", "-q", "-b", "other", "linked")
    assert read_checkout(tmp_path) == Checkout("topic/x", commit)
    assert read_checkout(tmp_path / "linked") == Checkout("other", commit)
    git("checkout", "-q", "--detach")
    assert read_checkout(tmp_path) == Checkout(None, commit)


@pytest.mark.parametrize(
    "head", ["", "ref: refs/heads/../../../secret", "ref: /etc/passwd", "x" * 9_000, "ref: refs/heads/a\x1b[2J"]
)
def test_a_head_that_git_does_not_write_is_no_checkout(tree: Path, head: str) -> None:
    (tree / ".git/HEAD").write_text(head)

    assert read_checkout(tree / "src") is None


def test_what_is_no_regular_file_is_not_waited_for(tree: Path) -> None:
    os.mkfifo(tree / ".git/HEAD")
    assert read_checkout(tree) is None
    (tree / ".git/HEAD").unlink()
    (tree / ".git/HEAD").write_text("ref: refs/heads/main\n")
    os.mkfifo(tree / ".git/refs/heads/main")
    (tree / ".git/packed-refs").write_text(f"# pack-refs\n{COMMIT} refs/heads/main\n")
    assert read_checkout(tree) == Checkout("main", COMMIT)
    assert read_checkout(tree.parent) is None


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("https://me:token@git.example/a.git", "https://git.example/a.git"),
        ("ssh://git@git.example/a.git", "ssh://git.example/a.git"),
        ("git@git.example:team/a.git", "git@git.example:team/a.git"),
        ("/srv/a.git", None),
        ("../a.git", None),
        ("https://git.example/\x1b[2J", None),
    ],
)
def test_remote_is_a_url_without_credentials(tmp_path: Path, url: str, remote: str | None) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(
        f'[core]\n\tbare = false\n[remote "other"]\n\turl = https://other\n[remote "origin"]\n'
        f'\tfetch = +refs/*\n\turl = {url}\n[branch "main"]\n\turl = https://wrong\n'
    )

    assert read_remote(tmp_path) == remote


def test_no_remote_outside_a_working_tree(tmp_path: Path) -> None:
    assert read_remote(tmp_path) is None
