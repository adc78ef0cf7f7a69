"""The directory of a user's crate: written by conversions, which replace only what a conversion has written.

MANIFEST lists the files of the last conversion with their hashes: a file that a person has edited since, or that is not
listed, is never overwritten or removed.
"""

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from jarvis_workers.errors import UsageError

MANIFEST = ".jarvis-crate.json"
MANIFEST_BYTES = 64_000_000


def check_target(crate: Path) -> None:
    """Raise UsageError if a path cannot hold a crate.

    It must be a new or empty directory, or one that a conversion has written and nobody has edited since.
    """
    if crate.is_symlink() or (crate.exists() and not crate.is_dir()):
        raise UsageError(f"{crate}: not a directory; choose another by -o")
    if not crate.is_dir() or not any(crate.iterdir()):
        return
    listed = _listed(crate)
    if listed is None:
        raise UsageError(f"{crate}: not written by jarvis c2rust; choose an empty directory by -o")
    for name, digest in listed.items():
        path = _place(crate, name)
        if path.exists() and _digest(path) != digest:
            raise UsageError(
                f"{path}: edited since the last conversion; move it away, or choose another directory by -o"
            )


def write_files(crate: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write the files of a crate, and remove those that only an earlier conversion wrote; return their paths.

    Raises UsageError as `check_target` does, if a file exists that no conversion wrote, or if writing fails.
    """
    check_target(crate)
    listed = _listed(crate) or {}
    try:
        paths = {name: _place(crate, name) for name in files}
        for name, path in paths.items():
            if name not in listed and (path.exists() or path.is_symlink()):
                raise UsageError(
                    f"{path}: not written by jarvis c2rust; move it away, or choose another directory by -o"
                )
        for name in listed.keys() - files.keys():
            _place(crate, name).unlink(missing_ok=True)
        crate.mkdir(parents=True, exist_ok=True)
        digests = {name: sha256(content).hexdigest() for name, content in sorted(files.items())}
        # Before the files: an interrupted conversion may leave fewer than listed, never unlisted ones.
        (crate / MANIFEST).write_text(json.dumps({**listed, **digests}, indent=0) + "\n")
        for name, path in paths.items():
            if not path.exists() or path.read_bytes() != files[name]:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files[name])
        (crate / MANIFEST).write_text(json.dumps(digests, indent=0) + "\n")
    except OSError as error:
        raise UsageError(f"{crate}: cannot be written: {error.strerror}") from error
    return list(paths.values())


def _place(crate: Path, name: str) -> Path:
    """Return the path of a file; raise UsageError if it lies outside of the crate, also by a symbolic link."""
    path = Path(os.path.normpath(crate / name))
    real = Path(os.path.realpath(path.parent))
    if not path.is_relative_to(os.path.normpath(crate)) or not real.is_relative_to(os.path.realpath(crate)):
        raise UsageError(f"{path}: outside of the crate")
    return path


def _listed(crate: Path) -> dict[str, str] | None:
    path = crate / MANIFEST
    try:
        if path.stat().st_size > MANIFEST_BYTES:
            return None
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict):
        return None
    return {str(name): str(digest) for name, digest in content.items()}


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
