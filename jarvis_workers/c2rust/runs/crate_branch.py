"""The crate of a conversion as a branch of a git repository: types and C code first, then one commit per function.

Only the last commit builds; the working tree and the index of the repository are not changed.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.source.rust.rust_items import read_items
from jarvis_workers.toolchain.git_import import (
    NewCommit,
    Repository,
    add_commits,
    check_branch,
    create_repository,
    find_repository,
)

# Each commit has the whole module: a larger one, with many functions, is a single commit.
MOST_BYTES = 100_000_000


def check_crate_branch(crate: Path, branch: str) -> None:
    """Raise UsageError if the crate cannot become a branch of the repository that contains its directory."""
    if found := find_repository(crate, os.environ):
        check_branch(found, branch, os.environ)
    elif crate.exists() and (not crate.is_dir() or any(crate.iterdir())):
        raise UsageError(f"{crate}: neither empty nor in a git repository; run git init, or choose another with -o")


def write_branch(crate: Path, branch: str, files: Mapping[str, bytes]) -> str:
    """Commit a crate to a branch, one function at a time, and return its location. Raises UsageError."""
    check_crate_branch(crate, branch)
    repository = find_repository(crate, os.environ) or create_repository(crate, os.environ)
    now = int(datetime.now(UTC).timestamp())
    commit = add_commits(repository, branch, crate_commits(files), now, os.environ)
    return _shown(repository, branch, commit)


def _shown(repository: Repository, branch: str, commit: str) -> str:
    place = f", directory {repository.prefix}" if repository.prefix else ""
    return f"branch {branch} of {repository.top}{place} (commit {commit[:12]})"


def crate_commits(files: Mapping[str, bytes]) -> Iterator[NewCommit]:
    """Yield the commits of a crate: everything but its functions, then each function; the last commit has all files."""
    modules = {name: text for name, text in sorted(files.items()) if name.startswith("src/") and name.count("/") == 1}
    stages = {name: stage for name, text in modules.items() if len(stage := list(_stages(text.decode()))) > 1}
    start = {name: stage[0][1].encode() for name, stage in stages.items()}
    yield NewCommit("Add the crate without its functions\n", {**files, **start})
    for name, stage in stages.items():
        for function, text in stage[1:-1]:
            yield NewCommit(f"Convert {function} to Rust ({name})\n", {name: text.encode()})
        yield NewCommit(f"Convert {stage[-1][0]} to Rust ({name})\n", {name: modules[name]})


def _stages(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text of a module after adding each of its functions in turn, with the name of the function."""
    functions = [(one.name, one.text) for one in read_items(text) if one.kind == "fn"]
    if len(functions) * len(text) > MOST_BYTES:
        functions = [("all functions", "".join(body for _, body in functions))]
    left = text
    for _, body in functions:
        left = left.replace(body, "", 1)
    yield "", left
    remaining = text
    hidden = []
    for name, body in reversed(functions):
        hidden.append((name, remaining))
        remaining = remaining.replace(body, "", 1)
    yield from reversed(hidden)
