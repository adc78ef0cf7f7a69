"""The results of runs that change code: branches with worktrees in the user's repository, accepted or rejected.

A branch is written by the command that waits for the run, or by the first one that needs it. Its commit depends on the
run alone: after a crash, it is the same.
"""

import json
import os
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.agents.conversations.runtime import ANSWER
from jarvis_workers.assistant.code.change_code import CHANGES
from jarvis_workers.assistant.code.code_options import CodeOptions
from jarvis_workers.assistant.code.pipelines import CODE
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.runs import find_run, is_local, newest_runs
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import artifacts, run_labels
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.code_worktree import (
    add_worktree,
    branch_commits,
    check_worktree,
    diff_text,
    drop_branch,
    drop_worktree,
)
from jarvis_workers.toolchain.git_import import Author, BranchCommit, FileVersion
from jarvis_workers.toolchain.local_repository import LocalRepository

BRANCH = "jarvis/code-{}"
WORKTREES = "worktrees"
# The label of a run: what became of its change.
LABEL, ACCEPTED, REJECTED = "code", "accepted", "rejected"
DONE = "done"
MOST_RUNS = 1_000


class CodeBranch(NamedTuple):
    """The branch of a change, its last commit, and its worktree."""

    branch: str
    commit: str
    worktree: Path


class CodeRow(NamedTuple):
    """A run with its change, for lists; `decision` is "accepted", "rejected" or ""."""

    run: Run
    state: str
    branch: str
    commit: str
    subject: str
    decision: str


@dataclass(frozen=True)
class CodeChange:
    """A run that changes code, its answer, and the new versions of the files."""

    run: Run
    answer: Mapping[str, Any]
    files: Mapping[str, FileVersion]

    @property
    def options(self) -> CodeOptions:
        return CodeOptions.of(self.run)

    @property
    def branch(self) -> str:
        return BRANCH.format(self.run.id)

    @property
    def message(self) -> str:
        """The message of the commit, which says if the task is not done."""
        return _message_of(self.answer)

    def repository(self) -> LocalRepository:
        """Return the repository of the run. Raises UsageError if it is not on this machine."""
        top = Path(os.fsdecode(self.run.root_raw))
        found = LocalRepository.around(top, os.environ) if top.is_dir() else None
        if found is None:
            raise UsageError(f"run {self.run.id}: its repository {plain(self.run.root)} is not on this machine")
        return found


def find_code_run(store: Store, named: str, top: Path | None = None) -> Run:
    """Return the run with this id or prefix; "last" is the newest that changes code. Raises UsageError."""
    if named == "last":
        found = next(iter(code_runs(store, top)), None)
        if found is None:
            raise UsageError("there is no run that changes code yet; start one with: jarvis code -r TASK")
        return found
    run = find_run(store, named)
    if run.kind != CODE:
        raise UsageError(f"run {run.id} is a {run.kind} run, and changes no code")
    return run


def code_runs(store: Store, top: Path | None) -> list[Run]:
    """Return the runs that change the code of a repository, or of any, newest first."""
    return newest_runs(store, MOST_RUNS, kinds=[CODE], root=None if top is None else os.fsencode(top))


def read_change(store: Store, blobs: Blobs, run: Run) -> CodeChange | None:
    """Return the result of a run, or None while there is none."""
    with store.read() as session:
        names = [artifacts.find(session, run.id, name) for name in (ANSWER, CHANGES)]
    answer, changes = (json.loads(blobs.read(name)) if name else None for name in names)
    if answer is None or changes is None:
        return None
    files = {
        path: FileVersion(None if one["content"] is None else b64decode(one["content"]), one["mode"])
        for path, one in changes.items()
    }
    return CodeChange(run, answer, files)


def require_change(store: Store, blobs: Blobs, run: Run) -> CodeChange:
    """Return the result of a run. Raises UsageError if there is none, or if it changed nothing."""
    change = read_change(store, blobs, run)
    if change is None:
        raise UsageError(f"run {run.id} {_without_result(run)}")
    if not change.files:
        raise UsageError(f"run {run.id} changed nothing")
    return change


