"""The options of `--read`: what is read, in which pieces, and what readers are told of the project."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.platforms.groups import ModelGroup
from jarvis_workers.service.scan_input import ScanInput
from jarvis_workers.settings import Settings
from jarvis_workers.steps.sec.judge_options import READ_ROOM, JudgeOptions

# What is read if the user does not say; only --discover, which takes its place, changes that.
DEFAULT = NONE = "none"
# The share of the context window of a model that a group of files takes.
WINDOW_PARTS = 3
README_NAMES = ("README", "README.md", "README.rst", "README.txt")
README_LINES, README_BYTES, LINE_LENGTH = 10, 4_000, 200
BUILD_NAMES = (
    *("Makefile", "GNUmakefile", "CMakeLists.txt", "configure.ac", "configure", "meson.build", "Cargo.toml", "BUILD"),
    *("BUILD.bazel", "SConstruct", "build.sh", "autogen.sh", "Makefile.am"),
)


def reading_of(settings: Settings, read: str | None, *, discover: bool) -> dict[str, Any]:
    """Return the fields of JudgeOptions for these options. Raises UsageError."""
    if discover and read not in (None, NONE):
        raise UsageError(
            f"--read {read} reads whole files, --discover asks about single functions: leave out one of them"
        )
    chosen = read or (NONE if discover else DEFAULT)
    return {} if chosen == NONE else {"read": str(chosen), "read_tokens": settings.agent.read_tokens}


def room_of(group: ModelGroup) -> int:
    """Return the tokens of the files that a conversation with a model reads."""
    return min(READ_ROOM, group.quirks.context // WINDOW_PARTS)


def with_intro(scan_input: ScanInput, root: Path) -> ScanInput:
    """Return the input of a scan with what the tree says of itself, if files are to be read."""
    options = scan_input.options
    if not isinstance(options, JudgeOptions) or options.read is None or not root.is_dir():
        return scan_input
    return replace(scan_input, options=replace(options, read_intro="\n".join(_intro(root))))


def _intro(root: Path) -> Iterator[str]:
    """Yield the first lines of the README and the names of the build files; no link is followed."""
    names = {path.name for path in root.iterdir() if path.is_file() and not path.is_symlink()}
    if readme := next((name for name in README_NAMES if name in names), None):
        with (root / readme).open("rb") as file:
            lines = file.read(README_BYTES).decode("utf-8", "replace").splitlines()
        written = [line for line in lines if line.strip()][:README_LINES]
        yield from (f"{readme}: {plain(line)[:LINE_LENGTH]}" for line in written)
    if build := [name for name in BUILD_NAMES if name in names]:
        yield f"Build files: {', '.join(build)}"
