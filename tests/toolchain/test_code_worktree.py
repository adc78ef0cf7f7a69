"""The branches of changes: nothing of the user's files, index and worktrees is lost, and refusals name the files."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.code_worktree import accept_merge, accept_patch, add_worktree, diff_text, drop_worktree
from jarvis_workers.toolchain.git_import import Author, BranchCommit, FileVersion
from jarvis_workers.toolchain.local_repository import LocalRepository

BRANCH = "jarvis/one"


def git(place: Path, *words: str) -> str:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0"}
    return subprocess.run(["git", "-C", place, *words], check=True, capture_output=True, text=True, env=environ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> LocalRepository:
    top = tmp_path / "top"
    top.mkdir()
    for name, text in {"a.c": "1\n", "b.c": "1\n", ".gitignore": "*.o\nbuild\n"}.items():
        (top / name).write_text(text)
    git(top, "init", "-q")
    git(top, "config", "user.name", "A")
    git(top, "config", "user.email", "a@b")
    commit(top, "first")
    return LocalRepository(top, os.environ)


def commit(top: Path, message: str) -> None:
    git(top, "add", ".")
    git(top, "commit", "-qm", message)


def change(repository: LocalRepository, **files: str) -> None:
    """Write the branch of a change; __ stands for a slash, and _ for a dot."""
    versions = {name.replace("__", "/").replace("_", "."): FileVersion(text.encode()) for name, text in files.items()}
    repository.write_branch(BRANCH, BranchCommit(repository.head, "Change", Author("A", "a@b"), 1, versions))


def later(repository: LocalRepository) -> None:
    """Commit something after the change began."""
    (repository.top / "later.c").write_text("1\n")
    commit(repository.top, "later")


@pytest.mark.parametrize("is_forward", [True, False], ids=["forward", "merge"])
@pytest.mark.parametrize(
    ("files", "user", "named"),
    [
        ({"keep_o": "theirs"}, "keep.o", "keep.o"),
        ({"new_c": "theirs"}, "new.c", "new.c"),
        ({"build": "theirs"}, "build/deep/x", "build/deep/x"),
        ({"build__x": "theirs"}, "build", "build"),
    ],
    ids=["ignored", "untracked", "directory", "above"],
)
def test_no_file_is_overwritten_that_git_does_not_track(
    repository: LocalRepository, files: dict[str, str], user: str, named: str, *, is_forward: bool
) -> None:
    change(repository, **files)
    if not is_forward:
        later(repository)
    mine = repository.top / user
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    head = repository.head

    with pytest.raises(UsageError, match=rf"would overwrite {named}, which HEAD does not track"):
        accept_merge(repository, BRANCH)
    assert (mine.read_text(), repository.head) == ("mine", head)


def test_a_file_that_later_commits_removed_and_the_user_kept_is_not_overwritten(repository: LocalRepository) -> None:
    change(repository, b_c="2\n")
    git(repository.top, "rm", "-q", "--cached", "b.c")
    git(repository.top, "commit", "-qm", "later")

    with pytest.raises(UsageError, match=r"conflicts with later commits in b\.c; merge it yourself"):
        accept_merge(repository, BRANCH)
    assert (repository.top / "b.c").read_text() == "1\n"


def test_a_link_of_the_user_is_not_overwritten_either(repository: LocalRepository) -> None:
    change(repository, keep_o="theirs")
    (repository.top / "keep.o").symlink_to("nowhere")

    with pytest.raises(UsageError, match=r"would overwrite keep\.o"):
        accept_merge(repository, BRANCH)


def test_what_else_is_in_the_tree_is_no_obstacle(repository: LocalRepository) -> None:
    change(repository, a_c="2\n", build__x="x")
    (repository.top / "keep.o").write_text("mine")
    (repository.top / "build").mkdir()
    (repository.top / "build" / "y").write_text("mine")
    later(repository)
    accept_merge(repository, BRANCH)

    assert (repository.top / "a.c").read_text() == "2\n"
    assert (repository.top / "build" / "x").read_text() == "x"


def test_staged_files_are_named_where_git_needs_a_merge(repository: LocalRepository) -> None:
    change(repository, a_c="2\n")
    later(repository)
    (repository.top / "b.c").write_text("staged\n")
    git(repository.top, "add", "b.c")
    before = git(repository.top, "status", "--porcelain")

    with pytest.raises(UsageError, match=r"commit or unstage b.c \(git restore --staged\), and accept again"):
        accept_merge(repository, BRANCH)
    assert git(repository.top, "status", "--porcelain") == before


def test_what_git_lists_below_its_message_is_named(repository: LocalRepository) -> None:
    change(repository, a_c="2\n")
    (repository.top / "a.c").write_text("mine\n")

    with pytest.raises(UsageError, match=r"would be overwritten by merge: a\.c$"):
        accept_merge(repository, BRANCH)


def test_only_a_patch_that_does_not_fit_is_a_conflict(repository: LocalRepository) -> None:
    change(repository, a_c="2\n")
    patch = diff_text(repository, repository.head, f"refs/heads/{BRANCH}")
    (repository.top / "a.c").write_text("mine\n")

    with pytest.raises(UsageError, match=r"the changes conflict with uncommitted ones in a\.c; commit or stash"):
        accept_patch(repository, patch, ["a.c"])
    with pytest.raises(UsageError, match=r"^git: error: No valid patches in input"):
        accept_patch(repository, b"", ["a.c"])
    (repository.top / "a.c").write_text("1\n")
    accept_patch(repository, patch, ["a.c"])
    assert (repository.top / "a.c").read_text() == "2\n"


@pytest.fixture
def away(repository: LocalRepository, tmp_path: Path) -> Path:
    """Return the place of a worktree of the user with staged work, whose directory is away."""
    place = tmp_path / "disk" / "mine"
    git(repository.top, "worktree", "add", "-q", "-b", "mine", str(place))
    (place / "a.c").write_text("staged\n")
    git(place, "add", "a.c")
    place.parent.rename(tmp_path / "unmounted")
    return place


def test_worktrees_of_the_user_that_are_away_stay_registered(
    repository: LocalRepository, away: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    change(repository, a_c="2\n")
    add_worktree(repository, BRANCH, own)
    drop_worktree(repository, own)
    drop_worktree(repository, own)
    (tmp_path / "unmounted").rename(away.parent)

    assert git(away, "diff", "--cached", "--name-only") == "a.c\n"
    assert str(own) not in git(repository.top, "worktree", "list")


def test_our_own_worktree_is_made_again_if_its_directory_is_gone(repository: LocalRepository, tmp_path: Path) -> None:
    own = tmp_path / "own"
    change(repository, a_c="2\n")
    add_worktree(repository, BRANCH, own)
    shutil.rmtree(own)
    add_worktree(repository, BRANCH, own)

    assert (own / "a.c").read_text() == "2\n"
    shutil.rmtree(own)
    drop_worktree(repository, own)
    assert git(repository.top, "worktree", "list").count("\n") == 1
