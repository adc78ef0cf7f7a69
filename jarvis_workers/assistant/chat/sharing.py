"""Share methodologies and tools: commit them to a clone of the central repository, and push."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.agents.loop.own_tools import OWN_TOOLS
from jarvis_workers.assistant.chat.methodology_files import FOLDER, methodologies_in
from jarvis_workers.assistant.methodology import Methodology
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.central_repository import FETCH_SECONDS, NAME, TOOL_BYTES, TOOLS, fetch_central
from jarvis_workers.settings.yamlfiles import read_text
from jarvis_workers.toolchain import git
from jarvis_workers.toolchain.git_credentials import read_git_credentials
from jarvis_workers.toolchain.git_import import NewCommit, Repository, add_commits
from jarvis_workers.toolchain.temporary import temporary_directory

DEFAULT_BRANCH = "main"


class SharedFiles(NamedTuple):
    """The files that were pushed, or would be, and the commit, "" for none."""

    files: Sequence[str]
    commit: str = ""


def methodologies_to_share(data: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return the methodologies with these problem types or file names, as files to share. Raises UsageError."""
    found = dict(methodologies_in(data / FOLDER))
    return dict(_methodology(name, found) for name in names)


def tools_to_share(names: Iterable[str], directory: Path = OWN_TOOLS) -> dict[str, bytes]:
    """Return the user's tools with these names, as files to share. Raises UsageError."""
    directory = directory.expanduser()
    available = sorted(file.stem for file in directory.glob("*.py")) if directory.is_dir() else []
    for name in names:
        if name not in available or not NAME.fullmatch(name):
            raise UsageError(
                f'{plain(str(directory))} has no tool "{plain(name)}"; available: {", ".join(available) or "none"}'
            )
    return {f"{TOOLS}/{name}.py": read_text(directory / f"{name}.py", TOOL_BYTES).encode() for name in names}


def share(
    address: str,
    files: Mapping[str, bytes],
    message: str,
    *,
    now: int,
    dry_run: bool,
    environ: Mapping[str, str] = os.environ,
) -> SharedFiles:
    """Add files to the central repository; those that it has already are left out. Raises UsageError.

    `now` is in seconds since 1970. With `dry_run` nothing is pushed.
    """
    credentials = read_git_credentials(environ)
    with temporary_directory("jarvis-share") as directory:
        try:
            head = fetch_central(address, directory, environ)
            if head is None:
                git.create(directory, environ)
            changes = {name: content for name, content in files.items() if _content(directory / name) != content}
            if not changes or dry_run:
                return SharedFiles(sorted(changes))
            branch = head or DEFAULT_BRANCH
            commits = [NewCommit(message, changes)]
            commit = add_commits(Repository(directory, ""), branch, commits, now, environ, replace_directory=False)
            git.push(directory, address, branch, credentials=credentials, environ=environ, seconds=FETCH_SECONDS)
        except UsageError as error:
            raise UsageError(f"central_repo {plain(address)}: {error}; nothing was shared") from error
    return SharedFiles(sorted(changes), commit)


def _methodology(name: str, found: Mapping[Path, Methodology]) -> tuple[str, bytes]:
    for file, one in found.items():
        if name in (one.problem_type, file.stem, file.name):
            text = json.dumps(one.model_dump(), indent=2, ensure_ascii=False)
            return f"{FOLDER}/{file.name}", f"{text}\n".encode()
    available = ", ".join(f'"{plain(one.problem_type)}"' for one in found.values()) or "none"
    raise UsageError(f'there is no methodology "{plain(name)}"; available: {available}')


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() and not file.is_symlink() else None
