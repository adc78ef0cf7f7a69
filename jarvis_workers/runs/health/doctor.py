"""Check whether this machine can execute runs, and suggest remedies.

A failure prevents all runs; a warning means that runs are slower, smaller or less thorough. The facts about the machine
are collected first, as values, and checked afterwards.
"""

import errno
import os
import resource
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jarvis_workers.errors import JarvisError, StoreOutdated, StoreRefused
from jarvis_workers.redact import redact
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.filecache import FOLDER, KEY_FILE, FileCache
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.toolchain.filesystem import network_file_system

MEGABYTE = 10**6
GIGABYTE = 10**9
# Major, minor, micro and release level, as in `sys.version_info`.
Release = tuple[int, int, int, str]
NEWEST_TESTED = (3, 13)
OTHERS = 0o077
LEAST_FREE_DISK = 1 * GIGABYTE
LEAST_FREE_MEMORY = GIGABYTE // 2
LEAST_OPEN_FILES = 1024
FASTEST_ENGINE = "hyperscan"
# A server that refuses us is running.
REFUSED_REMEDY = 'see "Permissions" and "Addresses" in docs/cluster.md'

TOOLS = {
    "git": "to scan git URLs, revisions or only changed files",
    "cc": "to resolve headers as the compiler does",
    "cargo": "to build Rust code",
    "dot": "(graphviz) to draw call graphs",
}

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """The result of a check: name, state, description, and the remedy ("" if none is needed)."""

    name: str
    state: State
    says: str
    remedy: str = ""


@dataclass(frozen=True)
class MachineFacts:
    """Facts about the machine; None means unknown, and limits are as reported by the kernel."""

    tools: Mapping[str, str | None]
    mounts: str | None = None
    python: Release = (*sys.version_info[:3], sys.version_info.releaselevel)
    free_disk: int | None = None
    free_memory: int | None = None
    open_files: int = resource.RLIM_INFINITY
    file_bytes: int = resource.RLIM_INFINITY


def this_machine(data_dir: Path) -> MachineFacts:
    """Collect the facts; free disk space is that of the file system of `data_dir`."""
    return MachineFacts(
        tools={tool: shutil.which(tool) for tool in TOOLS},
        free_disk=shutil.disk_usage(_existing(data_dir)).free,
        free_memory=free_memory(_read(Path("/proc/meminfo"))),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        file_bytes=resource.getrlimit(resource.RLIMIT_FSIZE)[0],
    )


def free_memory(meminfo: str) -> int | None:
    """Parse the bytes available without swapping from the text of /proc/meminfo."""
    sizes = {name: rest.split() for name, _, rest in (line.partition(":") for line in meminfo.splitlines())}
    kilobytes = sizes.get("MemAvailable") or sizes.get("MemFree")
    return int(kilobytes[0]) * 1024 if kilobytes else None


def examine(
    settings: Settings, machine: MachineFacts, *, probe_store: Callable[[], str], probe_matcher: Callable[[], str]
) -> list[Check]:
    """Run all checks, in the order in which a run needs the parts.

    `probe_store` connects to the store and describes it, `probe_matcher` names the matching engine; a JarvisError of
    either becomes a failure.
    """
    return [
        _python(machine.python, settings.process_count),
        _data_directory(settings.data_dir),
        _file_system(settings, machine),
        _disk(machine.free_disk),
        _results(settings),
        _probed("store", probe_store, "set JARVIS_STORE_URL to a reachable database"),
        _matcher(probe_matcher),
        *(_tool(tool, machine.tools.get(tool)) for tool in TOOLS),
        _open_files(machine.open_files),
        _file_size(machine.file_bytes),
        _memory(machine.free_memory),
    ]


def examine_blobs(settings: Settings) -> list[Check]:
    """Check the blob store if one is configured; the default one is in the data directory."""
    if settings.blobs_url is None:
        return []
    place = redact(settings.blobs_url)

    def probe() -> str:
        open_blobs(settings.effective_blobs_url, settings.data_dir / "cache").check_access()
        return place

    return [_probed("blobs", probe, "set JARVIS_BLOBS_URL to a directory or bucket that can be written from here")]


def fit(checks: Sequence[Check]) -> bool:
    """Return whether no check failed; warnings are allowed."""
    return all(check.state != "fail" for check in checks)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if os.access(folder, os.F_OK))


def _python(release: Release, processors: int) -> Check:
    """Compare with the Python versions tested in CI; they are listed in `.ci/pythons`."""
    says = f"{'.'.join(map(str, release[:3]))}{'' if release[3] == 'final' else release[3]} on {processors} processors"
    if release[3] != "final":
        return Check("python", "warn", f"{says}, not a final release", "use a final release of Python")
    if release[:2] > NEWEST_TESTED:
        newest = ".".join(map(str, NEWEST_TESTED))
        return Check("python", "warn", f"{says}, newer than the tested versions", f"use Python 3.11 to {newest}")
    return Check("python", "ok", says)


