"""Deliver the patches of a run: as files, and as a branch with one commit for each patch.

The branch depends on the sources and the patches alone: its commits have the time of the commit that they start from,
so that a run that was killed and resumed writes the same branch.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.atomic_write import write_pieces, write_whole
from jarvis_workers.runs.jarvis_directory import make_directory
from jarvis_workers.sec.fix.result import FixResult
from jarvis_workers.sec.fix_runs.fix_results import FixReport, document
from jarvis_workers.sec.run_reports.run_files import export_directory, refuse_unwritable
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.toolchain.git_import import Author, BranchCommit, FileVersion, write_commits
from jarvis_workers.toolchain.local_repository import LocalRepository

PATCHES, SUMMARY = "patches", "fixes.json"
# The patches of an earlier run.
OURS = "[0-9][0-9][0-9][0-9]-[CR]*.patch"


def publish_branch(report: FixReport) -> str | None:
    """Write the branch unless it exists, and return its commit; None without a repository or a patch.

    Raises UsageError if the repository is not there.
    """
    options = report.options
    if not (report.is_final and options.base and report.fixed):
        return None
    top = Path(os.fsdecode(report.run.root_raw))
    repository = LocalRepository.around(top, os.environ) if top.is_dir() else None
    if repository is None:
        raise UsageError(f"run {report.run.id}: its repository {plain(report.run.root)} is not on this machine")
    if commit := repository.commit_of(f"refs/heads/{report.branch}"):
        return commit
    seconds = int(repository.git("show", "--no-patch", "--no-show-signature", "--format=%ct", options.base))
    commits = _commits(options, report.fixed, seconds)
    return write_commits(repository.top, report.branch, commits, os.environ)


def _commits(options: FixOptions, fixed: Sequence[FixResult], seconds: int) -> Iterator[BranchCommit]:
    for number, result in enumerate(fixed):
        files = {path: FileVersion(file.after, file.mode) for path, file in result.files.items()}
        files |= {path: FileVersion(content) for path, content in result.regression_test.items()}
        base = None if number else options.base
        yield BranchCommit(base, result.message, Author(*options.author), seconds, files)


def write_patches(report: FixReport, directory: Path, *, has_branch: bool = True) -> list[Path]:
    """Write a patch file for each patch that passed, and a summary of all results (`document`). Raises UsageError."""
    with refuse_unwritable(directory, report.run):
        make_directory(directory, own=directory == export_directory(report.run))
        place = directory / PATCHES
        if place.is_symlink():
            raise UsageError(f"{plain(str(place))}: symbolic links are not followed; choose a directory with -d")
        place.mkdir(exist_ok=True)
        for old in place.glob(OURS):
            old.unlink()
        written = [_write_patch(place, number, result) for number, result in enumerate(report.fixed, 1)]
        summary = json.dumps(document(report, has_branch=has_branch), indent=2, ensure_ascii=False)
        return [*written, write_whole(directory / SUMMARY, [f"{summary}\n"])]


def _write_patch(place: Path, number: int, result: FixResult) -> Path:
    path = place / f"{number:04}-{result.finding.id}.patch"
    return write_pieces(path, [result.patch])
