"""The programs of other analyzers on this machine."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.cargo import find_rust

VERSION = re.compile(r"\b\d+(?:\.\d+)+")
VERSION_SECONDS = 20


class AnalyzerProgram(NamedTuple):
    """A program: its name, the option that prints its version, the oldest version, and where to get it.

    A `wheel` is a package that brings it, and its path there.
    """

    name: str
    version: str
    oldest: int
    hint: str
    wheel: tuple[str, str] | None = None


class Installed(NamedTuple):
    """An analyzer of this machine: the path of its program, its version, and the directory that it reads.

    That directory is its installation, but never one that holds a user's files: code under analysis could have them
    printed by including them.
    """

    path: str
    version: str
    place: str


PROGRAMS = (
    AnalyzerProgram("gcc", "-dumpfullversion", 12, "install gcc 12 or later"),
    AnalyzerProgram(
        "clang-tidy",
        "--version",
        11,
        "install clang-tidy, or pip install clang-tidy",
        ("clang_tidy", "data/bin/clang-tidy"),
    ),
    AnalyzerProgram("cppcheck", "--version", 2, "install cppcheck 2"),
)


@cache
def installed_analyzers() -> Mapping[str, Installed | str]:
    """Return for each analyzer where it is on this machine, or why it cannot be used."""
    return {**{one.name: _installed(one) for one in PROGRAMS}, "clippy": _clippy()}


def _clippy() -> Installed | str:
    """Return clippy of the toolchain that this process would use; the whole toolchain is readable, no user's file."""
    try:
        root = find_rust().root
    except UsageError as problem:
        return str(problem)
    program = root / "bin" / "cargo-clippy"
    if not program.is_file():
        return "not installed: rustup component add clippy"
    version = _version(str(program), "--version")
    return Installed(str(program), version, str(root)) if version else f"{program} does not print its version"


def _installed(program: AnalyzerProgram) -> Installed | str:
    wheel = _in_wheel(program)
    path = wheel or shutil.which(program.name)
    if path is None:
        return f"not installed: {program.hint}"
    version = _version(path, program.version)
    if not version:
        return f"{path} does not print its version: {program.hint}"
    if int(version.partition(".")[0]) < program.oldest:
        return f"{path} is version {version}, older than {program.oldest}: {program.hint}"
    directory = Path(os.path.realpath(path)).parent
    is_private = wheel is None and (directory.is_relative_to(_home()) or _home().is_relative_to(directory.parent))
    return Installed(path, version, str(directory if is_private else directory.parent))


def _version(path: str, option: str) -> str:
    """Return the version that a program prints, "" if it prints none."""
    try:
        done = subprocess.run(
            [path, option], capture_output=True, timeout=VERSION_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = VERSION.search(done.stdout.decode(errors="replace"))
    return found[0] if found and not done.returncode else ""


def _home() -> Path:
    return Path(os.path.realpath(Path.home()))


def _in_wheel(program: AnalyzerProgram) -> str | None:
    package, inside = program.wheel or ("", "")
    spec = find_spec(package) if package else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if Path(place, inside).is_file():
            return os.path.realpath(Path(place, inside))
    return None
