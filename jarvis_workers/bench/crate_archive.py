"""Crates as archives."""

import io
import tarfile
from collections.abc import Mapping


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files; the same files produce the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(mode="w", fileobj=buffer, format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    return buffer.getvalue()


def files_of(content: bytes) -> dict[str, bytes]:
    """Return the regular files of an archive by name; it may be compressed."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        files = {entry.name: archive.extractfile(entry) for entry in archive if entry.isreg()}
        return {name: file.read() for name, file in files.items() if file}
