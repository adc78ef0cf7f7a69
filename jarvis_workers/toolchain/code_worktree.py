"""The branches of code changes: their worktrees, and how they get into the user's branch or go."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, plain
from jarvis_workers.toolchain.git_import import Repository, check_branch
from jarvis_workers.toolchain.local_repository import LocalRepository

NAMES_MAX = 3


def add_worktree(repository: LocalRepository, branch: str, place: Path) -> None:
    """Check a branch out in a directory of its own, unless it is there already."""
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        repository.git("worktree", "prune")
        repository.git("worktree", "add", "--quiet", str(place), branch)


def check_worktree(place: Path) -> None:
    """Raise UsageError for a worktree with uncommitted changes."""
    if place.exists() and LocalRepository(place, os.environ).dirty_paths():
        raise UsageError(f"{plain(str(place))} has uncommitted changes; commit them there, or add --force")


def drop_worktree(repository: LocalRepository, place: Path) -> None:
    """Remove a worktree, if there is one, with all that is in it."""
    if place.exists():
        repository.git("worktree", "remove", "--force", str(place))
    repository.git("worktree", "prune")


def drop_branch(repository: LocalRepository, branch: str) -> None:
    """Delete a branch, if there is one; raises UsageError if it is checked out."""
    if repository.commit_of(f"refs/heads/{branch}"):
        check_branch(Repository(repository.top, ""), branch, os.environ)
        repository.git("update-ref", "-d", f"refs/heads/{branch}")


def changed_paths(repository: LocalRepository, base: str, commit: str) -> list[str]:
    """Return the paths that differ between two commits."""
    words = ("diff-tree", "-r", "-z", "--no-renames", "--name-only", base, commit)
    return sorted(os.fsdecode(path) for path in repository.git(*words).split(b"\0") if path)


def diff_text(repository: LocalRepository, base: str | None, commit: str) -> bytes:
    """Return the difference between two commits as a patch; no base is the empty tree."""
    options = ("--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
    if base is None:
        return repository.git("diff-tree", "-p", "--root", "--no-commit-id", *options, commit)
    return repository.git("diff", *options, base, commit)


def accept_merge(repository: LocalRepository, branch: str) -> None:
    """Merge a branch into the one that is checked out. Raises UsageError, and changes nothing, if it conflicts."""
    head = repository.head
    tip = repository.commit_of(f"refs/heads/{branch}")
    if head and tip and not repository.is_ancestor(head, tip):
        try:
            repository.git("merge-tree", "--write-tree", head, tip)
        except UsageError as problem:
            raise UsageError(
                f"{branch} conflicts with later commits; merge it yourself: git merge {branch}"
            ) from problem
    repository.git("merge", "--quiet", "--no-edit", branch)


def accept_patch(repository: LocalRepository, patch: bytes, names: Sequence[str]) -> None:
    """Apply a patch to the working tree, without a commit. Raises UsageError, and changes nothing, if it conflicts."""
    with tempfile.TemporaryFile() as stream:
        stream.write(patch)
        for options in (("--check",), ()):
            stream.seek(0)
            try:
                repository.git("apply", "--whitespace=nowarn", *options, stdin=stream)
            except UsageError as problem:
                files = listing([plain(name) for name in names], NAMES_MAX)
                raise UsageError(
                    f"the changes conflict with uncommitted ones in {files}; commit or stash these first"
                ) from problem
