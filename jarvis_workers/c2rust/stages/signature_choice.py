"""Choose signatures with which the tests pass."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.crate import bench_crate
from jarvis_workers.c2rust.gates import union_culprits
from jarvis_workers.c2rust.project import Project, plain_name
from jarvis_workers.c2rust.shims import forward_project
from jarvis_workers.c2rust.signature_answer import read_mapping
from jarvis_workers.c2rust.signatures import ParameterChoice, ParameterMapping, propose_signatures
from jarvis_workers.c2rust.stages.rustc_checks import check_project
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.c2rust.translation import TranslatedProject
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import listing

# Pointers of functions that fail become raw, which may make others fail.
MOST_SIGNATURES = 4
NAMES_SHOWN = 10


Mappings = Mapping[str, Sequence[ParameterMapping]]
NO_MAPPINGS: Mappings = MappingProxyType({})


def sign_project(
    translated: TranslatedProject,
    plan: Mapping[str, Sequence[PassedParameter]],
    bench: ProjectBench,
    suites: BenchSuites,
) -> tuple[TranslatedProject, tuple[str, ...]]:
    """Return shims and forwarders with which the tests pass, and lines about planned signatures that are not used.

    `plan` has the planned parameters by plain Rust name.
    """
    choices = propose_signatures(translated.project.units, translated.project.enums)
    planned, problems = _planned(translated.project, choices, plan)
    proposed = {key: tuple(one.proposal for one in found) for key, found in choices.items()}
    forwarded = choose_signatures(translated, proposed, bench, suites, planned)
    if lost := _lost(forwarded, planned):
        problems.append(f"the tests fail with the planned signatures of {listing(lost, NAMES_SHOWN)}")
    return forwarded, tuple(problems)


def _planned(
    project: Project, choices: Mapping[str, Sequence[ParameterChoice]], plan: Mapping[str, Sequence[PassedParameter]]
) -> tuple[Mappings, list[str]]:
    """Return the planned mappings by function key, and a line about each signature that cannot be used."""
    mappings, problems = dict[str, Sequence[ParameterMapping]](), list[str]()
    items = {plain_name(item): item for item in project.functions}
    for name in sorted(plan.keys() & items.keys()):
        key = items[name].definition.key
        try:
            mappings[key] = read_mapping(choices.get(key, ()), plan[name])
        except ValueError as error:
            problems.append(f"the planned signature of {name} is not used: {error}")
    return mappings, problems


def choose_signatures(
    translated: TranslatedProject,
    mappings: Mappings,
    bench: ProjectBench,
    suites: BenchSuites,
    planned: Mappings = NO_MAPPINGS,
) -> TranslatedProject:
    """Return shims and forwarders with which the tests pass; functions that fail keep raw pointers.

    `mappings` are the proposed mappings, by function key; those in `planned` are tried before.
    """
    raw, refused = set[str](), set[str]()
    different = {key for key, mapping in planned.items() if tuple(mapping) != tuple(mappings.get(key, ()))}
    open_slots = {one.item.slot for one in translated.functions if one.item.definition.key in different}
    for _ in range(MOST_SIGNATURES + (2 if open_slots else 0)):
        chosen = _forwarded(translated, mappings, planned, raw, refused, checked=True)
        failing = _failing_signatures(chosen, bench, suites)
        if failing <= raw:
            break
        raw |= failing - (open_slots - refused)
        refused |= failing & open_slots
    return _forwarded(translated, mappings, planned, raw, refused, checked=False)


def _forwarded(
    translated: TranslatedProject,
    mappings: Mappings,
    planned: Mappings,
    raw: Collection[str],
    refused: Collection[str],
    *,
    checked: bool,
) -> TranslatedProject:
    back = {one.item.definition.key for one in translated.functions if one.item.slot in refused}
    left = {key: one for key, one in planned.items() if key not in back}
    return forward_project(translated, {**mappings, **left}, raw, checked=checked)


def _lost(forwarded: TranslatedProject, planned: Mappings) -> list[str]:
    """Return the names of the functions with which the tests fail as planned."""
    return [
        plain_name(one.item)
        for one in forwarded.functions
        if one.body and one.item.definition.key in planned and one.mappings != tuple(planned[one.item.definition.key])
    ]


def _failing_signatures(forwarded: TranslatedProject, bench: ProjectBench, suites: BenchSuites) -> set[str]:
    """Return the slots of the functions that rustc rejects, and of those with which the tests fail."""
    checks = check_project(forwarded, bench)
    symbols = [one.slot for one in forwarded.project.items]
    bench.write_crate(bench_crate(forwarded.types, (), list(checks.bodies.values()), symbols))
    passed, messages = bench.build_library()
    if not passed:
        raise StepFailed(f"the signatures do not build: {messages[-1].text if messages else 'no message'}")
    return set(checks.errors).union(union_culprits(suites, sorted(checks.bodies)))
