"""Accept a change: bring its commit into the user's branch, or its difference into the working tree."""

from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, plain
from jarvis_workers.service.assistant.code_branches import (
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
from jarvis_workers.service.handles import Blobs, Store
from jarvis_workers.steps.assistant.code_options import CodeOptions
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
    others = _other_runs(store, blobs, change, base, tip)
    rejected = [other for other in others if decision_of(store, other) == REJECTED]
    if rejected and not force:
        raise UsageError(
            f"run {run.id} stands on {_runs(rejected)}, which is rejected and would come along; to accept both: --force"
        )
    says = _bring_in(change, published, base, tip)
    decide(store, run, ACCEPTED)
    return f"{says}, with the change of {_runs(others)}" if others else says


def _bring_in(change: CodeChange, published: CodeBranch, base: str, tip: str) -> str:
    """Merge the branch, or apply the difference between two commits; return what was done."""
    repository, copied = change.repository(), change.options.copied
    names = changed_paths(repository, base, tip)
    overlap = sorted(repository.dirty_paths() & set(names))
    if overlap or copied:
        trees = [tree for tree in (repository.head, copied) if tree]
        check_untracked(repository, base, tip, {path for tree in trees for path in paths_of(repository, tree)})
        accept_patch(repository, diff_text(repository, base, tip), overlap or names)
        drop_worktree(repository, published.worktree)
        return f"applied to the working tree, not committed; its commit stays on {published.branch}"
    accept_merge(repository, published.branch)
    drop_worktree(repository, published.worktree)
    drop_branch(repository, published.branch)
    return f"merged into {repository.branch or 'the detached HEAD'} as {(repository.head or '')[:12]}"


def _other_runs(store: Store, blobs: Blobs, change: CodeChange, base: str, tip: str) -> list[Run]:
    """Return the other runs whose commits are between two commits, oldest first.

    A branch that was removed is recognized by what its commit depends on: the parent, the time and the message.
    """
    repository = change.repository()
    between = {(one.parent, one.seconds): one.message for one in commits_between(repository, base, tip)}
    found = []
    for run in code_runs(store, repository.top):
        message = between.get((CodeOptions.of(run).base, int(run.created_at)))
        if message is None or run.id == change.run.id:
            continue
        other = read_change(store, blobs, run)
        if other and other.files and other.message.strip() == message.strip():
            found.append(run)
    return found[::-1]


def _runs(runs: list[Run]) -> str:
    return f"run {listing([run.id for run in runs], RUNS_MAX)}"


def _fork_point(repository: LocalRepository, tip: str) -> str:
    head = repository.head
    base = repository.git("merge-base", head, tip).decode().strip() if head else ""
    if not base:
        raise UsageError(f"{plain(str(repository.top))}: HEAD and the change have no commit in common")
    return base
