"""The preview of changed files, and their statistics.

A file with more than MOST_LINES changed lines is summarized, a removed one is a line, a renamed one has its new path.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.agents.tools.editing import ChangedFile
from jarvis_workers.agents.tools.edits import decode, is_binary, line_counts
from jarvis_workers.words import ENGLISH

# Seed 001, CodeAgent 3.3: larger changes of a file are only counted.
MOST_LINES = 300
MOST_PREVIEW_LINES = 2_000
LONGEST_LINE = 500


class FileDifference(NamedTuple):
    """A changed file by its new path: "added", "modified", "removed" or "renamed", and its numbers of lines.

    `old_path` is that of a renamed file.
    """

    path: str
    status: str
    added: int = 0
    removed: int = 0
    old_path: str = ""


class ChangeStatistics(NamedTuple):
    """Totals of a change: lines, and calls of edit tools."""

    lines_added: int = 0
    lines_removed: int = 0
    code_modifications: int = 0


def list_changes(files: Mapping[str, ChangedFile]) -> list[FileDifference]:
    """Return the changed files in order; a removed file whose content another one has now is renamed."""
    removed = {file.before: path for path, file in sorted(files.items()) if file.after is None and file.before}
    changes, renamed = list[FileDifference](), set[str]()
    for path, file in sorted(files.items()):
        old = removed.get(file.after) if file.before is None and file.after else None
        if old and old not in renamed:
            renamed.add(old)
            changes.append(FileDifference(path, "renamed", old_path=old))
        elif file.after is not None:
            status = "added" if file.before is None else "modified"
            changes.append(FileDifference(path, status, *line_counts(file.before or b"", file.after)))
    for path, file in files.items():
        if file.after is None and path not in renamed:
            changes.append(FileDifference(path, "removed", 0, len((file.before or b"").splitlines())))
    return sorted(changes)


def statistics_of(changes: Sequence[FileDifference], modifications: int) -> ChangeStatistics:
    """Return the totals; `modifications` is the number of calls of edit tools."""
    return ChangeStatistics(sum(one.added for one in changes), sum(one.removed for one in changes), modifications)


def preview_changes(files: Mapping[str, ChangedFile], changes: Sequence[FileDifference]) -> str:
    """Return the preview of the changes by file."""
    lines = list[str]()
    for change in changes:
        lines += _preview(change, files[change.path])
    if len(lines) > MOST_PREVIEW_LINES:
        lines = [*lines[:MOST_PREVIEW_LINES], f"[… {len(lines) - MOST_PREVIEW_LINES:,} more lines of the preview …]"]
    return "\n".join(lines)


def _preview(change: FileDifference, file: ChangedFile) -> Iterator[str]:
    counts = f"+{change.added:,} -{change.removed:,}"
    if change.status == "renamed":
        yield f"{change.path}: renamed from {change.old_path}"
    elif change.status == "removed":
        yield f"{change.path}: removed ({ENGLISH.count(change.removed, 'line')})"
    elif any(content and is_binary(content) for content in file):
        yield f"{change.path}: {change.status}, binary: no difference can be shown"
    elif change.added + change.removed > MOST_LINES:
        yield f"{change.path}: {change.status}, {counts}: too large to show"
    else:
        yield f"{change.path}: {change.status}, {counts}"
        before, after = (decode(content or b"").splitlines() for content in file)
        for line in list(difflib.unified_diff(before, after, lineterm=""))[2:]:
            yield line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}[…]"
