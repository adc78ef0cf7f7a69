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