def _data_directory(folder: Path) -> Check:
    """Check by writing a file, as permission bits do not show a full or read-only file system."""
    nearest = _existing(folder)
    try:
        with tempfile.TemporaryFile(dir=nearest) as probe:
            probe.write(b"jarvis")
            probe.flush()
    except OSError as error:
        remedy = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "make it writable"
        says = f"{folder} cannot be written: {error.strerror}"
        return Check("data directory", "fail", says, f"{remedy}, or set JARVIS_DATA_DIR to another directory")
    if nearest == folder and (mode := stat.S_IMODE(folder.stat().st_mode) & OTHERS):
        says = (
            f"{folder} is accessible to other users (mode {mode | 0o700:o}): it"
            " holds source code, transcripts and a secret"
        )
        remedy = f"chmod 700 {shlex.quote(str(folder))}, unless it is shared on purpose"
        return Check("data directory", "warn", says, remedy)
    return Check("data directory", "ok", str(folder) if nearest == folder else f"{folder} (will be created)")


def _file_system(settings: Settings, machine: MachineFacts) -> Check:
    kind = network_file_system(settings.data_dir, machine.mounts)
    if kind is None:
        return Check("file system", "ok", "local")
    if settings.store_url is not None:
        return Check("file system", "ok", f"{kind}, a network file system; the store is elsewhere")
    says = f"{settings.data_dir} is on {kind}, a network file system, where SQLite loses data"
    return Check("file system", "fail", says, "set JARVIS_STORE_URL to PostgreSQL, or JARVIS_DATA_DIR to a local disk")


def _disk(free: int | None) -> Check:
    if free is not None and free < LEAST_FREE_DISK:
        return Check("disk", "warn", f"{_gigabytes(free)} free", "free some space: a run pauses when the disk is full")
    return Check("disk", "ok", f"{_gigabytes(free)} free")


def _results(settings: Settings) -> Check:
    if not settings.cache.max_mb:
        return Check("result cache", "ok", "off: every file is scanned again")
    folder = settings.data_dir
    cache = FileCache(folder / "cache" / FOLDER, settings.cache.max_bytes, folder / KEY_FILE).size()
    return Check("result cache", "ok", f"{cache.bytes / MEGABYTE:,.1f} MB of at most {settings.cache.max_mb:,g} MB")


def _gigabytes(size: int | None) -> str:
    return "an unknown size" if size is None else f"{size / GIGABYTE:.1f} GB"


def _probed(name: str, probe: Callable[[], str], remedy: str) -> Check:
    try:
        return Check(name, "ok", probe())
    except StoreOutdated as error:
        return Check(name, "fail", str(error), "jarvis admin migrate, as the owner of the tables")
    except StoreRefused as error:
        return Check(name, "fail", str(error), REFUSED_REMEDY)
    except JarvisError as error:
        return Check(name, "fail", str(error), remedy)


def _matcher(probe: Callable[[], str]) -> Check:
    check = _probed("matching engine", probe, "install jarvis-workers again")
    if check.state == "ok" and FASTEST_ENGINE not in check.says:
        return Check(
            check.name,
            "warn",
            f"{check.says}: scans are slower",
            "pip install hyperscan (wheels exist for x86-64 Linux)",
        )
    return check


def _tool(tool: str, place: str | None) -> Check:
    if place:
        return Check(tool, "ok", place)
    return Check(tool, "warn", "not found", f"install {tool} {TOOLS[tool]}")


def _open_files(limit: int) -> Check:
    if 0 <= limit < LEAST_OPEN_FILES:
        return Check("open files", "warn", f"at most {limit}", f"raise the limit: ulimit -n {LEAST_OPEN_FILES * 4}")
    return Check("open files", "ok", _limit(limit))


def _limit(limit: int) -> str:
    return "no limit" if limit == resource.RLIM_INFINITY else f"at most {limit:,}"


def _file_size(limit: int) -> Check:
    if limit == resource.RLIM_INFINITY:
        return Check("file size", "ok", _limit(limit))
    remedy = "remove the limit, or the store cannot grow beyond it: ulimit -f unlimited"
    return Check("file size", "warn", f"{_limit(limit)} bytes", remedy)


def _memory(free: int | None) -> Check:
    if free is not None and free < LEAST_FREE_MEMORY:
        return Check("memory", "warn", f"{_gigabytes(free)} free", "stop other processes, or lower JARVIS_PROCESSES")
    return Check("memory", "ok", f"{_gigabytes(free)} free")
