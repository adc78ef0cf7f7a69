"""The central repository: a git repository with methodologies and tools that a team shares.

It is fetched at most once a day, after a failure at most once an hour, within a bound of time and size, into the data
directory; hooks never run. What it contains is untrusted: methodologies enter prompts as marked text, and a tool is
loaded only if the user lists its name.
"""

import math
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.private_files import make_private_directory
from jarvis_workers.runs.sources import PASSWORD
from jarvis_workers.settings import Settings
from jarvis_workers.toolchain import git
from jarvis_workers.toolchain.git_credentials import TOKEN_FILE, read_git_credentials
from jarvis_workers.toolchain.gittree import TreeBounds

CENTRAL, TOOLS, LISTED = "central", "tools", "listed-tools"
REFRESH_SECONDS = 86_400.0
RETRY_SECONDS = 3_600.0
FETCH_SECONDS = 60.0
BOUNDS = TreeBounds(20_000, 100_000_000)
TOOL_BYTES = 1 << 20
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
HASH_LETTERS = 16

Tell = Callable[[str], None]


def central_address(settings: Settings) -> str:
    """Return the address of the central repository. Raises UsageError if there is none, or if it has a password."""
    if not settings.central_repo:
        raise UsageError("no central repository is set; set central_repo in jarvis.yaml to its git URL")
    if PASSWORD.match(settings.central_repo):
        raise UsageError(f"central_repo: do not put credentials in a URL; set {TOKEN_FILE}")
    return settings.central_repo


def central_checkout(settings: Settings) -> Path | None:
    """Return the directory of the checkout, which may not exist yet; None if no central repository is set."""
    if not settings.central_repo:
        return None
    return settings.data_dir / CENTRAL / sha256(settings.central_repo.encode()).hexdigest()[:HASH_LETTERS]


def update_central(
    settings: Settings,
    tell: Tell,
    *,
    environ: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.time,
) -> Path | None:
    """Return the checkout, fetched again after a day; None if there is none.

    A failure is told in one line, and the next attempt is made after an hour.
    """
    place = central_checkout(settings)
    if place is None:
        return None
    marker, failed = place / ".git" / "FETCH_HEAD", place.with_name(f"{place.name}.failed")
    if _age(marker, clock()) < REFRESH_SECONDS or _age(failed, clock()) < RETRY_SECONDS:
        return place if marker.exists() else None
    try:
        address = central_address(settings)
        _replace_or_mark(address, place, failed, environ)
    except UsageError as error:
        tell(f"central_repo: {error}; {'its earlier state is used' if marker.exists() else 'nothing of it is used'}")
    except OSError as error:
        tell(f"central_repo: {plain(str(place))}: {error.strerror}")
    return place if marker.exists() else None


def _replace_or_mark(address: str, place: Path, failed: Path, environ: Mapping[str, str]) -> None:
    """Replace the checkout by what is fetched, or mark the failure. Raises UsageError, OSError."""
    try:
        _replace(address, place, environ)
    except (UsageError, OSError):
        with suppress(OSError):
            failed.touch()
        raise
    failed.unlink(missing_ok=True)


def _age(file: Path, now: float) -> float:
    """Return the seconds since a file was written, infinity if there is none."""
    try:
        # The same for one in the future, of a clock that was set back.
        return abs(now - file.stat().st_mtime)
    except OSError:
        return math.inf


def tool_directories(settings: Settings, tell: Tell) -> tuple[str, ...]:
    """Return the directory with the listed tools of the central repository, if there are any."""
    if not settings.central_tools:
        return ()
    update_central(settings, tell)
    directory = listed_tools(settings, tell)
    return (str(directory),) if directory else ()


def listed_tools(settings: Settings, tell: Tell) -> Path | None:
    """Return a directory with only those tools of the checkout that the setting central_tools lists, None if none."""
    checkout = central_checkout(settings)
    if checkout is None or not settings.central_tools:
        return None
    target = settings.data_dir / CENTRAL / LISTED
    try:
        make_private_directory(target)
        for old in target.iterdir():
            if old.suffix == ".py" and old.stem not in settings.central_tools:
                old.unlink()
        for name in settings.central_tools:
            _copy_tool(checkout / TOOLS / f"{name}.py", name, target, tell)
    except OSError as error:
        tell(f"{plain(str(target))}: {error.strerror}; no tool of the central repository is loaded")
        return None
    return target


def fetch_central(address: str, into: Path, environ: Mapping[str, str]) -> str | None:
    """Check the main branch out into an empty directory, within bounds, and return it; None if there is no commit.

    Raises UsageError.
    """
    credentials = read_git_credentials(environ)
    branch = git.head_branch(address, credentials=credentials, environ=environ, seconds=FETCH_SECONDS)
    if branch:
        git.fetch(address, branch, into, credentials=credentials, environ=environ, bounds=BOUNDS, seconds=FETCH_SECONDS)
    return branch


def _copy_tool(file: Path, name: str, target: Path, tell: Tell) -> None:
    copy = target / f"{name}.py"
    if not NAME.fullmatch(name) or file.is_symlink() or file.parent.is_symlink() or not file.is_file():
        tell(f'central_tools: the central repository has no tool "{plain(name)}"')
    elif file.stat().st_size > TOOL_BYTES:
        tell(f'central_tools: "{name}" is larger than {TOOL_BYTES:,} bytes')
    else:
        aside = target / f".{name}-{secrets.token_hex(8)}"
        shutil.copyfile(file, aside)
        aside.replace(copy)
        return
    if NAME.fullmatch(name):
        copy.unlink(missing_ok=True)


def _replace(address: str, place: Path, environ: Mapping[str, str]) -> None:
    """Fetch into a new directory, which then replaces the earlier one. Raises UsageError, OSError."""
    make_private_directory(place.parent)
    fresh, old = (place.with_name(f"{place.name}-{kind}-{secrets.token_hex(8)}") for kind in ("new", "old"))
    try:
        fresh.mkdir()
        if not fetch_central(address, fresh, environ):
            raise UsageError(f"{plain(address)} is empty")
        with suppress(FileNotFoundError):
            place.rename(old)
        fresh.rename(place)
    finally:
        for directory in (fresh, old):
            shutil.rmtree(directory, ignore_errors=True)
