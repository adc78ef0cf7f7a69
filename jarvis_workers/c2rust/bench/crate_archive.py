"""Crates as archives."""

import io
import tarfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from jarvis_workers.c2rust.vendored_crates import CONFIG, LOCK_FILE, MANIFEST, VENDOR, VendoredCrates, read_vendored

RUNS = 2
# The name of the artifact with the crate of a run.
CRATE = "crate.tar"


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


@lru_cache(RUNS)
def crates_of(content: bytes) -> VendoredCrates:
    """Return the vendored crates in an archive, none for b""; benches of the last runs share them."""
    return read_vendored(files_of(content)) if content else VendoredCrates()


def dependencies_in(crate: Path) -> dict[str, bytes]:
    """Return the files that the dependencies of a crate need: manifest, lock file, configuration and vendored crates.

    Returns no files if the crate has none.
    """
    if not (crate / CONFIG).is_file():
        return {}
    paths = [crate / MANIFEST, crate / CONFIG, crate / LOCK_FILE, *(crate / VENDOR).rglob("*")]
    return {path.relative_to(crate).as_posix(): path.read_bytes() for path in paths if path.is_file()}
