"""The branches of code changes: their worktrees, and how they get into the user's branch or go."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, plain
from jarvis_workers.toolchain.git_import import Repository, check_branch
from jarvis_workers.toolchain.gittree import GitFailed
from jarvis_workers.toolchain.local_repository import LocalRepository, names_in

NAMES_MAX = 3
WORKTREE = b"worktree "
# The exit code of `git apply` for a patch that does not fit; others are failures of git.
DOES_NOT_FIT = 1


class LoggedCommit(NamedTuple):
    """A commit in a log: its parents, separated by spaces, its time in seconds since 1970, and its message."""

    commit: str
    parent: str
    seconds: int
    message: str


def add_worktree(repository: LocalRepository, branch: str, place: Path) -> None:
    """Check a branch out in a directory of its own, unless it is there already."""
    if not place.exists():
        drop_worktree(repository, place)
        place.parent.mkdir(parents=True, exist_ok=True)
        repository.git("worktree", "add", "--quiet", str(place), branch)


def check_worktree(place: Path) -> None:
    """Raise UsageError for a worktree with uncommitted changes."""
    if place.exists() and LocalRepository(place, os.environ).dirty_paths():
        raise UsageError(f"{plain(str(place))} has uncommitted changes; commit them there, or add --force")


def drop_worktree(repository: LocalRepository, place: Path) -> None:
    """Remove a worktree, if there is one, with all that is in it; also one whose directory is gone.

    Never prunes: worktrees of the user whose directory is away, such as on a disk that is not mounted, stay registered.
    """
    listed = repository.git("worktree", "list", "--porcelain", "-z").split(b"\0")
    if place.exists() or WORKTREE + os.fsencode(os.path.realpath(place)) in listed:
        repository.git("worktree", "remove", "--force", str(place))


def drop_branch(repository: LocalRepository, branch: str) -> None:
    """Delete a branch, if there is one; raises UsageError if it is checked out."""
    if repository.commit_of(f"refs/heads/{branch}"):
        check_branch(Repository(repository.top, ""), branch, os.environ)
        repository.git("update-ref", "-d", f"refs/heads/{branch}")


def branch_commits(repository: LocalRepository, pattern: str) -> dict[str, str]:
    """Return the commits of the branches whose names match a pattern such as `jarvis/code-*`."""
    words = ("for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", f"refs/heads/{pattern}")
    rows = (line.split(" ", 1) for line in repository.git(*words).decode("utf-8", "replace").splitlines())
    return {branch: commit for commit, branch in rows}


def changed_paths(repository: LocalRepository, base: str, commit: str) -> list[str]:
    """Return the paths that differ between two commits."""
    return sorted(names_in(repository.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", base, commit)))


def paths_of(repository: LocalRepository, tree: str) -> set[str]:
    """Return the paths of the files, links and submodules of a commit or tree."""
    return names_in(repository.git("ls-tree", "-r", "-z", "--full-tree", "--name-only", tree))


def commits_between(repository: LocalRepository, base: str, tip: str) -> list[LoggedCommit]:
    """Return the commits of `tip` that `base` does not have, newest first."""
    words = ("log", "-z", "--no-show-signature", "--format=%H%x00%P%x00%ct%x00%B", f"{base}..{tip}")
    parts = repository.git(*words).decode("utf-8", "replace").removesuffix("\0").split("\0")
    starts = range(0, len(parts) - 3, 4)
    return [LoggedCommit(parts[at], parts[at + 1], int(parts[at + 2]), parts[at + 3]) for at in starts]


def diff_text(repository: LocalRepository, base: str | None, commit: str) -> bytes:
    """Return the difference between two commits as a patch; no base is the empty tree."""
    options = ("--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
    if base is None:
        return repository.git("diff-tree", "-p", "--root", "--no-commit-id", *options, commit)
    return repository.git("diff", *options, base, commit)


def check_untracked(repository: LocalRepository, base: str, result: str, tracked: set[str]) -> None:
    """Raise UsageError if writing `result` over `base` would replace files of the user that are not in `tracked`.

    Git itself overwrites ignored files.
    """
    written = set(changed_paths(repository, base, result)) & paths_of(repository, result)
    found = {path for name in written for path in _in_the_way(repository.top, name) if path not in tracked}
    if found:
        raise UsageError(
            f"the change would overwrite {_named(found)}, which HEAD does not track; move what you need out of the "
            "way, or commit it, and accept again"
        )


def _in_the_way(top: Path, name: str) -> Iterator[str]:
    """Yield the files that must go when a file is written: itself, files in its place, and one above it."""
    parts = Path(name).parts
    for number in range(1, len(parts)):
        above = top.joinpath(*parts[:number])
        if not above.is_dir() or above.is_symlink():
            if os.path.lexists(above):
                yield "/".join(parts[:number])
            return
    place = top / name
    if place.is_dir() and not place.is_symlink():
        yield from (str(file.relative_to(top)) for file in place.rglob("*") if file.is_symlink() or not file.is_dir())
    elif os.path.lexists(place):
        yield name


def merge_result(repository: LocalRepository, branch: str) -> str:
    """Return the tree or commit that merging a branch gives. Raises UsageError that names the files of a conflict."""
    head, tip = repository.head or "", f"refs/heads/{branch}"
    if repository.is_ancestor(head, repository.commit_of(tip) or ""):
        return tip
    words = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, tip)
    tree, *conflicts = repository.git(*words, good=(0, 1)).split(b"\0")
    if files := names_in(b"\0".join(conflicts)):
        raise UsageError(
            f"{branch} conflicts with later commits in {_named(files)}; merge it yourself: git merge {branch}"
        )
    return tree.decode()


def accept_merge(repository: LocalRepository, branch: str) -> None:
    """Merge a branch into the one that is checked out. Raises UsageError, and changes nothing, if that fails."""
    head, tip = repository.head or "", repository.commit_of(f"refs/heads/{branch}") or ""
    result = merge_result(repository, branch)
    check_untracked(repository, head, result, paths_of(repository, head))
    is_forward = repository.is_ancestor(head, tip) or repository.is_ancestor(tip, head)
    if not is_forward and (staged := _staged_paths(repository)):
        raise UsageError(
            f"there are commits since the change began, and git merges only if nothing is staged: commit or unstage "
            f"{_named(staged)} (git restore --staged), and accept again"
        )
    repository.git("merge", "--quiet", "--no-edit", branch)


def accept_patch(repository: LocalRepository, patch: bytes, names: Sequence[str]) -> None:
    """Apply a patch to the working tree, without a commit. Raises UsageError, and changes nothing, if it conflicts."""
    with tempfile.TemporaryFile() as stream:
        stream.write(patch)
        stream.seek(0)
        try:
            repository.git("apply", "--check", "--whitespace=nowarn", stdin=stream)
        except GitFailed as failed:
            if failed.code != DOES_NOT_FIT:
                raise
            raise UsageError(
                f"the changes conflict with uncommitted ones in {_named(names)}; commit or stash these first"
            ) from failed
        stream.seek(0)
        repository.git("apply", "--whitespace=nowarn", stdin=stream)


def _staged_paths(repository: LocalRepository) -> set[str]:
    return names_in(repository.git("diff-index", "--cached", "-z", "--no-renames", "--name-only", "HEAD"))


def _named(paths: Iterable[str]) -> str:
    return listing([plain(path) for path in sorted(paths)], NAMES_MAX)
