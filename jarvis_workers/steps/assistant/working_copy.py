"""The scratch copy of the sources that a code agent edits, and the gate over a further copy of it."""

import gzip
import io
import os
import shutil
import stat
import tarfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from jarvis_workers.assistant.code_task import GATE_TOOL
from jarvis_workers.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StepFailed
from jarvis_workers.sandbox.confine import HOME, TEMPORARY, WORK
from jarvis_workers.sandbox.limits import MEGABYTE, SandboxLimits
from jarvis_workers.steps.assistant.code_options import CodeOptions
from jarvis_workers.toolchain import scratch
from jarvis_workers.tools.edit_workspace import ChangedFile
from jarvis_workers.tools.tool import Tool, ToolOutcome

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


def gate_tool(runtime: AgentRuntime, root: Path, options: CodeOptions) -> Tool:
    """Return the tool that runs the gate in a new copy of the working copy, which the gate may change."""

    def run(_: Mapping[str, Any]) -> ToolOutcome:
        place = root.with_name("gate")
        place.mkdir(0o700)
        try:
            shutil.copytree(root, place / WORK, symlinks=True)
            commands = runtime.open_workspace(place, _limits(options))
            if commands is None:
                return ToolOutcome("error", stderr="the gate cannot run: this machine has no sandbox (jarvis doctor)")
            try:
                return without_places(commands("bash", options.gate), _shown_as(place))
            finally:
                commands.close()
        finally:
            scratch.remove(str(place))

    return Tool(GATE_TOOL, "", {}, lambda arguments: arguments, run)


def _limits(options: CodeOptions) -> SandboxLimits:
    return SandboxLimits(
        wall_seconds=options.gate_seconds,
        cpu_seconds=int(options.gate_seconds) * (os.cpu_count() or 1),
        memory_bytes=int(options.gate_memory_mb) * MEGABYTE,
        scratch_bytes=int(options.gate_disk_mb) * MEGABYTE,
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


def encode_changes(files: Mapping[str, ChangedFile], root: Path) -> dict[str, dict[str, str | None]]:
    """Return the new contents of files as JSON data: base64, null for a removed file, and their modes in git."""
    return {
        path: {
            "content": None if file.after is None else b64encode(file.after).decode(),
            "mode": EXECUTABLE if file.after is not None and os.access(root / path, os.X_OK) else REGULAR,
        }
        for path, file in files.items()
    }
