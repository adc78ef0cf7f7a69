"""The directory of a user's crate: written by conversions, which replace only what a conversion has written.

MANIFEST names the run of the last conversion, and lists its files with their hashes: a file that the user has edited
since, or that is not listed, is never overwritten or removed.
"""

import json
import os
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from jarvis_workers.c2rust.rust_names import KEYWORDS
from jarvis_workers.errors import UsageError

MANIFEST = ".jarvis-crate.json"
MANIFEST_BYTES = 64_000_000
RUN, FILES = "run", "files"
SOURCES, MOST_FILES = "src", 100_000
RUST_CRATES = frozenset(("alloc", "core", "proc_macro", "std", "test"))


def crate_name(root: Path) -> str:
    """Return the name of the crate in a directory: the name of the directory, converted to a valid crate name.

    Programs refer to the library by its name, which must not be a keyword or a crate of Rust itself.
    """
    name = re.sub(r"[^a-z0-9_]+", "_", root.resolve().name.lower()).strip("_") or "library"
    return name if name[0].isalpha() and name not in KEYWORDS | RUST_CRATES else f"lib{name}"


def check_target(crate: Path) -> None:
    """Raise UsageError if a path cannot hold a crate.

    It must be a new or empty directory, or one that a conversion has written and that has not been edited since.
    """
    if crate.is_symlink() or (crate.exists() and not crate.is_dir()):
        raise UsageError(f"{crate}: not a directory; choose another path with -o")
    _check_writable(crate)
    if not crate.is_dir() or not any(crate.iterdir()):
        return
    listed = _listed(crate)
    if listed is None:
        raise UsageError(f"{crate}: not written by jarvis c2rust; choose an empty directory with -o")
    for name, digest in listed.items():
        path = _place(crate, name)
        if path.exists() and _digest(path) != digest:
            raise UsageError(
                f"{path}: edited since the last conversion; move it away, or choose another directory with -o"
            )


def check_own(crate: Path, run: str) -> None:
    """Raise UsageError if a directory has the crate of another run than `run`, as its manifest says."""
    writer = _manifest(crate).get(RUN)
    if _listed(crate) is not None and writer != run:
        raise UsageError(
            f"{crate}: has the crate of {f'run {writer}' if writer else 'another run'}, which the crate so far of run"
            f" {run} does not replace; move it away, or choose another directory"
        )


def _check_writable(crate: Path) -> None:
    """Raise UsageError if the directory cannot be made, or no file can be made in it."""
    nearest = next(path for path in (crate, *crate.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise UsageError(f"{crate}: {nearest} is not a directory; choose another path with -o")
    try:
        with TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise UsageError(f"{crate}: cannot be written: {error.strerror}; choose another directory with -o") from error


def read_crate(crate: Path) -> tuple[str, dict[str, bytes]]:
    """Return the run that wrote a crate, and the current contents of its files and of other files in src.

    Raises UsageError if no conversion wrote the directory, or if a file cannot be read.
    """
    listed = _listed(crate)
    if listed is None:
        raise UsageError(f"{crate}: not a crate of jarvis c2rust fast; give its directory with --crate-dir")
    added = {str(path.relative_to(crate)) for path in sorted((crate / SOURCES).rglob("*"))[:MOST_FILES]}
    files: dict[str, bytes] = {}
    for name in sorted(listed.keys() | added):
        path = _place(crate, name)
        try:
            if path.is_file() and path.stat().st_size <= MANIFEST_BYTES:
                files[name] = path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    return _manifest(crate).get(RUN, ""), files


def write_files(crate: Path, files: Mapping[str, bytes], run: str = "") -> list[Path]:
    """Write the files of a run's crate, and remove those that only an earlier conversion wrote; return their paths.

    Raises UsageError as `check_target` does, if a file exists that no conversion wrote, or if writing fails.
    """
    check_target(crate)
    listed = _listed(crate) or {}
    try:
        paths = {name: _place(crate, name) for name in files}
        for name, path in paths.items():
            if name not in listed and (path.exists() or path.is_symlink()):
                raise UsageError(
                    f"{path}: not written by jarvis c2rust; move it away, or choose another directory with -o"
                )
        for name in listed.keys() - files.keys():
            _place(crate, name).unlink(missing_ok=True)
        crate.mkdir(parents=True, exist_ok=True)
        digests = {name: sha256(content).hexdigest() for name, content in sorted(files.items())}
        # Before the files: an interrupted conversion may leave fewer than listed, never unlisted ones.
        _write_manifest(crate, run, {**listed, **digests})
        for name, path in paths.items():
            if not path.exists() or path.read_bytes() != files[name]:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files[name])
        _write_manifest(crate, run, digests)
    except OSError as error:
        raise UsageError(f"{crate}: cannot be written: {error.strerror}") from error
    return list(paths.values())


def _place(crate: Path, name: str) -> Path:
    """Return the path of a file; raise UsageError if it is outside the crate, even through a symbolic link."""
    path = Path(os.path.normpath(crate / name))
    real = Path(os.path.realpath(path.parent))
    if not path.is_relative_to(os.path.normpath(crate)) or not real.is_relative_to(os.path.realpath(crate)):
        raise UsageError(f"{path}: outside the crate")
    return path


def _write_manifest(crate: Path, run: str, digests: Mapping[str, str]) -> None:
    (crate / MANIFEST).write_text(json.dumps({RUN: run, FILES: digests}, indent=0) + "\n")


def _manifest(crate: Path) -> dict[str, Any]:
    path = crate / MANIFEST
    try:
        content = json.loads(path.read_bytes()) if path.stat().st_size <= MANIFEST_BYTES else None
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _listed(crate: Path) -> dict[str, str] | None:
    files = _manifest(crate).get(FILES)
    return {str(name): str(digest) for name, digest in files.items()} if isinstance(files, dict) else None


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
