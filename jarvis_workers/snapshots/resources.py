"""The local resources of steps: blobs, cached results per file, compiled patterns."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.snapshots.blobs import Blobs, DirectoryBlobs
from jarvis_workers.snapshots.filecache import FOLDER, KEY_FILE, FileCache

CACHE_BYTES = 10_000_000_000
PATTERNS_FOLDER = "patterns"
UNPACKED = "sources"
# The environment variables of object store clients: name prefixes by scheme, and variables that all clients use.
CLIENT_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "s3": ("AWS_",),
    "s3a": ("AWS_",),
    "gs": ("GOOGLE_", "GCE_METADATA_", "CLOUDSDK_", "STORAGE_EMULATOR_HOST"),
    "gcs": ("GOOGLE_", "GCE_METADATA_", "CLOUDSDK_", "STORAGE_EMULATOR_HOST"),
}
NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


class Resources(NamedTuple):
    """Local resources: `cache` holds results of earlier runs, `patterns` is a directory; None disables either.

    Snapshots are checked out below the directory `checkouts`, or in a temporary directory if it is None.
    """

    blobs: Blobs
    cache: FileCache | None = None
    patterns: Path | None = None
    checkouts: Path | None = None


def open_resources(url_or_path: str, cache_dir: Path, *, results_bytes: int = 0) -> Resources:
    """Open the blobs and the caches of this machine; `results_bytes` limits the result cache, 0 disables it."""
    cache = FileCache(cache_dir / FOLDER, results_bytes, cache_dir.parent / KEY_FILE) if results_bytes else None
    return Resources(open_blobs(url_or_path, cache_dir), cache, cache_dir / PATTERNS_FOLDER, cache_dir / UNPACKED)


def open_blobs(url_or_path: str, cache_dir: Path, cache_bytes: int = CACHE_BYTES) -> Blobs:
    """Open a directory, or an fsspec URL (s3://…, memory://…) behind a cache."""
    scheme, result, path = url_or_path.partition("://")
    if not result:
        return DirectoryBlobs(Path(url_or_path))
    if scheme in ("file", "local"):
        return DirectoryBlobs(Path(path))
    from jarvis_workers.snapshots.remote import RemoteBlobs  # noqa: PLC0415 - fsspec takes 0.1 s

    return RemoteBlobs(url_or_path, cache_dir, cache_bytes)


def storage_environment(url_or_path: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a child needs to open the blobs: addresses and credentials of an object store."""
    prefixes = CLIENT_PREFIXES.get(url_or_path.partition("://")[0])
    if prefixes is None:
        return {}
    return {name: value for name, value in environ.items() if name.startswith(prefixes) or name.upper() in NETWORK}
