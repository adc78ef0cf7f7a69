"""Create the skeleton of a conversion: translated functions, programs with slots, and traces of the tests.

Bodies that rustc rejects are left out.  In a run for signatures, the bodies are forwarders.
"""

import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.conversion import Cause, FunctionResult
from jarvis_workers.c2rust.input_sources import input_sources
from jarvis_workers.c2rust.inputs import CallPlan, plan_calls
from jarvis_workers.c2rust.project import place_functions, plan_enums, read_project
from jarvis_workers.c2rust.shims import forwarder_names, wrapper_text
from jarvis_workers.c2rust.signature_answer import passed_parameters
from jarvis_workers.c2rust.stages.crate_plans import LAYOUT, SIGNATURES, read_files, read_plan
from jarvis_workers.c2rust.stages.gate_cache import QUEUE, cache_result, cached_result, result_key
from jarvis_workers.c2rust.stages.input_runs import UsableInputs
from jarvis_workers.c2rust.stages.link_symbols import SYMBOLS_STAGE
from jarvis_workers.c2rust.stages.options import FastOptions, read_options
from jarvis_workers.c2rust.stages.rustc_checks import Checks, check_project
from jarvis_workers.c2rust.stages.signature_choice import sign_project
from jarvis_workers.c2rust.stages.skeleton import (
    SKELETON,
    Skeleton,
    SuiteBaseline,
    TranslationTarget,
    encode_skeleton,
    project_bench,
    project_coverage,
    usable_inputs,
)
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites, baseline
from jarvis_workers.c2rust.stages.unit_batches import definition_blobs, read_unit_definitions
from jarvis_workers.c2rust.translation import (
    NOT_CHOSEN,
    Translated,
    TranslatedProject,
    translate_project,
    unmatched_names,
)
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import shown
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit
from jarvis_workers.toolchain.gcov import LineCoverage, count_lines

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

# Not the number of processors: the calls that a program runs one after the other are the same on all machines.
INPUT_BENCHES = 2
NOT_CHECKED = "its gates did not run"


@dataclass(frozen=True, kw_only=True)
class SkeletonWork(JsonRecord):
    """The input of the job: the results of the jobs that read units or plan the crate, and the options of the run."""

    definitions: Sequence[str]
    layouts: Sequence[str] = ()
    signatures: Sequence[str] = ()
    options: FastOptions = field(metadata={"read": read_options})


plan = single_job(SKELETON, QUEUE, "translate, and build with slots")


def load(session: "Session", run: "Run", _: Claimed) -> SkeletonWork:
    """Return the results of the jobs of earlier stages."""
    stages = (jobs.outcomes(session, run.id, stage) for stage in (SYMBOLS_STAGE, LAYOUT, SIGNATURES))
    units, layouts, signatures = ([one.result for one in stage if one.result] for stage in stages)
    options = FastOptions.of(run)
    return SkeletonWork(definitions=units, layouts=layouts, signatures=signatures, options=options)


read_work = SkeletonWork.decode


def recall(work: SkeletonWork, resources: Resources) -> Commit | None:
    """Return the cached skeleton."""
    return cached_result(resources, work.options, _key(work, resources.blobs))


def decide(work: SkeletonWork, resources: Resources) -> Commit:
    """Return the skeleton as a blob, or the reason why there is none; raising an error would cause a useless retry."""
    try:
        return _make(work, resources)
    except StepFailed as error:
        return Commit(not_checked=((b"", str(error)),))


def _key(work: SkeletonWork, blobs: Blobs) -> str:
    plans = [sorted(read_result(blobs, one).blobs.items()) for one in (*work.layouts, *work.signatures)]
    return result_key(SKELETON, work.options, definition_blobs(blobs, work.definitions), plans)


