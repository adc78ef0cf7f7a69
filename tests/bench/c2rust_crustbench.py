"""Measure the share of functions of many small C projects that can be translated, and that rustc accepts.

    python -m tests.bench.c2rust_crustbench DIRECTORY [NAME …] [--seed N] [--projects N] [--errors]

DIRECTORY has a directory per project, such as CBench of CRUST-bench; without names, projects that compile are drawn at
random.  A project compiles if the compiler accepts all its C files with guessed include directories; files for tests
and examples that do not compile are left out, and so are C++ files.
"""

import argparse
import json
import os
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.builds.compile_sources import CompileOptions, compile_commands_of
from jarvis_workers.c2rust.project import read_project
from jarvis_workers.c2rust.stages.rustc_checks import check_bodies
from jarvis_workers.c2rust.translation import Translated, translate_project
from jarvis_workers.errors import JarvisError
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.translation_unit import parsed
from jarvis_workers.source.clang.unit import ROOT, CompileCommand, language_of
from jarvis_workers.toolchain.cargo import CargoMessage, find_rust, read_messages
from jarvis_workers.toolchain.headers import builtin_headers

# Files that a build of the project itself does not need, and that may need a library for tests.
AUXILIARY = re.compile(r"test|example|bench|demo|fuzz", re.IGNORECASE)
ARGUMENTS = ("-D_GNU_SOURCE",)
SECONDS = 600


class MeasuredProject(NamedTuple):
    """The results for the functions of a project: refusals by reason, errors of rustc by function."""

    name: str
    files: int
    functions: int
    refusals: Counter[str]
    errors: Mapping[str, str]

    @property
    def translated(self) -> int:
        return self.functions - self.refusals.total()

    @property
    def compiled(self) -> int:
        return self.translated - len(self.errors)


class CheckedCrate:
    """A directory with a crate that `check_bodies` writes and checks, as on a bench."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def write_crate(self, files: Mapping[str, str]) -> None:
        for old in self._place.glob("src/*.rs"):
            old.unlink()
        for name, text in files.items():
            (self._place / name).parent.mkdir(parents=True, exist_ok=True)
            (self._place / name).write_text(text)

    def cargo(self, command: str) -> tuple[bool, tuple[CargoMessage, ...], float]:
        words = [find_rust().cargo, command, "--offline", "--message-format=json"]
        done = subprocess.run(words, cwd=self._place, capture_output=True, timeout=SECONDS, check=False)
        return done.returncode == 0, tuple(read_messages(done.stdout)), 0.0


def compiled_units(tree: Path) -> tuple[list[CompileCommand], str]:
    """Return the units of a project that compile, and the reason why the project does not compile, or "" if it does."""
    units = []
    commands = compile_commands_of(tree, CompileOptions()).commands
    for command in (one for one in commands if language_of(one) == "c"):
        unit = command._replace(arguments=(*command.arguments, *ARGUMENTS))
        if problem := _problem(tree, unit):
            if not AUXILIARY.search(os.fsdecode(unit.file)):
                return [], f"{os.fsdecode(unit.file)}: {problem}"
        else:
            units.append(unit)
    return units, "" if units else "no C file compiles"


def _problem(tree: Path, unit: CompileCommand) -> str:
    arguments = [word.replace(ROOT, str(tree)) for word in unit.arguments]
    words = ["cc", "-w", "-c", "-o", "/dev/null", *arguments, tree / os.fsdecode(unit.file)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        return next((line for line in done.stderr.splitlines() if "error" in line), "not compiled")
    with parsed(tree, unit, builtin_headers(None)) as read:
        return next((one.message for one in read.diagnostics() if one.severity != "warning"), "")


def measure(tree: Path, units: Iterable[CompileCommand], work: Path) -> MeasuredProject:
    """Translate a project, and check its crate. Raises StepFailed for an error outside of functions."""
    definitions = [read_definitions(tree, unit, builtin_headers(None)) for unit in units]
    translated = translate_project(read_project(definitions))
    bodies = {one.item.slot: one.crate_item() for one in translated.functions if one.body}
    checks = check_bodies(CheckedCrate(work), translated.types, [*translated.declarations().values()], bodies)
    return MeasuredProject(
        tree.name,
        len(definitions),
        len(translated.functions),
        Counter(_reason(one) for one in translated.functions if not one.body),
        {slot: f"{error.file}:{error.line}: {error.code} {error.text}" for slot, error in checks.errors.items()},
    )


def _reason(one: Translated) -> str:
    """Return the reason for a refusal without names and lines."""
    reason = re.search(r"\(line \d+: (\w+)\)$", one.refusal)
    return reason[1] if reason else re.sub(r"^uses \w+", "uses a function", one.refusal)


def lines(trees: Path, names: list[str], projects: int, work: Path, *, errors: bool) -> Iterator[str]:
    """Yield the lines of a report."""
    found: list[MeasuredProject] = []
    yield "| project | files | functions | translated | compiled |\n| --- | --- | --- | --- | --- |"
    for name in names:
        tree = Path(os.path.realpath(trees / name))
        try:
            units, problem = compiled_units(tree)
            if problem:
                yield f"| {name} | does not compile: {problem} | | | |"
                continue
            one = measure(tree, units, work)
        except JarvisError as error:
            yield f"| {name} | FAILED: {error} | | | |"
            continue
        found.append(one)
        yield f"| {name} | {one.files} | {one.functions} | {one.translated} | {one.compiled} |"
        if errors:
            yield from (f"{slot}: {text}" for slot, text in one.errors.items())
            yield json.dumps(one.refusals)
        if len(found) == projects:
            break
    yield from _summary(found)


def _summary(found: Iterable[MeasuredProject]) -> Iterator[str]:
    functions, translated, compiled = (
        sum(getattr(one, name) for one in found) for name in ("functions", "translated", "compiled")
    )
    share, accepted = 100 * translated / (functions or 1), 100 * compiled / (translated or 1)
    yield f"{len(list(found))} projects: {functions} functions, {translated} translated ({share:.1f} %),"
    yield f"{compiled} of them compile ({accepted:.2f} %)"
    refusals = sum((one.refusals for one in found), Counter[str]())
    yield from (f"| {count} | {reason} |" for reason, count in refusals.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--projects", type=int, default=60)
    parser.add_argument("--errors", action="store_true")
    given = parser.parse_args()
    names = given.names or sorted(one.name for one in given.directory.iterdir() if one.is_dir())
    if not given.names:
        random.Random(given.seed).shuffle(names)
    with tempfile.TemporaryDirectory() as work:
        for line in lines(given.directory, names, given.projects, Path(work), errors=given.errors):
            print(line, flush=True)


if __name__ == "__main__":
    main()
