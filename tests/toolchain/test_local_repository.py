"""Branches and commits beside the user's own: deterministic, and with the contents that git has."""

import os
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.code_worktree import diff_text
from jarvis_workers.toolchain.git_import import Author, BranchCommit, FileVersion
from jarvis_workers.toolchain.gittree import TreeBounds
from jarvis_workers.toolchain.local_repository import LocalRepository

ANN = Author("Ann", "ann@example.org")


def git(place: Path, *words: str) -> str:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0"}
    return subprocess.run(["git", "-C", place, *words], check=True, capture_output=True, text=True, env=environ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> LocalRepository:
    (tmp_path / "a.c").write_text("1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "first")
    return LocalRepository(tmp_path, os.environ)


def test_a_change_right_after_the_last_add_is_copied(repository: LocalRepository) -> None:
    file, index = repository.top / "a.c", repository.top / ".git" / "index"
    file.write_text("2\n")
    os.utime(file, (1_700_000_000, 1_700_000_000))
    git(repository.top, "add", "a.c")
    file.write_text("3\n")
    for path in (file, index):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    copied = repository.copy_changes(repository.head, ANN, 1, [])

    assert git(repository.top, "show", f"{copied}:a.c") == "3\n"


def test_a_branch_has_the_same_commit_whenever_it_is_written(repository: LocalRepository) -> None:
    files = {"a.c": FileVersion(None), 'sub/b "c.c': FileVersion(b"x\r\n", "100755")}
    commit = BranchCommit(repository.head, "Change <it>\n\nBody\n", Author("É <x>", "a@b"), 1_700_000_000, files)
    first = repository.write_branch("jarvis/one", commit)

    assert repository.write_branch("jarvis/two", commit) == first
    assert repository.write_branch("jarvis/one", commit._replace(message="Other")) == first
    assert git(repository.top, "ls-tree", "-r", "-z", first).split("\t")[1] == 'sub/b "c.c\0'
    assert git(repository.top, "log", "-1", "--format=%s|%at", first) == "Change <it>|1700000000\n"


@pytest.mark.parametrize("path", [".git/config", "a/.GIT. /x", "GIT~1/x", "../x", "a/../../x", "/x", "a//x", "./x", ""])
def test_no_commit_has_a_path_out_of_its_tree(repository: LocalRepository, path: str) -> None:
    commit = BranchCommit(repository.head, "x", ANN, 1, {path: FileVersion(b"x")})

    with pytest.raises(UsageError, match="no commit may have such a path or mode"):
        repository.write_branch("jarvis/one", commit)


def test_no_commit_has_a_link(repository: LocalRepository) -> None:
    commit = BranchCommit(repository.head, "x", ANN, 1, {"x": FileVersion(b"/etc/passwd", "120000")})

    with pytest.raises(UsageError, match="120000: no commit may have such a path or mode"):
        repository.write_branch("jarvis/one", commit)


def test_an_authors_name_has_nothing_that_git_reads_otherwise(repository: LocalRepository) -> None:
    git(repository.top, "config", "user.name", "Ann <x>\nEvil")
    git(repository.top, "config", "user.email", "ann@example.org")

    assert str(repository.author()) == "Ann x Evil <ann@example.org>"


def test_sources_larger_than_the_bounds_are_refused(repository: LocalRepository) -> None:
    (repository.top / "big").write_bytes(b"x" * 2_000_000)
    copied = repository.copy_changes(repository.head, ANN, 1, [])

    with pytest.raises(UsageError, match=r"more than 1 MB; .* raise code.max_mb"):
        repository.pack(copied or "", TreeBounds(bytes=1_000_000, bytes_setting="code.max_mb"))


def test_only_a_repository_without_commits_has_no_head(tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "trunk")
    repository = LocalRepository(tmp_path, os.environ)

    assert (repository.head, repository.branch, repository.commit_of("none")) == (None, "trunk", None)
    (tmp_path / ".git" / "config").write_text("[broken")
    for question in (lambda: repository.head, lambda: repository.branch, repository.author):
        with pytest.raises(UsageError, match=r"git: fatal: bad config line "):
            question()


def test_a_detached_head_and_an_author_that_is_not_set_are_none(
    repository: LocalRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(repository.top))
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    git(repository.top, "checkout", "-q", "--detach")

    assert (repository.branch, repository.author()) == (None, None)


def test_commits_that_are_not_there_are_no_answer_to_which_is_the_ancestor(repository: LocalRepository) -> None:
    first = repository.head or ""
    other = repository.write_branch("other", BranchCommit(None, "x", ANN, 1, {"x": FileVersion(b"x")}))
    child = repository.write_branch("child", BranchCommit(first, "x", ANN, 1, {"x": FileVersion(b"x")}))

    assert [repository.is_ancestor(first, one) for one in (first, child, other)] == [True, True, False]
    with pytest.raises(UsageError, match=r"git: fatal: Not a valid commit name 1{40}"):
        repository.is_ancestor(first, "1" * 40)


def test_git_says_why_changes_cannot_be_copied(repository: LocalRepository) -> None:
    # Older than the index, so that git does not read the file again.
    os.utime(repository.top / "a.c", (1_700_000_000, 1_700_000_000))
    git(repository.top, "add", "a.c")
    blob = git(repository.top, "rev-parse", "HEAD:a.c").strip()
    (repository.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (repository.top / "b.c").write_text("2\n")

    with pytest.raises(UsageError, match=rf"git: error: invalid object 100644 {blob} for 'a\.c'"):
        repository.copy_changes(repository.head, ANN, 1, [])


def test_a_difference_to_the_empty_tree_is_a_patch_as_well(repository: LocalRepository) -> None:
    assert b"+1\n" in diff_text(repository, None, repository.head or "")
