"""The result of a run that optimizes a crate: its report, and the changes, which are written all or none."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from jarvis_workers.c2rust.bench.crate_archive import files_of
from jarvis_workers.c2rust.optimization import OptimizeReport
from jarvis_workers.c2rust.runs.optimize_run import (
    MANIFEST,
    PROGRESS,
    SUFFIX,
    OptimizedFile,
    OptimizeProgress,
    read_progress,
)
from jarvis_workers.c2rust.runs.project_files import write_file
from jarvis_workers.c2rust.runs.result_files import read_artifact, write_new
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions
from jarvis_workers.c2rust.stages.write_optimization import MODEL, REPORT_FILE, pass_file
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing
from jarvis_workers.runs.run_kinds import Panel, StoredRun, text_panel
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.rust.rust_syntax import unsafe_block_lines
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.file_changes import FileChange, replace_files
from jarvis_workers.toolchain.git_import import NewCommit, add_commits, find_repository
from jarvis_workers.words import ENGLISH

# The passes of an optimization as commits on a branch of the crate's git repository.

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


FORMATS = ("text", "json")
MOST_FILES = 3


def panel(stored: StoredRun) -> Panel | None:
    """Return the text report of an ended run, for its page."""
    return text_panel("symbols", stored)


def render(stored: StoredRun, form: str) -> Iterator[str]:
    """Return the pieces of a report. Raises UsageError for a format that is not available."""
    return OptimizeResult(stored.store, stored.blobs, stored.run).render(form)


class OptimizeResult:
    """The result of a run in the store."""

    def __init__(self, store: Store, blobs: Blobs, run: Run) -> None:
        self._store, self._blobs, self.run = store, blobs, run
        self._options = OptimizeOptions.of(run)

    @cached_property
    def report(self) -> OptimizeReport | None:
        """The report, or None if the run has none."""
        content = read_artifact(self._store, self._blobs, self.run, REPORT_FILE)
        return OptimizeReport.model_validate_json(content) if content else None

    @cached_property
    def changes(self) -> dict[str, FileChange]:
        """The files that the run read, each with its content before and after."""
        after = self._passes[-1][1] if self._passes else {}
        before = files_of(self._blobs.read(self._options.archive))
        return {
            name: FileChange(text, after.get(name, text))
            for name, text in before.items()
            if name.endswith(SUFFIX) or name == MANIFEST
        }

    @cached_property
    def _passes(self) -> list[tuple[str, dict[str, bytes]]]:
        """The files that differ from those of the crate after each pass that has run, by its name."""
        names = (*self._options.passes, MODEL)
        named = ((name, read_artifact(self._store, self._blobs, self.run, pass_file(name))) for name in names)
        return [(name, files_of(content)) for name, content in named if content]

    def commit(self, root: Path) -> str | None:
        """Commit each pass to a new branch of the crate's git repository; return its name, None without changes.

        Raises UsageError if git fails.
        """
        before = {name: one.before or b"" for name, one in self.changes.items()}
        return commit_passes(root, self.run.id, before, self._passes) if self.changed else None

    @property
    def changed(self) -> dict[str, FileChange]:
        """The files that the run changes."""
        return {name: one for name, one in self.changes.items() if one.before != one.after}

    def lines(self) -> Iterator[str]:
        """Yield the lines of the result for a terminal."""
        if self.report is None:
            return
        found, count = self.report, ENGLISH.count
        before, after = (sum(_lines(one[side] or b"") for one in self.changes.values()) for side in (0, 1))
        yield f"{count(found.files_scanned, 'file')}, {len(self.changed):,} changed"
        yield (
            f"unsafe blocks: {found.unsafe_removed:,} removed, "
            f"{count(found.unsafe_annotated, 'SAFETY comment')} added; "
            f"lines in unsafe blocks: {before:,} before, {after:,} after"
        )
        yield (
            f"{count(found.duplicates_tagged, 'duplicate')}, "
            f"{count(found.visibility_downgraded, 'function')} no longer public, "
            f"{count(found.docs_added, 'comment')} for documentation; {count(found.cargo_checks, 'run')} of cargo test"
        )
        if not self._options.model_group:
            yield "no model was asked"
        yield from (f"the model improved {file}" for file in found.files_improved)
        yield from (f"NOT CHECKED: {one}" for one in found.errors)

    def render(self, form: str) -> Iterator[str]:
        """Yield the pieces of a report. Raises UsageError for a format that is not available."""
        if form not in FORMATS:
            raise UsageError(f'--format: "{form}" is not for optimization; use {" or ".join(FORMATS)}')
        if form == "json":
            yield (self.report or OptimizeReport()).model_dump_json(indent=1) + "\n"
        else:
            yield from (f"{line}\n" for line in self.lines())

    def export(self, directory: Path | None) -> list[Path]:
        """Write the changed files and the report to a directory; return their paths. Raises UsageError without one."""
        if directory is None:
            raise UsageError(f"run {self.run.id} changes a crate; choose a directory for the changed files with -d")
        files = {name: one.after for name, one in self.changed.items()}
        for name, content in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return [*(directory / name for name in files), write_new(directory / REPORT_FILE, list(self.render("json")))]

    def deliver(self, root: Path, say: Callable[[str], None] | None = None) -> list[Path]:
        """Write the changed files of the crate, the report and the progress; return the paths of the latter two.

        Raises UsageError if a file of the crate has been edited since the run began; then no file is written.
        """
        try:
            blocked = replace_files(root, self.changes)
        except OSError as error:
            raise UsageError(f"{root}: cannot be written: {error.strerror}; no file was changed") from error
        if blocked:
            raise UsageError(
                f"no file was written: {listing(blocked, MOST_FILES)}; the result: "
                f"jarvis runs export {self.run.id} -d DIR"
            )
        files = {REPORT_FILE: list(self.render("json")), PROGRESS: self._progress(root)}
        return [write_file(root, name, lines, say) for name, lines in files.items()]

    def _progress(self, root: Path) -> list[str]:
        """Return the progress after this run; files with problems are not finished, none if the run stopped early."""
        earlier = read_progress(root)
        passes = (*self._options.passes, *((MODEL,) if self._options.model_group else ()))
        errors = self.report.errors if self.report else ("",)
        is_done = all(": " in one for one in errors)
        now = {
            file: OptimizedFile(hash=sha256(self.changes[file].after).hexdigest(), passes=passes)
            for file in self._options.files
            if is_done and not any(one.startswith(f"{file}: ") for one in errors)
        }
        files = {**earlier.files, **now}
        return [OptimizeProgress(processed=tuple(sorted(files)), files=files).model_dump_json(indent=1) + "\n"]


def reset_progress(root: Path) -> None:
    """Forget which files of a crate are optimized."""
    write_file(root, PROGRESS, [OptimizeProgress().model_dump_json(indent=1) + "\n"])


def write_empty_report(root: Path) -> None:
    """Write the report of a command that finds no file to optimize."""
    write_file(root, REPORT_FILE, [OptimizeReport().model_dump_json(indent=1) + "\n"])


def root_of(run: Run) -> Path:
    """Return the directory of the crate of a run."""
    return Path(os.fsdecode(run.root_raw))


def _lines(content: bytes) -> int:
    return unsafe_block_lines(content.decode(errors="replace"))
