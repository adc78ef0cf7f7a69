"""Run the programs of many small C projects with all functions in Rust, and compare their output with C.

    python -m tests.bench.c2rust_crustruns DIRECTORY [NAME …] [--seed N] [--projects N]

DIRECTORY and the random sample are as in c2rust_crustbench.  Each file with a `main` is linked with all files without
one; the program runs without arguments and input.  Programs that do not link, or whose output differs between two runs
in C, are not compared.  A function that makes a difference when only it is in Rust is named.
"""

import argparse
import os
import random
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.bench.project_bench import ProjectBench, ProjectBuild, open_bench
from jarvis_workers.c2rust.crate import bench_crate
from jarvis_workers.c2rust.project import Project, is_main, read_project
from jarvis_workers.c2rust.stages.rustc_checks import check_bodies
from jarvis_workers.c2rust.translation import translate_project
from jarvis_workers.errors import JarvisError
from jarvis_workers.paths import as_text
from jarvis_workers.sandbox.limits import BenchLimits
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import ROOT, CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers
from tests.bench.c2rust_crustbench import compiled_units

LIMITS = BenchLimits(build_seconds=900, test_seconds=30)
MOST_MEGABYTES = 200
LIBRARIES = "-lm -lpthread"


class ProgramOutcome(NamedTuple):
    """The output of a program with all functions in Rust: `equal`, or the slots that make a difference on their own."""

    file: str
    equal: bool
    culprits: tuple[str, ...] = ()


def link_commands(project: Project, units: Iterable[CompileCommand]) -> dict[str, str]:
    """Return the command that builds each program, by its file."""
    mains = {as_text(one.unit.file) for one in project.functions if is_main(one.definition)}
    commands = {as_text(one.file): one for one in units}
    others = [file for file in commands if file not in mains]
    found = {}
    for number, file in enumerate(sorted(mains & commands.keys())):
        arguments = [word.replace(ROOT, ".") for word in commands[file].arguments]
        words = ["cc", "-w", *arguments, file, *others, "-o", f"jv_program_{number}"]
        found[file] = f"{shlex.join(words)} {LIBRARIES}"
    return found


def compare(tree: Path, units: Sequence[CompileCommand], work: Path) -> list[ProgramOutcome]:
    """Build the programs of a project, and compare each. Raises StepFailed if the crate does not build."""
    definitions = [read_definitions(tree, unit, builtin_headers(None)) for unit in units]
    translated = translate_project(read_project(definitions))
    links = link_commands(translated.project, units)
    build = "; ".join([*links.values(), "true"])
    with open_bench(
        work, ProjectBuild(pack_project(tree, MOST_MEGABYTES), BuildCommands(build=build)), LIMITS
    ) as bench:
        bodies = {one.item.slot: one.crate_item() for one in translated.functions if one.body}
        declarations = [*translated.declarations().values()]
        left = check_bodies(bench, translated.types, declarations, bodies).bodies
        symbols = sorted({one.item.slot for one in translated.items})
        bench.write_crate(bench_crate(translated.types, declarations, list(left.values()), symbols))
        passed, messages = bench.build_library()
        if not passed:
            return [ProgramOutcome(f"the crate does not build: {messages[-1].text}", equal=False)]
        outcomes = (_compared(bench, file, f"./jv_program_{number}", list(left)) for number, file in enumerate(links))
        return [one for one in outcomes if one]


def _compared(bench: ProjectBench, file: str, program: str, slots: Sequence[str]) -> ProgramOutcome | None:
    first, second = (_run(bench, program, {}) for _ in range(2))
    if first != second or first is None:
        return None
    library = {"JARVIS_C2RUST_LIBRARY": str(bench.library)}
    if _run(bench, program, library | {"JARVIS_C2RUST_RUST": "*"}) == first:
        return ProgramOutcome(file, equal=True)
    alone = [slot for slot in slots if _run(bench, program, library | {"JARVIS_C2RUST_RUST": slot}) != first]
    return ProgramOutcome(file, equal=False, culprits=tuple(alone))


def _run(bench: ProjectBench, program: str, environment: Mapping[str, str]) -> tuple[int | None, bytes] | None:
    """Return the exit code and the output of a program, or None if it does not exist."""
    done = bench.test(f"test -x {program} || exit 126; {program} </dev/null 2>&1", environment)
    return None if done.code == 126 else (done.code, done.output)


def lines(trees: Path, names: Sequence[str], projects: int, work: Path) -> Iterator[str]:
    """Yield a line for each project, and the totals."""
    equal = programs = done = 0
    for name in names:
        tree = Path(os.path.realpath(trees / name))
        try:
            units, problem = compiled_units(tree)
            if problem:
                continue
            outcomes = compare(tree, units, work)
        except JarvisError as error:
            yield f"{name}: FAILED: {error}"
            continue
        done, programs = done + 1, programs + len(outcomes)
        equal += sum(one.equal for one in outcomes)
        yield f"{name}: {sum(one.equal for one in outcomes)} of {len(outcomes)} programs print the same"
        yield from (f"  {one.file}: {', '.join(one.culprits) or 'only together'}" for one in outcomes if not one.equal)
        if done == projects:
            break
    yield f"{done} projects: {equal} of {programs} programs print the same with all translated functions in Rust"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--projects", type=int, default=60)
    given = parser.parse_args()
    names = given.names or sorted(one.name for one in given.directory.iterdir() if one.is_dir())
    if not given.names:
        random.Random(given.seed).shuffle(names)
    with tempfile.TemporaryDirectory() as work:
        for line in lines(given.directory, names, given.projects, Path(work)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
