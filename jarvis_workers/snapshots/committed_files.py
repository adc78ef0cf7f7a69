"""The files of the commit that is checked out, to which the files of a tree are compared while they are packed."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.snapshots.unchanged_since import Unchanged


@dataclass
class CommittedFiles:
    """Hashes of the committed sources below a directory by path; files in `submodules` belong to other commits."""

    directory: Path
    blobs: dict[bytes, str] = field(default_factory=dict)
    submodules: list[bytes] = field(default_factory=list)
    unreadable: bool = False
    differs: bool = False
    _seen: set[bytes] = field(default_factory=set)

    def compare(self, path: bytes, content: bytes) -> None:
        """Compare a file of the tree with the commit."""
        if self.differs or self.unreadable:
            return
        self._seen.add(path)
        is_ours = not path.startswith(tuple(self.submodules))
        self.differs = is_ours and not Unchanged("", self.blobs).holds(path, content)

    def is_dirty(self, selection: Selection) -> bool | None:
        """Return whether the tree differs from the commit, also by a deleted file; None if that is not known."""
        if self.unreadable:
            return None
        missing = (path for path in self.blobs.keys() - self._seen if selection.covers(path))
        return self.differs or any(not os.path.lexists(self.directory / os.fsdecode(path)) for path in missing)
