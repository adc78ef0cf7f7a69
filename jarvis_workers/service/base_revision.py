"""The revisions with which a change is compared in CI: where it left its target branch, and the tip of that branch.

A change may have left its target branch at any of its commits, such as one whose settings narrowed the scan until a
later one mended them. What the tip has is therefore compared, too, where it can be read.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.service.sources import DEFAULT_BOUNDS
from jarvis_workers.settings import TOML_FILE, YAML_FILE, Settings, load_settings
from jarvis_workers.toolchain import git

# https://docs.github.com/en/actions/reference/variables-reference, https://docs.gitlab.com/ci/variables/predefined_variables/
GITHUB_BRANCH = "GITHUB_BASE_REF"
GITLAB_COMMIT, GITLAB_BRANCH = "CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
# Of the target branch; only pipelines for merged results have it.
GITLAB_TIP = "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Branches that merge each other have several merge bases.
BASES_MAX = 8


class Base(NamedTuple):
    """The settings of a revision, and the entries that the checked-out commit adds, edits or deletes, from the top."""

    settings: Settings
    changed: Mapping[bytes, git.Change]
    revision: git.Borrowed


class Bases(NamedTuple):
    """The merge bases of a change, and the tip of its target branch if it can be read and is another commit."""

    left: tuple[Base, ...]
    tip: Base | None


def read_bases(flags: Mapping[str, object], directory: Path, environ: Mapping[str, str], place: Path) -> Bases | None:
    """Read the bases of the change under test into the directory `place`; None if there is none that can be read."""
    repository = place / "repository"
    repository.mkdir()
    for revision in _revisions(environ):
        try:
            borrowed = git.borrow(directory, revision, repository, environ, DEFAULT_BOUNDS)
            commits = git.merge_bases(borrowed)
            if len(commits) > BASES_MAX:
                return None
            read = _BaseReader(flags, directory, environ, place)
            return Bases(tuple(read.base(borrowed, one) for one in commits), read.tip(borrowed, commits))
        except (UsageError, SettingsError, ValueError):
            continue
    return None


class _BaseReader:
    def __init__(self, flags: Mapping[str, object], directory: Path, environ: Mapping[str, str], place: Path) -> None:
        self._flags, self._directory, self._environ, self._place = flags, directory, environ, place

    def base(self, borrowed: git.Borrowed, commit: str) -> Base:
        """Read a base. Raises UsageError, SettingsError, and ValueError if the current directory is not in the tree."""
        files = self._place / commit
        files.mkdir(exist_ok=True)
        inside = self._directory.resolve().relative_to(borrowed.top.resolve())
        for name in (YAML_FILE, TOML_FILE):
            content = git.file_at(borrowed, commit, os.fsencode(inside / name))
            if content is not None:
                (files / name).write_bytes(content)
        settings = load_settings(self._flags, environ=self._environ, directory=files)
        return Base(settings, git.changes_since(borrowed, commit), borrowed._replace(commit=commit))

    def tip(self, borrowed: git.Borrowed, left: list[str]) -> Base | None:
        """Read the tip of the target branch, unless what is known of it here is older than the merge bases."""
        for revision in _tips(self._environ):
            commit = git.commit_of(borrowed, revision)
            if commit is not None and commit not in left and git.has_ancestors(borrowed, commit, left):
                return self.base(borrowed, commit)
        return None


def _revisions(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield revisions into which the change is to be merged, from the variables of a pull or merge request."""
    if branch := environ.get(GITHUB_BRANCH):
        yield f"refs/remotes/origin/{branch}"
        return
    yield from (commit for name in (GITLAB_TIP, GITLAB_COMMIT) if COMMIT.fullmatch(commit := environ.get(name, "")))
    yield from _own_branch(environ)


def _tips(environ: Mapping[str, str]) -> Iterator[str]:
    if branch := environ.get(GITHUB_BRANCH):
        yield f"refs/remotes/origin/{branch}"
        return
    yield from _own_branch(environ)


def _own_branch(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the target branch in GitLab. The branches of a fork belong to the author of the change."""
    is_own = environ.get("CI_PROJECT_ID") == environ.get("CI_MERGE_REQUEST_PROJECT_ID")
    branch = environ.get(GITLAB_BRANCH)
    if branch and is_own:
        yield f"refs/remotes/origin/{branch}"
