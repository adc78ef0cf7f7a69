"""Run the tests of C libraries with all functions replaced by shims and forwarders, and find wrong mappings.

    python -m tests.bench.c2rust_shims TREES [NAME …]

TREES has a directory per library of c2rust_projects.COMMANDS.  Prints per library the numbers of functions, functions
with a shim, pointer parameters, parameters that are no longer raw, bodies that rustc rejects, and functions with wrong
mappings.
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.c2rust.bisection import find_culprits
from jarvis_workers.c2rust.crate import bench_crate
from jarvis_workers.c2rust.shims import CONVERSIONS, forward_project
from jarvis_workers.c2rust.signatures import propose_mappings
from jarvis_workers.c2rust.stages.rustc_checks import check_bodies
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.sandbox.limits import BenchLimits
from tests.bench.c2rust_projects import COMMANDS, TranslatedLibrary, open_library

LIMITS = BenchLimits(1800, 900, 4096, 8192)


class ShimCount(NamedTuple):
    """The numbers of a library; `wrong` are slots."""

    functions: int
    shims: int
    pointers: int
    converted: int
    refused: tuple[str, ...]
    wrong: tuple[str, ...]


def measure(library: TranslatedLibrary) -> ShimCount:
    """Return the numbers of a library. Raises AssertionError if its tests fail for a reason other than a shim."""
    project = library.project
    mappings = propose_mappings(project.project.units)
    forwarded = forward_project(project, mappings)
    items = [one.item for one in forwarded.functions]
    shims = {one.item.slot: one.crate_item() for one in forwarded.functions if one.body}
    declarations = list(project.declarations().values())
    checks = check_bodies(library.bench, project.types, declarations, shims)
    symbols = [one.item.slot for one in project.items]
    library.bench.write_crate(bench_crate(project.types, declarations, list(checks.bodies.values()), symbols))
    built, messages = library.bench.build_library()
    assert built, messages
    suites = BenchSuites(library.bench, library.commands.tests)
    assert suites.run().passed
    wrong = find_culprits(sorted(checks.bodies), lambda names: suites.run(names).passed)
    forms = [one.form for item in items if item.slot in checks.bodies for one in mappings[item.definition.key]]
    pointers = sum(one.kind == "pointer" for item in items for one in item.definition.type.parameters)
    return ShimCount(
        len(items),
        len(checks.bodies),
        pointers,
        sum(form in CONVERSIONS for form in forms),
        tuple(checks.errors),
        tuple(wrong),
    )


def main(trees: Path, names: list[str]) -> None:
    print("library   functions shims pointers no longer raw  refused  wrong")
    for name in names:
        with (
            tempfile.TemporaryDirectory() as place,
            open_library(trees / name, COMMANDS[name], Path(place), LIMITS) as library,
        ):
            found = measure(library)
        share = 100 * found.converted / max(1, found.pointers)
        print(
            f"{name:9} {found.functions:9} {found.shims:5} {found.pointers:8} {found.converted:5} = {share:4.1f} % "
            f"{' '.join(found.refused) or '-':8} {' '.join(found.wrong) or '-'}",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or [name for name in COMMANDS if name != "plain"])
