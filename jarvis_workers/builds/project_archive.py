"""Pack a C project with everything that its build and its tests may need, as a tar archive.

Modes, times and symbolic links are preserved, since make compares times and builds run scripts.  The same tree produces
the same bytes.
"""

import gzip
import io
import os
import tarfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from jarvis_workers.builds.local_tree import METADATA
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

COMPRESSION = 1
MEGABYTE = 1_000_000
MOST_ENTRIES = 500_000


def pack_project(root: Path, most_megabytes: float, without: Collection[str] = METADATA) -> bytes:
    """Return the archive of the regular files, directories and symbolic links below a directory.

    `without` are names at the root that are left out, by default version control and `.jarvis`; so are sockets, pipes
    and devices.  Raises UsageError if the total size of the files exceeds `most_megabytes`, or if one cannot be read.
    """
    return pack_files(root, _entries(root, without), most_megabytes)


def pack_files(root: Path, paths: Iterable[Path], most_megabytes: float) -> bytes:
    """Return the archive of these entries below a directory. Raises UsageError as `pack_project` does."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", COMPRESSION, buffer, mtime=0) as compressed,
        tarfile.open(mode="w", fileobj=compressed, format=tarfile.PAX_FORMAT) as archive,
    ):
        size = 0
        for count, path in enumerate(paths, 1):
            size += _add(archive, root, path)
            if size > most_megabytes * MEGABYTE or count > MOST_ENTRIES:
                raise UsageError(
                    f"{root}: more than {most_megabytes:g} MB or {MOST_ENTRIES} files; raise c2rust.build_disk_mb, "
                    "or choose a subdirectory"
                )
    return buffer.getvalue()


def _add(archive: tarfile.TarFile, root: Path, path: Path) -> int:
    try:
        entry = archive.gettarinfo(path, str(path.relative_to(root)))
        if entry is None or not (entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()):
            return 0
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = int(entry.mtime)
        if not entry.isreg():
            archive.addfile(entry)
            return 0
        with path.open("rb") as file:
            archive.addfile(entry, file)
        return entry.size
    except OSError as error:
        raise UsageError(f"{plain(str(path))}: cannot be packed: {error.strerror}") from error


def _entries(root: Path, without: Collection[str]) -> Iterator[Path]:
    """Yield the entries below a directory, in order; symbolic links are not followed."""
    for directory, names, files in os.walk(root):
        if Path(directory) == root:
            names[:] = [name for name in names if name not in without]
        names.sort()
        for name in sorted([*names, *files]):
            yield Path(directory, name)
