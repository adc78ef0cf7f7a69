"""The crates that replaced functions may call: fetch them, find their directory, and pack them for a run.

Fetched crates are kept in the data directory, not in the project, whose files are untrusted: the user builds them.
"""

import gzip
import os
import shutil
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.bench.crate_archive import tar_of
from jarvis_workers.c2rust.library_replacement import CRATE, STANDARD, canonical
from jarvis_workers.c2rust.vendored_crates import CHECKSUM, MANIFEST, VENDOR, read_vendored
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, shown
from jarvis_workers.toolchain.cargo import fetch_crates, find_rust
from jarvis_workers.toolchain.temporary import temporary_directory
from jarvis_workers.words import ENGLISH

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

SETTING, FETCHED, TEMPORARY = "c2rust.vendor", "crates", "jarvis-crates"
COMPRESSION, MEGABYTE = 1, 1_000_000
MANIFEST_BYTES, MOST_CRATES, MOST_FILES = 1_000_000, 5_000, 50_000
ADVICE = "cargo vendor writes one directory per crate"


def allowed_crates(settings: "Settings", disabled: Iterable[str] = (), library: str | None = None) -> tuple[str, ...]:
    """Return the crates that may replace functions, in addition to those of the compiler."""
    without = {*STANDARD, *map(canonical, disabled)}
    names = (*([library] if library else ()), *settings.c2rust.allowed_crates)
    return tuple(dict.fromkeys(name for name in names if canonical(name) not in without))


def fetch_allowed(settings: "Settings", names: Iterable[str], root: Path) -> str:
    """Fetch crates for a project, in place of those fetched before; return a line about them. Raises UsageError."""
    if settings.c2rust.vendor:
        raise UsageError(f"--fetch-crates and {SETTING} exclude each other")
    chosen = tuple(names)
    if not chosen:
        raise UsageError("--fetch-crates: no crate is allowed; set c2rust.allowed_crates")
    if wrong := [name for name in chosen if not CRATE.fullmatch(name)]:
        raise UsageError(f"--fetch-crates: {plain(wrong[0])!r} is not the name of a crate")
    place, c2rust = _fetched(settings, root), settings.c2rust
    if place.resolve().is_relative_to(root.resolve()):
        text = f"--fetch-crates: the data directory {settings.data_dir} is in the project {root}"
        raise UsageError(f"{text}, and cargo would obey its configuration; set data_dir")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with temporary_directory(TEMPORARY, place.parent) as work:
            fetch_crates(chosen, work, find_rust(), seconds=c2rust.fetch_seconds, megabytes=c2rust.vendor_mb)
            count = len(list((work / VENDOR).iterdir()))
            shutil.rmtree(place, ignore_errors=True)
            (work / VENDOR).rename(place)
    except OSError as error:
        raise UsageError(f"{place}: cannot be written: {error.strerror}") from error
    return f"fetched {', '.join(chosen)}: {ENGLISH.count(count, 'crate')} with dependencies, in {place}"


def pack_crates(settings: "Settings", root: Path, names: Iterable[str]) -> bytes:
    """Return the archive of the crates with these names, as far as they are vendored, with what they depend on.

    Returns b"" for none. Raises UsageError for a directory that `cargo vendor` cannot have written.
    """
    chosen = [name for name in names if canonical(name) not in STANDARD]
    place = Path(settings.c2rust.vendor).expanduser() if settings.c2rust.vendor else _fetched(settings, root)
    if not chosen or not (settings.c2rust.vendor or place.is_dir()):
        return b""
    try:
        directories = _directories(place)
        manifests = read_vendored({f"{name}/{MANIFEST}": _manifest(place / name) for name in directories})
        needed = manifests.with_needs(one for name in chosen if (one := manifests.find(name)))
        files = _contents(place, [one.directory for one in needed], settings.c2rust.vendor_mb)
    except ValueError as error:
        raise UsageError(f"{SETTING}: {place}/{plain(str(error))}") from error
    except OSError as error:
        raise UsageError(f"{SETTING}: {plain(str(error.filename))}: {error.strerror}") from error
    return gzip.compress(tar_of(files), COMPRESSION, mtime=0) if files else b""


def _fetched(settings: "Settings", root: Path) -> Path:
    """Return the directory of the crates that were fetched for a project."""
    return settings.data_dir / FETCHED / sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:32]


def _directories(place: Path) -> list[str]:
    """Return the directories of crates; files beside them are ignored, as cargo does."""
    if not place.is_dir():
        raise UsageError(f"{SETTING}: {place}: not a directory; {ADVICE}")
    names = sorted(path.name for path in place.iterdir() if not path.name.startswith(".") and not path.is_file())
    if len(names) > MOST_CRATES:
        raise UsageError(f"{SETTING}: {place}: more than {MOST_CRATES:,} crates")
    return names


def _manifest(crate: Path) -> bytes:
    """Return the manifest of a crate. Raises UsageError for a directory that is not a vendored crate."""
    if crate.is_symlink():
        raise UsageError(f"{SETTING}: {plain(str(crate))}: a symbolic link; {ADVICE}")
    for name in (MANIFEST, CHECKSUM):
        if (crate / name).is_symlink() or not (crate / name).is_file():
            raise UsageError(f"{SETTING}: {plain(str(crate))}: it has no {name}; {ADVICE}")
    with (crate / MANIFEST).open("rb") as file:
        content = file.read(MANIFEST_BYTES + 1)
    if len(content) > MANIFEST_BYTES:
        raise UsageError(f"{SETTING}: {plain(str(crate))}: {MANIFEST} is larger than {MANIFEST_BYTES:,} bytes")
    return content


def _contents(place: Path, directories: Iterable[str], most_megabytes: float) -> dict[str, bytes]:
    files, size = dict[str, bytes](), 0
    for path in (path for name in directories for path in _files(place / name)):
        size += path.stat().st_size
        if size > most_megabytes * MEGABYTE or len(files) >= MOST_FILES:
            raise UsageError(
                f"{SETTING}: {place}: the crates to use have more than {most_megabytes:g} MB or {MOST_FILES:,} files; "
                "raise c2rust.vendor_mb"
            )
        name = path.relative_to(place).as_posix()
        if not _is_utf8(name):
            raise UsageError(f"{SETTING}: {plain(shown(os.fsencode(path)))}: its name is not UTF-8")
        files[name] = path.read_bytes()
    return files


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _files(crate: Path) -> Iterator[Path]:
    """Yield the files of a crate. Raises UsageError for anything but regular files and directories."""
    for directory, names, files in os.walk(crate, onerror=_raise):
        names.sort()
        for path in (Path(directory, name) for name in (*names, *sorted(files))):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise UsageError(f"{SETTING}: {plain(str(path))}: neither a file nor a directory; {ADVICE}")
            if path.is_file():
                yield path


def _raise(error: OSError) -> None:
    raise error
