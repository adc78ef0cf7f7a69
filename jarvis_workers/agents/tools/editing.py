"""patch and rewrite: edit files of a workspace, in one call several files, all or none.

Both run again when a conversation resumes (`Tool.replayed`), since their effect is on a scratch copy that is new then.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from jarvis_workers.agents.tools.edit_matching import LINE_END, WINDOWS_LINE_END
from jarvis_workers.agents.tools.edit_workspace import EditWorkspace, SeenFiles
from jarvis_workers.agents.tools.edits import (
    TextEdit,
    apply_edits,
    content_hash,
    decode,
    diff_summary,
    encode,
    has_windows_line_ends,
    is_binary,
    is_text,
)
from jarvis_workers.agents.tools.reading import read_code
from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed

PATCH, REWRITE = "patch", "rewrite"
MOST_EDITS = 100
PATCH_DESCRIPTION = (
    "Replace texts in files: search, or all from search_start through search_end. It must be in its file (in the lines "
    "of range) exactly once: copy it with lines around it, without line numbers. All edits refer to the files before "
    "the call; all are made, or none."
)
REWRITE_DESCRIPTION = "Write whole files, also new ones; content null removes one. All are written, or none."


def _normal(path: str) -> str:
    """Return a path without `.` and, where it stays below the root, without `..`; links are not looked at."""
    return posixpath.normpath(path) if path.strip() else path


EditedPath = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_normal)]
LineRange = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,9}-[0-9]{1,9}$")]


class PatchEdit(ToolArguments):
    """One replacement in a file."""

    path: EditedPath = Field(description="from the project root")
    search: str | None = None
    search_start: str | None = None
    search_end: str | None = None
    range: LineRange | None = Field(default=None, description="lines to look in, such as 10-40")
    replace: str

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.search is None) == (self.search_start is None) or (self.search_start is None) != (
            self.search_end is None
        ):
            raise ValueError("give either search, or search_start and search_end")
        return self

    def edit(self) -> TextEdit:
        """Return the edit."""
        first, _, last = (self.range or "").partition("-")
        lines = (int(first), int(last)) if self.range else None
        search = self.search if self.search is not None else self.search_start
        return TextEdit(self.path, search or "", self.replace, self.search_end or "", lines)


class PatchFiles(ToolArguments):
    """Replacements in files."""

    edits: list[PatchEdit] = Field(min_length=1, max_length=MOST_EDITS)


class NewFile(ToolArguments):
    """A file and its new content."""

    path: EditedPath = Field(description="from the project root")
    content: str | None


class RewriteFiles(ToolArguments):
    """Files to write."""

    files: list[NewFile] = Field(min_length=1, max_length=MOST_EDITS)


def edit_tools(workspace: EditWorkspace) -> list[Tool]:
    """Return the tools patch and rewrite."""
    return [
        typed(
            PatchFiles,
            lambda arguments: _patch(workspace, arguments),
            name=PATCH,
            description=PATCH_DESCRIPTION,
            replayed=True,
        ),
        typed(
            RewriteFiles,
            lambda arguments: _rewrite(workspace, arguments),
            name=REWRITE,
            description=REWRITE_DESCRIPTION,
            replayed=True,
        ),
    ]


def watched_reading(workspace: EditWorkspace) -> Tool:
    """Return read_code for a workspace, which thereby knows the contents that edits refer to."""
    return replace(read_code(SeenFiles(workspace)), replayed=True)


def _patch(workspace: EditWorkspace, arguments: PatchFiles) -> ToolOutcome:
    edits = [edit.edit() for edit in arguments.edits]
    contents = {path: workspace.find(path) for path in dict.fromkeys(edit.path for edit in edits)}
    files = {path: content for path, content in contents.items() if content is not None}
    result = apply_edits(files, edits, workspace.hashes)
    if result.problems:
        problems = "".join(f"\n{problem}" for problem in result.problems)
        return ToolOutcome("failed", stderr=f"nothing was changed{problems}")
    if not result.files:
        return ToolOutcome("failed", stderr="nothing was changed: the texts are the same")
    workspace.replace(result.files)
    return ToolOutcome(stdout=diff_summary(files, result.files))


def _rewrite(workspace: EditWorkspace, arguments: RewriteFiles) -> ToolOutcome:
    contents = {file.path: file.content for file in arguments.files}
    if len(contents) < len(arguments.files):
        raise ToolFailed("a path occurs twice; nothing was changed")
    before = {path: workspace.find(path) for path in contents}
    after = {path: _content(path, text, before[path], workspace.hashes) for path, text in contents.items()}
    workspace.replace(after)
    return ToolOutcome(stdout=_written(before, after))


def _content(path: str, text: str | None, before: bytes | None, hashes: Mapping[str, str]) -> bytes | None:
    """Return the bytes to write, with the byte order mark and the line ends of the file. Raises ToolFailed."""
    if before is None and text is None:
        raise ToolFailed(f"{path}: there is no such file; nothing was changed")
    if before is not None and path in hashes and content_hash(before) != hashes[path]:
        raise ToolFailed(f"{path}: the file has changed since it was read; read it again; nothing was changed")
    if text is None:
        return None
    if not is_text(text) or "\0" in text:
        raise ToolFailed(f"{path}: the content is not text; nothing was changed")
    if before is None:
        return text.encode()
    old = decode(before)
    if is_binary(before) or not is_text(old):
        raise ToolFailed(f"{path}: the file is not UTF-8 text; edit parts of it with {PATCH}; nothing was changed")
    if has_windows_line_ends(old) and WINDOWS_LINE_END not in text:
        text = text.replace(LINE_END, WINDOWS_LINE_END)
    return encode(text, before)


def _written(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> str:
    lines: Sequence[str] = [
        f"{path}: removed"
        if content is None
        else f"{path}: {len(content)} bytes written{' to a new file' if before[path] is None else ''}"
        for path, content in after.items()
    ]
    return "\n".join(lines)
