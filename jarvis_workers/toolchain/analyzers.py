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

VERSION = re.compile(r"\b(\d+)(?:\.\d+)+")
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
    return {one.name: _installed(one) for one in PROGRAMS}


def _installed(program: AnalyzerProgram) -> Installed | str:
    wheel = _in_wheel(program)
    path = wheel or shutil.which(program.name)
    if path is None:
        return f"not installed: {program.hint}"
    try:
        done = subprocess.run(
            [path, program.version],
            capture_output=True,
            timeout=VERSION_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} does not print its version: {error}"
    found = VERSION.search(done.stdout.decode(errors="replace"))
    if found is None or done.returncode:
        return f"{path} does not print its version: {program.hint}"
    if int(found[1]) < program.oldest:
        return f"{path} is version {found[0]}, older than {program.oldest}: {program.hint}"
    directory = Path(os.path.realpath(path)).parent
    is_private = wheel is None and (directory.is_relative_to(_home()) or _home().is_relative_to(directory.parent))
    return Installed(path, found[0], str(directory if is_private else directory.parent))


def _home() -> Path:
    return Path(os.path.realpath(Path.home()))


def _in_wheel(program: AnalyzerProgram) -> str | None:
    package, inside = program.wheel or ("", "")
    spec = find_spec(package) if package else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if Path(place, inside).is_file():
            return os.path.realpath(Path(place, inside))
    return None
