"""Choose signatures with which the tests pass."""

from collections.abc import Mapping, Sequence

from jarvis_workers.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.crate import bench_crate
from jarvis_workers.c2rust.gates import union_culprits
from jarvis_workers.c2rust.shims import forward_project
from jarvis_workers.c2rust.signatures import ParameterMapping
from jarvis_workers.c2rust.translation import TranslatedProject
from jarvis_workers.errors import StepFailed
from jarvis_workers.steps.c2rust.rustc_checks import check_project
from jarvis_workers.steps.c2rust.suite_runs import BenchSuites

# Pointers of functions that fail become raw, which may make others fail.
MOST_SIGNATURES = 4


def choose_signatures(
    translated: TranslatedProject,
    mappings: Mapping[str, Sequence[ParameterMapping]],
    bench: ProjectBench,
    suites: BenchSuites,
) -> TranslatedProject:
    """Return shims and forwarders with which the tests pass; functions that fail keep raw pointers.

    `mappings` are the proposed mappings, by function key.
    """
    raw = set[str]()
    for _ in range(MOST_SIGNATURES):
        failing = _failing_signatures(forward_project(translated, mappings, raw), bench, suites)
        if failing <= raw:
            break
        raw |= failing
    return forward_project(translated, mappings, raw)


def _failing_signatures(forwarded: TranslatedProject, bench: ProjectBench, suites: BenchSuites) -> set[str]:
    """Return the slots of the functions that rustc rejects, and of those with which the tests fail."""
    checks = check_project(forwarded, bench)
    symbols = [one.slot for one in forwarded.project.items]
    bench.write_crate(bench_crate(forwarded.types, (), list(checks.bodies.values()), symbols))
    passed, messages = bench.build_library()
    if not passed:
        raise StepFailed(f"the signatures do not build: {messages[-1].text if messages else 'no message'}")
    return set(checks.errors).union(union_culprits(suites, sorted(checks.bodies)))