def _make(work: SkeletonWork, resources: Resources) -> Commit:
    blobs = resources.blobs
    units = [unit for _, unit in read_unit_definitions(blobs, definition_blobs(blobs, work.definitions))]
    project = read_project(units)
    crate = read_plan(blobs, work.layouts, work.signatures, read_files(blobs, work.options.plan, project))
    project = replace(place_functions(project, crate.modules), enums=plan_enums(project.units, crate.enums))
    if unmatched := unmatched_names(project, work.options.only):
        raise StepFailed(f"--only: the project has no function {', '.join(unmatched)}; see: jarvis c2rust symbols")
    translated = translate_project(project, work.options.only)
    with project_bench(resources, work.options) as bench, ThreadPoolExecutor(1 + INPUT_BENCHES) as pool:
        suites, called = _baselines(bench, work.options.tests)
        coverage = pool.submit(project_coverage, resources, work.options)
        found = [pool.submit(usable_inputs, resources, work.options, share) for share in _input_plans(translated)]
        targets: dict[str, TranslationTarget] = {}
        warnings: tuple[str, ...] = crate.warnings
        if work.options.forward or work.options.translate:
            forwarded, unused = sign_project(translated, crate.functions, bench, BenchSuites(bench, work.options.tests))
            warnings += unused
            translated = forwarded if work.options.forward else translated
            targets = translation_targets(forwarded, translated) if work.options.translate else {}
        skeleton = replace(_skeleton(translated, bench, suites, targets), called=frozenset(called))
        skeleton = replace(skeleton, warnings=(*warnings, *skeleton.warnings), enums=crate.enums)
        skeleton = _with_inputs(_with_lines(skeleton, *coverage.result()), found)
    commit = Commit(blobs=((SKELETON, blobs.put(encode_skeleton(skeleton))),))
    return cache_result(resources, _key(work, blobs), commit, *skeleton.warnings)


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


def _skeleton(
    translated: TranslatedProject,
    bench: ProjectBench,
    suites: Sequence[SuiteBaseline],
    targets: Mapping[str, TranslationTarget],
) -> Skeleton:
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


def _with_lines(skeleton: Skeleton, coverage: LineCoverage, reason: str) -> Skeleton:
    counted = ((one, count_lines(coverage, one.file, one.name)) for one in skeleton.functions)
    warnings = (f"the line coverage of the tests is not measured: {reason}",) if reason else ()
    return replace(
        skeleton,
        functions=tuple(replace(one, lines=lines.total, lines_run=lines.run) for one, lines in counted),
        warnings=(*skeleton.warnings, *warnings),
    )


def _input_plans(translated: TranslatedProject) -> list[list[CallPlan]]:
    """Return the calls with generated arguments of the chosen functions, in a share for each bench."""
    sources, machine = input_sources(translated.project), platform.machine()
    items = [one.item for one in translated.functions if one.refusal != NOT_CHOSEN]
    mappings = (sources.mappings.get(item.definition.key, ()) for item in items)
    plans = [plan_calls(item, mapping, machine, sources) for item, mapping in zip(items, mappings, strict=True)]
    return [plans[start::INPUT_BENCHES] for start in range(INPUT_BENCHES)]


def _with_inputs(skeleton: Skeleton, found: Sequence[Future[dict[str, UsableInputs]]]) -> Skeleton:
    """Return the skeleton with the inputs for which C is well defined, for all functions with a body."""
    chosen = skeleton.bodies.keys() | skeleton.targets.keys()
    try:
        inputs = {slot: one for share in found for slot, one in share.result().items() if slot in chosen}
        return replace(skeleton, inputs=dict(sorted(inputs.items())))
    except StepFailed as problem:
        warning = f"functions are not called with generated arguments: {problem}"
        return replace(skeleton, warnings=(*skeleton.warnings, warning))


def _baselines(bench: ProjectBench, commands: Sequence[str]) -> tuple[list[SuiteBaseline], set[str]]:
    suites, called = list[SuiteBaseline](), set[str]()
    for command in commands:
        suite, run, reached = baseline(bench, command)
        if run.failure:
            tail = run.output.decode(errors="backslashreplace").splitlines()[-3:]
            why = ": ".join(filter(None, (run.failure, " | ".join(tail))))
            raise StepFailed(f"--test {command}: fails before anything is translated: {why}")
        suites.append(suite)
        called |= reached
    return suites, called


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