def _without_result(run: Run) -> str:
    """Return the state of a run that has no result, and what to do."""
    if run.ended:
        return f"is {run.state} and has no result; see: jarvis runs show {run.id}"
    if is_local(run):
        return f"is not finished, and has no result yet; continue with: jarvis runs resume {run.id}"
    return f"is {run.state} and has no result yet; wait for it with: jarvis runs wait {run.id}"


def publish_change(change: CodeChange, data: Path) -> CodeBranch | None:
    """Write the branch of a change and its worktree, unless they exist; None if nothing changed. Raises UsageError."""
    if not change.files:
        return None
    repository, options = change.repository(), change.options
    author = Author(*options.author)
    commit = BranchCommit(options.base or None, change.message, author, int(change.run.created_at), change.files)
    written = repository.write_branch(change.branch, commit)
    worktree = data / WORKTREES / change.run.id
    add_worktree(repository, change.branch, worktree)
    return CodeBranch(change.branch, written, worktree)


def decision_of(store: Store, run: Run) -> str:
    """Return what became of a change: "accepted", "rejected", or "" if nothing was decided."""
    with store.read() as session:
        return run_labels.labels_of(session, [run.id])[run.id].get(LABEL, "")


def reject_change(store: Store, blobs: Blobs, run: Run, data: Path, *, force: bool = False) -> None:
    """Drop the branch and the worktree of a change. Raises UsageError if the worktree has uncommitted changes."""
    change = require_change(store, blobs, run)
    if decision_of(store, run) == ACCEPTED:
        raise UsageError(f"run {run.id} is accepted already; revert its commit with git")
    repository = change.repository()
    worktree = data / WORKTREES / run.id
    if not force:
        check_worktree(worktree)
    drop_worktree(repository, worktree)
    drop_branch(repository, change.branch)
    decide(store, run, REJECTED)


def change_diff(store: Store, change: CodeChange, data: Path) -> bytes:
    """Return the whole difference that a run made, as a patch. Raises UsageError if its branch was removed."""
    repository = change.repository()
    decision = decision_of(store, change.run)
    commit = repository.commit_of(f"refs/heads/{change.branch}")
    if commit is None and not decision and (published := publish_change(change, data)):
        commit = published.commit
    if commit is None:
        raise UsageError(f"run {change.run.id} is {decision}, and its branch is gone; without --full: the preview")
    return diff_text(repository, change.options.base or None, commit)


def code_rows(store: Store, blobs: Blobs, top: Path) -> list[CodeRow]:
    """Return the changes of a repository, newest first; the changed files are not read."""
    found = code_runs(store, top)
    ids = [run.id for run in found]
    with store.read() as session:
        names, labels = artifacts.blobs_named(session, ids, ANSWER), run_labels.labels_of(session, ids)
    commits = branch_commits(LocalRepository(top, os.environ), BRANCH.format("*"))
    rows = []
    for run in found:
        answer = json.loads(blobs.read(names[run.id])) if run.id in names else None
        commit = commits.get(BRANCH.format(run.id), "")
        subject = _message_of(answer).partition("\n")[0] if answer and answer["changes"] else ""
        state = answer["state"] if answer else run.state
        branch = BRANCH.format(run.id) if commit else ""
        rows.append(CodeRow(run, state, branch, commit, subject, labels[run.id].get(LABEL, "")))
    return rows


def _message_of(answer: Mapping[str, Any]) -> str:
    message: str = answer["message"]
    return message if answer["state"] == DONE else f"Unfinished: {message}\nNot done: {answer['problem']}\n"


def decide(store: Store, run: Run, decision: str) -> None:
    """Note what became of a change."""
    with store.write() as session:
        run_labels.put(session, run.id, LABEL, decision)
