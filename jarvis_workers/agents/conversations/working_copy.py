"""The scratch copy of the sources that an agent edits, and commands over a further copy of it."""

import gzip
import io
import os
import shutil
import stat
import tarfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.tools.editing import ChangedFile
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.errors import StepFailed
from jarvis_workers.sandbox.confine import HOME, TEMPORARY, WORK
from jarvis_workers.sandbox.limits import MEGABYTE, SandboxLimits
from jarvis_workers.toolchain import scratch
from jarvis_workers.toolchain.temporary import temporary_directory

COPY = "gate"
EXECUTABLE, REGULAR = "100755", "100644"


def unpack_sources(archive: bytes, root: Path) -> None:
    """Write the files of an archive below a new directory; symbolic links last, so that no file goes through one."""
    root.mkdir()
    links = list[tarfile.TarInfo]()
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive))) as tar:
        for entry in tar:
            place = root / _inside(entry.name)
            if entry.isdir():
                place.mkdir(parents=True, exist_ok=True)
            elif entry.issym():
                links.append(entry)
            elif entry.isreg() and (content := tar.extractfile(entry)) is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("xb") as file:
                    shutil.copyfileobj(content, file)
                place.chmod(0o755 if entry.mode & stat.S_IXUSR else 0o644)
    for link in links:
        place = root / _inside(link.name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(link.linkname)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise StepFailed(f"the archive of the sources has a path outside of them: {name!r}")
    return path


class CommandLimits(NamedTuple):
    """The limits of a command over a copy of the sources."""

    seconds: float = 600
    memory_mb: float = 4096
    disk_mb: float = 4096


def run_in_copy(runtime: AgentRuntime, root: Path, command: str, limits: CommandLimits) -> ToolOutcome:
    """Run a command in a new copy of a working copy, which it may change; the outcome does not name its place.

    The state is "error" if this machine has no sandbox.
    """
    with temporary_directory(COPY, root.parent) as place:
        shutil.copytree(root, place / WORK, symlinks=True)
        if not os.getuid():
            _open_to_all(place / WORK)
        commands = runtime.sandboxes.open_workspace(place, _limits(limits))
        if commands is None:
            return ToolOutcome("error", stderr="the gate cannot run: this machine has no sandbox (jarvis doctor)")
        try:
            return without_places(commands("bash", command), _shown_as(place))
        finally:
            commands.close()
            scratch.remove(str(place / WORK))


def _open_to_all(root: Path) -> None:
    """Let every user change a copy, since commands started by root run as another user."""
    for directory, _, files in os.walk(root):
        for path in (Path(directory), *(Path(directory, name) for name in files)):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o777 if path.is_dir() else 0o666))


def _limits(limits: CommandLimits) -> SandboxLimits:
    return SandboxLimits(
        wall_seconds=limits.seconds,
        cpu_seconds=int(limits.seconds) * (os.cpu_count() or 1),
        memory_bytes=int(limits.memory_mb) * MEGABYTE,
        scratch_bytes=int(limits.disk_mb) * MEGABYTE,
    )


def _shown_as(place: Path) -> dict[Path, str]:
    """Return the names of the directories of a gate in its output."""
    return {place / WORK: ".", place / HOME: "~", place / TEMPORARY: "/tmp", place: ".."}


def without_places(outcome: ToolOutcome, places: Mapping[Path, str]) -> ToolOutcome:
    """Return an outcome with other names for directories, so that equal runs have equal outcomes on every machine.

    A directory that is inside another one comes first.
    """
    out, err = outcome.stdout, outcome.stderr
    for place, name in places.items():
        out, err = (text.replace(str(place.resolve()), name) for text in (out, err))
    return ToolOutcome(outcome.state, out, err, outcome.exit, outcome.seconds)


def mode_of(file: Path) -> str:
    """Return the mode of a file in git, that of a file that cannot be executed if it does not exist."""
    return EXECUTABLE if os.access(file, os.X_OK) else REGULAR


def encode_changes(files: Mapping[str, ChangedFile], root: Path) -> dict[str, dict[str, str | None]]:
    """Return the new contents of files as JSON data: base64, null for a removed file, and their modes in git."""
    return {
        path: {
            "content": None if file.after is None else b64encode(file.after).decode(),
            "mode": mode_of(root / path),
        }
        for path, file in files.items()
    }
