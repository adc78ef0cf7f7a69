"""patch and rewrite: edit files of a workspace, in one call several files, all or none.

Both run again when a conversation resumes (`Tool.replayed`), since their effect is on a scratch copy that is new then.
"""

import os
import posixpath
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import Annotated, NamedTuple, Self
from unicodedata import category

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from jarvis_workers.agents.tools.edit_matching import LINE_END, WINDOWS_LINE_END
from jarvis_workers.agents.tools.edits import (
    TextEdit,
    apply_edits,
    content_hash,
    decode,
    diff_summary,
    encode,
    has_windows_line_ends,
    is_binary,
    is_inside,
    is_text,
)
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.reading import read_code
from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.paths import is_unsafe, plain

# A directory whose files an agent may edit: which contents it has seen, and what it has changed.

FILE_MODE = 0o644
# Control characters, and separators of lines and paragraphs.
CONTROLS = ("Cc", "Zl", "Zp")
OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def is_plain_name(path: str) -> bool:
    """Return whether no part of a path is blank, and it has no control characters or line separators."""
    return all(part.strip() for part in PurePosixPath(path).parts) and not any(
        category(letter) in CONTROLS for letter in path
    )


class ChangedFile(NamedTuple):
    """The content of a file before the first edit and after the last one; None where there is no file."""

    before: bytes | None
    after: bytes | None


class EditWorkspace:
    """The files below `root`; nothing in the directories `closed`, such as submodules, may be edited.

    `hashes` are those of the contents that `see` showed to the agent, or that it wrote.
    """

    def __init__(self, root: Path, closed: tuple[str, ...] = ()) -> None:
        self.root, self.tree = root.resolve(), DirectoryTree(root)
        self.hashes = dict[str, str]()
        self._closed = closed
        self._before = dict[str, bytes | None]()

    def see(self, path: str) -> bytes:
        """Return the content of a file that the agent reads."""
        content = self.tree.read(path)
        self.hashes[str(PurePosixPath(path))] = content_hash(content)
        return content

    def find(self, path: str) -> bytes | None:
        """Return the content of a file that may be edited, or None if there is none. Raises ToolFailed."""
        self._check(path)
        with ExitStack() as stack:
            try:
                directory = self._directory(stack, path, create=False)
                mode = os.lstat(PurePosixPath(path).name, dir_fd=directory).st_mode
            except FileNotFoundError:
                return None
            except OSError as error:
                raise ToolFailed(f"{path}: {error.strerror}; links are not followed") from error
        if not stat.S_ISREG(mode):
            raise ToolFailed(f"{path} is {'a link' if stat.S_ISLNK(mode) else 'not a file'}, and is not edited")
        return self.tree.read(path)

    def replace(self, files: Mapping[str, bytes | None]) -> None:
        """Write the contents of files; None removes a file. Raises ToolFailed if not all can be written: none is."""
        before = {path: self.find(path) for path in files}
        replaced = list[str]()
        try:
            for path, content in files.items():
                replaced.append(path)
                self._write(path, content)
        except OSError as error:
            for path in replaced:
                with suppress(OSError):
                    self._write(path, before[path])
            raise ToolFailed(f"{replaced[-1]}: {error.strerror}; nothing was changed") from error
        for path, content in files.items():
            self._before.setdefault(path, before[path])
            self.hashes.pop(path, None)
            if content is not None:
                self.hashes[path] = content_hash(content)

    def changes(self) -> dict[str, ChangedFile]:
        """Return the files that differ from what they were, by path."""
        files = {path: ChangedFile(before, self.find(path)) for path, before in sorted(self._before.items())}
        return {path: file for path, file in files.items() if file.before != file.after}

    def _check(self, path: str) -> None:
        if not is_inside(path):
            raise ToolFailed(f"{path!r} is not below the root; give a path relative to it, without ..")
        if not is_plain_name(path):
            raise ToolFailed(f'"{plain(path)}": a name must not be blank or contain control characters')
        if is_unsafe(str(PurePosixPath(path))):
            raise ToolFailed(f"{path} belongs to git, and is not edited")
        if closed := next((place for place in self._closed if PurePosixPath(path).is_relative_to(place)), None):
            raise ToolFailed(f"{path} is in the submodule {closed}, and is not edited")

    def _directory(self, stack: ExitStack, path: str, *, create: bool) -> int:
        """Return a descriptor of the directory of a path; missing ones are made with `create`."""
        descriptor = os.open(self.root, OPEN_DIRECTORY)
        stack.callback(os.close, descriptor)
        for part in PurePosixPath(path).parent.parts:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            descriptor = os.open(part, OPEN_DIRECTORY, dir_fd=descriptor)
            stack.callback(os.close, descriptor)
        return descriptor

    def _write(self, path: str, content: bytes | None) -> None:
        name = PurePosixPath(path).name
        with ExitStack() as stack:
            directory = self._directory(stack, path, create=content is not None)
            if content is None:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=directory)
                return
            new = f".{token_hex(8)}.new"
            try:
                with os.fdopen(os.open(new, NEW_FILE, FILE_MODE, dir_fd=directory), "wb") as file:
                    os.fchmod(file.fileno(), _mode(name, directory))
                    file.write(content)
                os.replace(new, name, src_dir_fd=directory, dst_dir_fd=directory)
            except OSError:
                with suppress(OSError):
                    os.unlink(new, dir_fd=directory)
                raise


class SeenFiles:
    """The tree of a workspace (`agents.tools.tree.Tree`) that notes which contents were read."""

    def __init__(self, workspace: EditWorkspace) -> None:
        self._workspace = workspace

    def read(self, path: str) -> bytes:
        return self._workspace.see(path)

    def paths(self) -> Iterator[str]:
        return self._workspace.tree.paths()


def _mode(name: str, directory: int) -> int:
    try:
        return stat.S_IMODE(os.lstat(name, dir_fd=directory).st_mode)
    except FileNotFoundError:
        return FILE_MODE


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
