"""The macros and include directories with which the files of a run are compiled, as a blob for workers.

Many files have the same ones; the blob contains each set once.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from jarvis_workers.snapshots.blobs import Blobs

KEY_LENGTH = 8


class FileFlags(NamedTuple):
    """Macros such as `SIZE=8`, and directories below the root of the scan, "" for the root itself."""

    defines: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


class BuildFlags:
    """The flags of files by path, as paths are shown."""

    def __init__(self, files: Mapping[str, FileFlags], key: str) -> None:
        self._files = files
        # Cache keys of a run with flags end with it; of a run without, it is empty.
        self.key = key

    def of(self, path: str) -> FileFlags:
        return self._files.get(path, FileFlags())

    def key_of(self, path: str) -> str:
        """Return a hash of the flags of a file; empty in a run without flags."""
        return sha256(json.dumps(self.of(path)).encode()).hexdigest()[:KEY_LENGTH] if self.key else ""


def encode_flags(files: Mapping[str, FileFlags]) -> bytes:
    """Return the content of the blob."""
    numbers: dict[FileFlags, int] = {}
    by_file = {path: numbers.setdefault(flags, len(numbers)) for path, flags in sorted(files.items())}
    return json.dumps({"flags": list(numbers), "files": by_file}).encode()


def files_of(content: bytes) -> Sequence[str]:
    """Return the files of a blob, as their paths are shown."""
    return tuple(json.loads(content)["files"])


@lru_cache(2)
def open_flags(blobs: Blobs, blob: str | None) -> BuildFlags:
    """Return the flags of a run; `blob` is None for a run without."""
    if blob is None:
        return BuildFlags({}, "")
    fields = json.loads(blobs.read(blob))
    flags = [FileFlags(tuple(defines), tuple(include)) for defines, include in fields["flags"]]
    return BuildFlags({path: flags[number] for path, number in fields["files"].items()}, "flags")


def include_of(path: str, flags: FileFlags) -> Sequence[str]:
    """Return where a file looks for headers: first in its own directory."""
    return (path.rpartition("/")[0], *flags.include) if flags.include else ()
