"""A directory whose files an agent may edit: which contents it has seen, and what it has changed.

Every part of a path is opened relative to its parent without following symbolic links, when reading as when writing, so
that no edit leaves the directory. Files are replaced by renaming, all or none, with the mode that they had.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import NamedTuple
from unicodedata import category

from jarvis_workers.agents.tools.edits import content_hash, is_inside
from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.agents.tools.tree import DirectoryTree
from jarvis_workers.paths import is_unsafe, plain

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
