"""The skeleton of a translated project: its functions with their bodies and targets, covered lines, and inputs."""

import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace

from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.conversion import Cause, FunctionResult
from jarvis_workers.c2rust.input_sources import input_sources
from jarvis_workers.c2rust.inputs import CallPlan, plan_calls
from jarvis_workers.c2rust.shims import forwarder_names, wrapper_text
from jarvis_workers.c2rust.signature_answer import passed_parameters
from jarvis_workers.c2rust.stages.input_runs import UsableInputs
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.rustc_checks import Checks, check_project
from jarvis_workers.c2rust.stages.skeleton import Skeleton, SuiteBaseline, TranslationTarget, usable_inputs
from jarvis_workers.c2rust.translation import NOT_CHOSEN, Translated, TranslatedProject
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import shown
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.toolchain.gcov import LineCoverage, count_lines

# Not the number of processors: the calls that a program runs one after the other are the same on all machines.
INPUT_BENCHES = 2
NOT_CHECKED = "its gates did not run"


def project_skeleton(
    translated: TranslatedProject,
    bench: ProjectBench,
    suites: Sequence[SuiteBaseline],
    targets: Mapping[str, TranslationTarget],
) -> Skeleton:
    """Return the skeleton with the bodies that rustc accepts; `targets` are for a model to translate."""
    checks = check_project(translated, bench)
    return Skeleton(
        functions=tuple(_result(one, checks) for one in translated.functions),
        types=translated.types,
        declarations=translated.declarations(),
        bodies=checks.bodies,
        suites=tuple(suites),
        shapes=translated.shapes({one.item.slot for one in translated.functions}, platform.machine()),
        targets=targets,
        symbols=tuple(sorted({one.item.slot for one in translated.items})),
        globals={one.item.slot: one.crate_item() for one in translated.items if one.body and not one.item.is_function},
        warnings=tuple(
            f"{suite.command}: calls different functions on each run (not deterministic): calls are not compared with C"
            for suite in suites
            if not suite.deterministic
        ),
    )


def _result(one: Translated, checks: Checks) -> FunctionResult:
    definition, item = one.item.definition, one.item
    result = FunctionResult(
        name=definition.name,
        file=shown(definition.extent.file),
        line=definition.extent.line,
        end_line=definition.extent.end_line,
        module=item.module,
        rust_name=item.rust_name,
        rust_signature=one.signature,
        cause="not_checked",
        reason=NOT_CHECKED,
        slot=item.slot,
        mapping=passed_parameters(one.mappings),
    )
    if error := checks.errors.get(item.slot):
        return replace(result, cause="refused", reason=f"its Rust code does not compile: {error.code} {error.text}")
    if one.body:
        return result
    cause: Cause = "not_chosen" if one.refusal == NOT_CHOSEN else "refused"
    return replace(result, cause=cause, reason=one.refusal)


def translation_targets(forwarded: TranslatedProject, translated: TranslatedProject) -> dict[str, TranslationTarget]:
    """Return the functions with a Rust signature by slot; `translated` has the names of all items."""
    names = [one.item.rust_name for one in translated.items]
    forwarders, own = forwarder_names(names), forwarder_names(names, "rust_")
    found = ((one, one.item.rust_name) for one in forwarded.functions if one.body)
    return {
        one.item.slot: TranslationTarget(
            one.crate_item(),
            forwarders[name],
            own[name],
            passed_parameters(one.mappings),
            wrapper_text(one.item, one.mappings, forwarded.names[one.item.unit.file], own[name]),
        )
        for one, name in found
    }


def with_lines(skeleton: Skeleton, coverage: LineCoverage, reason: str) -> Skeleton:
    """Return the skeleton with the lines of each function that the tests run, or the reason why they are unknown."""
    counted = ((one, count_lines(coverage, one.file, one.name)) for one in skeleton.functions)
    warnings = (f"the line coverage of the tests is not measured: {reason}",) if reason else ()
    return replace(
        skeleton,
        functions=tuple(replace(one, lines=lines.total, lines_run=lines.run) for one, lines in counted),
        warnings=(*skeleton.warnings, *warnings),
    )


def submit_inputs(
    pool: Executor, resources: Resources, options: FastOptions, translated: TranslatedProject
) -> list[Future[dict[str, UsableInputs]]]:
    """Find the inputs of the chosen functions for which C is well defined, on several benches."""
    return [pool.submit(usable_inputs, resources, options, share) for share in _input_plans(translated)]


def _input_plans(translated: TranslatedProject) -> list[list[CallPlan]]:
    """Return the calls with generated arguments of the chosen functions, in a share for each bench."""
    sources, machine = input_sources(translated.project), platform.machine()
    items = [one.item for one in translated.functions if one.refusal != NOT_CHOSEN]
    mappings = (sources.mappings.get(item.definition.key, ()) for item in items)
    plans = [plan_calls(item, mapping, machine, sources) for item, mapping in zip(items, mappings, strict=True)]
    return [plans[start::INPUT_BENCHES] for start in range(INPUT_BENCHES)]


def with_inputs(skeleton: Skeleton, found: Sequence[Future[dict[str, UsableInputs]]]) -> Skeleton:
    """Return the skeleton with the inputs for which C is well defined, for all functions with a body."""
    chosen = skeleton.bodies.keys() | skeleton.targets.keys()
    try:
        inputs = {slot: one for share in found for slot, one in share.result().items() if slot in chosen}
        return replace(skeleton, inputs=dict(sorted(inputs.items())))
    except StepFailed as problem:
        warning = f"functions are not called with generated arguments: {problem}"
        return replace(skeleton, warnings=(*skeleton.warnings, warning))
