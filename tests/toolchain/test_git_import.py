"""Commits that are added to a branch have paths of their tree alone."""

import os
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.git_import import NewCommit, Repository, add_commits, create_repository, find_commit


def git(place: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", place, *words], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("prefix", ["", "sub"])
@pytest.mark.parametrize("path", [".git/config", "a/.GIT/x", "GIT~1/x", "../x", "a/../../x", "/x", "a//x", "./x", ""])
def test_no_commit_has_a_path_out_of_its_tree(tmp_path: Path, prefix: str, path: str) -> None:
    top = create_repository(tmp_path, os.environ).top

    with pytest.raises(UsageError, match="no commit may have such a path or mode"):
        add_commits(Repository(top, prefix), "new", [NewCommit("x", {"a.c": b"", path: b"x"})], 1, os.environ)
    assert find_commit(top, "refs/heads/new", os.environ) is None


def test_the_first_commit_replaces_the_directory_and_the_others_add_to_it(tmp_path: Path) -> None:
    top = create_repository(tmp_path, os.environ).top
    commits = [NewCommit("one", {"old": b"1", "sub/old": b"1"}), NewCommit("two", {"sub/x": b"2"})]
    add_commits(Repository(top, ""), "new", commits, 1, os.environ)
    last = add_commits(
        Repository(top, "sub"), "new", [NewCommit("three", {"y": b"3"}), NewCommit("four", {"z": b"4"})], 1, os.environ
    )

    assert git(top, "ls-tree", "-r", "--name-only", last).split() == ["old", "sub/y", "sub/z"]
    who = "Jarvis Workers <jarvis@localhost>"
    assert git(top, "log", "--format=%s|%an <%ae>|%at", last).splitlines() == [
        f"{subject}|{who}|1" for subject in ("four", "three", "two", "one")
    ]
