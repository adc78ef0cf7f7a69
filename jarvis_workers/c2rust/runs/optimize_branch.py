"""The passes of an optimization as commits on a branch of the crate's git repository.

The working tree and the index are not touched. The branch starts at HEAD, with the Rust files as they were before.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from jarvis_workers.toolchain.git_import import NewCommit, add_commits, find_repository

BRANCH = "jarvis/optimize-{}"


def commit_passes(
    root: Path, run: str, before: Mapping[str, bytes], passes: Sequence[tuple[str, Mapping[str, bytes]]]
) -> str | None:
    """Commit the changed files after each pass, by its name; return the branch, or None without a repository.

    Raises UsageError if git fails.
    """
    repository = find_repository(root, os.environ)
    if repository is None:
        return None
    branch, now = BRANCH.format(run), int(datetime.now(UTC).timestamp())
    add_commits(repository, branch, _commits(before, passes), now, os.environ, replace_directory=False)
    return branch


def _commits(before: Mapping[str, bytes], passes: Sequence[tuple[str, Mapping[str, bytes]]]) -> Iterator[NewCommit]:
    yield NewCommit("State of the crate before its optimization\n", before)
    now = dict(before)
    for name, files in passes:
        if changed := {file: content for file, content in files.items() if now.get(file) != content}:
            yield NewCommit(f"Optimize the crate: {name}\n", changed)
            now |= changed
