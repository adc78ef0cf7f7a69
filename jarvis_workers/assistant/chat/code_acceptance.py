"""Accept a change: bring its commit into the user's branch, or its difference into the working tree."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.assistant.chat.code_branches import (
    ACCEPTED,
    DONE,
    REJECTED,
    CodeBranch,
    CodeChange,
    code_runs,
    decide,
    decision_of,
    publish_change,
    read_change,
    require_change,
)
from jarvis_workers.assistant.code.code_options import CodeOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, plain
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.code_worktree import (
    accept_merge,
    accept_patch,
    changed_paths,
    check_untracked,
    check_worktree,
    commits_between,
    diff_text,
    drop_branch,
    drop_worktree,
    paths_of,
)
from jarvis_workers.toolchain.local_repository import LocalRepository

RUNS_MAX = 3


class _EarlierRun(NamedTuple):
    """A run that another one stands on, and its commit."""

    run: Run
    commit: str


class _Commits(NamedTuple):
    """The commits of a change: where its branch begins, the last one that was applied before, and its last."""

    base: str
    applied: str
    tip: str


def accept_change(store: Store, blobs: Blobs, run: Run, data: Path, *, force: bool = False) -> str:
    """Bring a change into the branch that is checked out, or into the working tree; return what was done.

    A change is merged where no uncommitted file overlaps it; else its difference is applied to the working tree. Raises
    UsageError, and changes nothing, if that would conflict, or replace a file that is not tracked; and without `force`
    if the task is not done, or if the change stands on one that was rejected.
    """
    change = require_change(store, blobs, run)
    if change.answer["state"] != DONE and not force:
        raise UsageError(f"run {run.id} is not done: {change.answer['problem']}; to accept it nevertheless: --force")
    if decision := decision_of(store, run):
        raise UsageError(f"run {run.id} is {decision} already")
    published = publish_change(change, data)
    assert published is not None
    repository = change.repository()
    tip = repository.commit_of(f"refs/heads/{published.branch}") or published.commit
    base = change.options.copied or _fork_point(repository, tip)
    if not force:
        check_worktree(published.worktree)
    earlier = _other_runs(store, blobs, change, base, tip)
    applied = next((one.commit for one in reversed(earlier) if decision_of(store, one.run) == ACCEPTED), base)
    others = [one.run for one in earlier if decision_of(store, one.run) != ACCEPTED]
    rejected = [other for other in others if decision_of(store, other) == REJECTED]
    if rejected and not force:
        raise UsageError(
            f"run {run.id} stands on {_runs(rejected)}, which is rejected and would come along; to accept both: --force"
        )
    commits = _Commits(base, applied, tip)
    if says := _apply(change, published, commits):
        _end_others(store, change.repository(), published.worktree.parent, others)
    else:
        says = _merge(change, published)
    decide(store, run, ACCEPTED)
    return f"{says}, with the change of {_runs(others)}" if others else says


def _apply(change: CodeChange, published: CodeBranch, commits: _Commits) -> str:
    """Apply the difference that the working tree lacks, and return what was done; "" if the branch can be merged."""
    repository, copied = change.repository(), change.options.copied
    applied, tip, dirty = commits.applied, commits.tip, repository.dirty_paths()
    if not copied and not dirty.intersection(changed_paths(repository, commits.base, tip)):
        return ""
    trees = [tree for tree in (repository.head, copied, applied) if tree]
    check_untracked(repository, applied, tip, {path for tree in trees for path in paths_of(repository, tree)})
    names = changed_paths(repository, applied, tip)
    accept_patch(repository, diff_text(repository, applied, tip), sorted(dirty.intersection(names)) or names)
    drop_worktree(repository, published.worktree)
    return f"applied to the working tree, not committed; its commit stays on {published.branch}"


def _end_others(store: Store, repository: LocalRepository, worktrees: Path, others: list[Run]) -> None:
    """Note that changes which came along in an applied difference are accepted: they cannot be applied once more."""
    for run in others:
        decide(store, run, ACCEPTED)
        with suppress(UsageError):
            check_worktree(worktrees / run.id)
            drop_worktree(repository, worktrees / run.id)


def _merge(change: CodeChange, published: CodeBranch) -> str:
    """Merge the branch and remove it; return what was done."""
    repository = change.repository()
    accept_merge(repository, published.branch)
    drop_worktree(repository, published.worktree)
    drop_branch(repository, published.branch)
    return f"merged into {repository.branch or 'the detached HEAD'} as {(repository.head or '')[:12]}"


def _other_runs(store: Store, blobs: Blobs, change: CodeChange, base: str, tip: str) -> list[_EarlierRun]:
    """Return the other runs whose commits are between two commits, oldest first.

    A branch that was removed is recognized by what its commit depends on: the parent, the time and the message.
    """
    repository = change.repository()
    between = {(one.parent, one.seconds): one for one in commits_between(repository, base, tip)}
    found = []
    for run in code_runs(store, repository.top):
        logged = between.get((CodeOptions.of(run).base, int(run.created_at)))
        if logged is None or run.id == change.run.id:
            continue
        other = read_change(store, blobs, run)
        if other and other.files and other.message.strip() == logged.message.strip():
            found.append(_EarlierRun(run, logged.commit))
    return found[::-1]


def _runs(runs: list[Run]) -> str:
    return f"run {listing([run.id for run in runs], RUNS_MAX)}"


def _fork_point(repository: LocalRepository, tip: str) -> str:
    head = repository.head
    base = repository.git("merge-base", head, tip).decode().strip() if head else ""
    if not base:
        raise UsageError(f"{plain(str(repository.top))}: HEAD and the change have no commit in common")
    return base
