"""C libraries with translated functions, each on its own bench, for measurements of the gates."""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from time import monotonic
from typing import NamedTuple

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.compile_sources import CompileOptions, compile_commands_of
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.bench.line_coverage import measure_coverage
from jarvis_workers.c2rust.bench.project_bench import ProjectBench, ProjectBuild, open_bench
from jarvis_workers.c2rust.crate import CrateItem, bench_crate
from jarvis_workers.c2rust.input_sources import input_sources
from jarvis_workers.c2rust.inputs import CallPlan, plan_calls
from jarvis_workers.c2rust.project import read_project
from jarvis_workers.c2rust.stages.input_runs import UsableInputs, find_usable
from jarvis_workers.c2rust.stages.rustc_checks import Checks, check_bodies
from jarvis_workers.c2rust.translation import TranslatedProject, translate_project
from jarvis_workers.sandbox.limits import BenchLimits
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.gcov import LineCoverage
from jarvis_workers.toolchain.headers import builtin_headers

MOST_MEGABYTES = 200
ZOPFLI = (
    "./zopfli --i3 -c README > a.gz && gzip -dc a.gz | cmp - README",
    "./zopfli --i3 --zlib -c Makefile > a.zlib && ./zopfli --i3 --deflate -c Makefile > a.deflate"
    " && tail -c +3 a.zlib | head -c -4 | cmp - a.deflate",
)


class LibraryCommands(NamedTuple):
    """The commands that configure, build and test a library, as a user of `jarvis c2rust fast` would give them.

    `oracles` is a pattern for the C files of its tests, whose functions judge the others and are not mutated.
    """

    build: str
    tests: tuple[str, ...]
    configure: str | None = None
    oracles: str = ""


COMMANDS: Mapping[str, LibraryCommands] = {
    "plain": LibraryCommands("make", ("make test",), oracles="check.c"),
    "bzip2": LibraryCommands("make bzip2 bzip2recover", ("make test",)),
    "zlib": LibraryCommands("make", ("make test",), "./configure", "test/*"),
    "cJSON": LibraryCommands(
        "cmake --build build", ("cd build && ctest",), "cmake -S . -B build -DENABLE_CJSON_UTILS=On", "*test*"
    ),
    "zopfli": LibraryCommands("make zopfli", ZOPFLI),
    "tinyexpr": LibraryCommands("make smoke smoke_pr", ("./smoke", "./smoke_pr"), oracles="smoke.c"),
    "lua": LibraryCommands("make -C src linux", ("src/lua -e 'print(#_VERSION)'",)),
    "lz4": LibraryCommands("make -C programs lz4", ("programs/lz4 -c README.md | programs/lz4 -dc | cmp - README.md",)),
    "hiredis": LibraryCommands("make hiredis-test", ()),
    "sqlite3": LibraryCommands("echo 'int main(void) { return 0; }' > main.c && cc -o main main.c sqlite3.c", ()),
}


class TranslatedLibrary(NamedTuple):
    """A library on its bench; `bodies` are those that rustc accepts, by slot."""

    name: str
    bench: ProjectBench
    checked: ProjectBench
    commands: LibraryCommands
    project: TranslatedProject
    bodies: Mapping[str, CrateItem]
    coverage: LineCoverage
    inputs: Mapping[str, UsableInputs]
    input_seconds: float
    units: tuple[CompileCommand, ...]

    def write_crate(self, bodies: Mapping[str, CrateItem], machine: str) -> None:
        """Write a crate for the gates in which these bodies replace those of the library."""
        declarations = self.project.declarations()
        symbols = sorted({one.item.slot for one in self.project.items})
        shapes = self.project.shapes(self.bodies, machine)
        chosen = list({**self.bodies, **bodies}.values())
        self.bench.write_crate(bench_crate(self.project.types, declarations.values(), chosen, symbols, shapes))

    def check(self, bodies: Mapping[str, CrateItem]) -> Checks:
        """Leave out the bodies that rustc rejects."""
        return check_bodies(
            self.bench, self.project.types, list(self.project.declarations().values()), {**self.bodies, **bodies}
        )


@contextmanager
def open_library(tree: Path, commands: LibraryCommands, data: Path, limits: BenchLimits) -> Iterator[TranslatedLibrary]:
    """Yield the library in a tree, translated, with its programs built below `data`."""
    project, units = read_library(tree, commands, data)
    archive = pack_project(tree, MOST_MEGABYTES)
    build = ProjectBuild(archive, BuildCommands(commands.configure, commands.build), (), commands.tests)
    coverage, _ = measure_coverage(data, build, limits)
    with open_bench(data, build._replace(kind="checked"), limits) as checked, open_bench(data, build, limits) as bench:
        began = monotonic()
        inputs = find_usable(checked, input_plans(project))
        seconds = monotonic() - began
        items = {one.item.slot: one.crate_item() for one in project.functions if one.body}
        benches = bench, checked
        library = TranslatedLibrary(tree.name, *benches, commands, project, items, coverage, inputs, seconds, units)
        yield library._replace(bodies=library.check({}).bodies)


def read_library(
    tree: Path, commands: LibraryCommands, data: Path
) -> tuple[TranslatedProject, tuple[CompileCommand, ...]]:
    """Return the translated functions of a library, and how its units are compiled."""
    options = CompileOptions(commands=BuildCommands(commands.configure, commands.build), data_dir=data)
    plan = compile_commands_of(tree, options)
    headers = builtin_headers(None)
    units = [read_definitions(Path(os.path.realpath(plan.tree)), command, headers) for command in plan.commands]
    return translate_project(read_project(units)), plan.commands


def input_plans(project: TranslatedProject, sample: int = 0) -> list[CallPlan]:
    """Return generated arguments as `jarvis c2rust fast` does, for all functions, or for a sample of them."""
    sources, machine = input_sources(project.project), platform.machine()
    items = [one.item for one in project.functions]
    chosen = Random(sample).sample(items, min(sample, len(items))) if sample else items
    return [plan_calls(one, sources.mappings.get(one.definition.key, ()), machine, sources) for one in chosen]
