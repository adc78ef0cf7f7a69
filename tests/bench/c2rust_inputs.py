"""Measure the share of functions with usable generated inputs, why the others have none, and the time of the gate.

    python -m tests.bench.c2rust_inputs TREE… [--check | --sample N]

A TREE is named after a library of c2rust_projects.py, or is a directory of C files, each of which is compiled
separately.  With --check the bodies run too: each difference is a false positive.
"""

import argparse
import platform
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.bench.project_bench import ProjectBuild, open_bench
from jarvis_workers.c2rust.gates import LEAST_INPUTS
from jarvis_workers.c2rust.stages.input_runs import UsableInputs, find_usable
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.sandbox.limits import BenchLimits
from tests.bench.c2rust_projects import (
    COMMANDS,
    MOST_MEGABYTES,
    TranslatedLibrary,
    input_plans,
    open_library,
    read_library,
)

LIMITS = BenchLimits(build_seconds=1800, test_seconds=600)


def measure(tree: Path, data: Path, *, check: bool, sample: int = 0) -> Iterator[str]:
    """Yield the lines of a report about a library."""
    commands = COMMANDS[tree.name]
    if check:
        with open_library(tree, commands, data, LIMITS) as library:
            yield from _report(tree.name, library.inputs, library.input_seconds)
            yield from _check(library, library.inputs)
        return
    plans = input_plans(read_library(tree, commands, data)[0], sample)
    build = ProjectBuild(
        pack_project(tree, MOST_MEGABYTES), BuildCommands(commands.configure, commands.build), kind="checked"
    )
    with open_bench(data, build, LIMITS) as checked:
        began = monotonic()
        found = find_usable(checked, plans)
        yield from _report(tree.name, found, monotonic() - began)


def _report(name: str, found: Mapping[str, UsableInputs], seconds: float) -> Iterator[str]:
    usable, count = [one for one in found.values() if one.usable >= LEAST_INPUTS], max(1, len(found))
    share, seconds = 100 * len(usable) / count, seconds / count
    yield f"{name}: {len(usable)} of {len(found)} functions, {share:.1f} %; {seconds:.2f} s a function in C"
    reasons = Counter(
        re.sub(r"\b\d+ of \d+", "few of the", one.reason) for one in found.values() if one.usable < LEAST_INPUTS
    )
    yield from (f"    {count} {reason}" for reason, count in reasons.most_common(20))


def _check(library: TranslatedLibrary, found: Mapping[str, UsableInputs]) -> Iterator[str]:
    library.write_crate({}, platform.machine())
    assert library.bench.build_library()[0]
    runs = BenchSuites(library.bench, library.commands.tests, checked=library.checked)
    seconds, called = 0.0, 0
    for slot, inputs in sorted(found.items()):
        run = runs.call(slot, inputs)
        seconds, called = seconds + run.seconds, called + (run.compared >= LEAST_INPUTS)
        if any(not gate.passed for gate in run.outcomes()):
            yield f"    {slot}: {run.failure if run.returned < run.made else run.log.splitlines()[0]}"
        elif run.made and run.compared < LEAST_INPUTS:
            yield f"    {slot}: {run.compared} of {run.made} compared: {run.unshadowed}"
    yield f"    {called} compared, {seconds / max(1, len(found)):.2f} s a function in Rust"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="try only a sample of N functions, in C")
    parser.add_argument("--check", action="store_true", help="also run the Rust bodies")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jarvis-inputs") as data:
        for tree in asked.trees:
            for line in measure(tree, Path(data), check=asked.check, sample=asked.sample):
                print(line, flush=True)


if __name__ == "__main__":
    main()
