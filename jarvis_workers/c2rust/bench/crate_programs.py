"""Run the tests of a project with the programs of a crate, and read the symbols that C files and the crate export."""

import os
import re
from collections.abc import Mapping

from jarvis_workers.c2rust.bench.project_bench import PROJECT, TARGET, CommandResult, ProjectBench
from jarvis_workers.sandbox.confine import WORK

BUILT = f"{TARGET}/debug"
# Arguments: pairs of a program of the crate and its place.
REPLACE = 'while [ $# -gt 0 ]; do cp -f --remove-destination -- "$1" "$2" || exit; shift 2; done'
COMPARE = 'while [ $# -gt 0 ]; do cmp -s -- "$1" "$2" && echo same; shift 2; done; true'
LIST = 'find "$1" -type f -exec nm -A -P -g --defined-only {} + 2>/dev/null || true'
# FILE[MEMBER]: SYMBOL TYPE, without weak symbols.
EXPORTED = re.compile(r"(.*?)(?:\[[^\]]*\])?: (\S+) [TDBRC]\b.*")


def exported_symbols(bench: ProjectBench, library: str = "") -> list[tuple[str, str]]:
    """Return file and name of each symbol exported by the files of the project, or by a static library of the crate.

    Paths are relative to the project; the path of an archive member is that of the archive.
    """
    place = f"{BUILT}/lib{library}.a" if library else PROJECT
    lines = bench.in_work(LIST, [place]).decode(errors="surrogateescape").splitlines()
    rows = (EXPORTED.fullmatch(line) for line in lines)
    return sorted({(row[1].removeprefix(f"{PROJECT}/"), row[2]) for row in rows if row})


def is_program(bench: ProjectBench, path: str) -> bool:
    """Return whether a file of the project can be executed."""
    return os.access(bench.place / WORK / PROJECT / path, os.X_OK)


def run_with_programs(bench: ProjectBench, command: str, programs: Mapping[str, str]) -> tuple[CommandResult, int]:
    """Run a test command with programs of the crate instead of those of the build, given by their paths in the project.

    Also return how many of them the command did not rebuild.
    """
    bench.restore()
    pairs = [word for path, name in programs.items() for word in (f"{BUILT}/{name}", f"{PROJECT}/{path}")]
    bench.in_work(REPLACE, pairs)
    done = bench.run(command, {}, bench.limits.test_seconds)
    return done, bench.in_work(COMPARE, pairs).count(b"same")
