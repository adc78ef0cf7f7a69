"""Wrappers of the C compilers in the PATH of a bench, one set per kind of program.

| kind | programs |
|---|---|
| slots | have a slot for each function |
| checked | have slots, stop at undefined behaviour, and count blocks and comparisons for the runtime; variables are |
|         | sorted by name, so that accesses past an array reach others than usual |
| coverage | count the lines that they execute, for gcov |
"""

import os
import re
import shlex
import sys
from importlib.resources import files
from pathlib import Path
from typing import Literal

from jarvis_workers.sandbox.launcher import PACKAGES

WRAPPERS = "bin"
COMPILERS = re.compile(r"([a-z0-9_]+-[a-z0-9_-]+-)?(cc|gcc|clang|c99|c89)(-[0-9.]+)?")
BuildKind = Literal["slots", "checked", "coverage"]
# Later flags take precedence, and a hardened libc warns of missing optimisation.
FLAGS: dict[BuildKind, str] = {
    "slots": "",
    "checked": "-fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error -O1 -U_FORTIFY_SOURCE"
    " -fsanitize-coverage=trace-pc,trace-cmp"
    " -fdata-sections -Wl,--sort-section=name -Wno-unused-command-line-argument",
    "coverage": "--coverage -O0 -U_FORTIFY_SOURCE",
}
PACKAGE = PACKAGES / "jarvis_workers"


def write_wrappers(place: Path, path: str, kind: BuildKind) -> Path:
    """Write a wrapper for each C compiler in a PATH, and return their directory."""
    wrappers = place / WRAPPERS
    wrappers.mkdir(mode=0o755, exist_ok=True)
    script = wrappers / "slot_cc.py"
    script.write_bytes(files(__package__).joinpath("slot_cc.py").read_bytes())
    python = [os.path.realpath(sys.executable), "-I", "-S", str(script), str(PACKAGE)]
    for folder in path.split(":"):
        for name in sorted(os.listdir(folder)) if Path(folder).is_dir() else ():  # noqa: PTH208
            if COMPILERS.fullmatch(name) and not (wrappers / name).exists():
                compiler = f"{folder}/{name}"
                words = [compiler] if kind == "coverage" else [*python, compiler]
                call = f'{shlex.join(words)} "$@" {FLAGS[kind]}'.rstrip()
                (wrappers / name).write_text(f"#!/bin/sh\nexec {call}\n")
                (wrappers / name).chmod(0o755)
    return wrappers
