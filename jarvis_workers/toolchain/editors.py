"""Open the user's editor at a line, with an argument list built from `$VISUAL` or `$EDITOR` and without a shell.

The path is always absolute, so that no file name can be read as an option.
"""

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from shutil import which

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

FALLBACKS = ("sensible-editor", "vi", "nano")
# Editors that do not accept the syntax `+LINE FILE` of vi, nano, emacs and most others.
JUMPS: Mapping[str, Sequence[str]] = {
    "code": ("--goto", "{file}:{line}"),
    "code-insiders": ("--goto", "{file}:{line}"),
    "codium": ("--goto", "{file}:{line}"),
    "cursor": ("--goto", "{file}:{line}"),
    "subl": ("{file}:{line}",),
    "zed": ("{file}:{line}",),
    "hx": ("{file}:{line}",),
    "helix": ("{file}:{line}",),
    "idea": ("--line", "{line}", "{file}"),
    "clion": ("--line", "{line}", "{file}"),
    "kate": ("--line", "{line}", "{file}"),
    "gedit": ("+{line}", "{file}"),
}
USUAL = ("+{line}", "{file}")


def editor_command(environ: Mapping[str, str], file: Path, line: int) -> list[str]:
    """Return the argument list that opens `file` at `line`. Raises UsageError if no editor is found."""
    name = "VISUAL" if environ.get("VISUAL", "").strip() else "EDITOR"
    editor = environ.get(name, "").strip()
    try:
        words = shlex.split(editor)
    except ValueError as error:
        raise UsageError(f"{name}={plain(editor)}: {error}") from error
    if not words:
        program = next((one for one in FALLBACKS if which(one)), None)
        if program is None:
            raise UsageError("no editor: set VISUAL or EDITOR")
        words = [program]
    pattern = JUMPS.get(PurePath(words[0]).name, USUAL)
    # The file name is substituted last, so that braces in it are not expanded.
    return [*words, *(part.replace("{line}", str(line)).replace("{file}", str(file.absolute())) for part in pattern)]


def open_editor(command: Sequence[str]) -> None:
    """Run the editor on this terminal until it exits. Raises UsageError if it cannot be started, or fails."""
    try:
        code = subprocess.run(list(command), check=False, env=os.environ).returncode
    except OSError as error:
        raise UsageError(f"{plain(command[0])}: cannot be started: {error.strerror}") from error
    if code:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise UsageError(f"{plain(command[0])}: the editor failed ({how})")
