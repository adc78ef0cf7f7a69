"""Measure which lines of a project's functions its tests execute, with a separate build of its C programs for gcov."""

from pathlib import Path

from jarvis_workers.c2rust.bench.project_bench import PROJECT, ProjectBuild, open_bench
from jarvis_workers.errors import StepFailed
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.limits import BenchLimits, Tier
from jarvis_workers.toolchain.gcov import LineCoverage, read_coverage

GCOV = "find . -name '*.gcda' -exec gcov --json-format --stdout {} +"


def measure_coverage(
    directory: Path, build: ProjectBuild, limits: BenchLimits, *, tier: Tier | None = None
) -> tuple[LineCoverage, str]:
    """Return the lines that the tests execute, and a one-line reason if there are none ("" otherwise).

    Programs and tests run in a separate bench, and only once while the project is unchanged.
    """
    if not build.tests:
        return {}, ""
    try:
        with open_bench(directory, build._replace(kind="coverage"), limits, tier=tier) as bench:
            done = bench.run(GCOV, {}, limits.build_seconds)
            coverage = read_coverage(done.output, str(bench.place / WORK / PROJECT))
    except StepFailed as problem:
        return {}, str(problem)
    return coverage, "" if coverage else done.failure or "gcov reported no counts"
