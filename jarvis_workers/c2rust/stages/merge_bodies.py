"""Run the tests with all accepted functions in Rust at once; move functions that then fail back to C."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.bench.crate_archive import tar_of
from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.conversion import (
    BY_MODEL,
    Conversion,
    FunctionResult,
    FunctionState,
    SuiteResult,
    decode_conversion,
    encode_conversion,
    failures,
)
from jarvis_workers.c2rust.crate_metrics import crate_metrics
from jarvis_workers.c2rust.gates import judge_differences, take_back, union_culprits, verdict
from jarvis_workers.c2rust.library_plan import LibraryPlan, with_libraries
from jarvis_workers.c2rust.project import Project
from jarvis_workers.c2rust.stages.check_bodies import STEP as CHECK
from jarvis_workers.c2rust.stages.check_bodies import read_checked
from jarvis_workers.c2rust.stages.conversion_project import function_types
from jarvis_workers.c2rust.stages.final_bodies import STAGES, FinalBodies, Translations, final_bodies
from jarvis_workers.c2rust.stages.final_crate import CrateSources, FinalCrate, settle
from jarvis_workers.c2rust.stages.gate_cache import QUEUE, cache_result, cached_result, result_key
from jarvis_workers.c2rust.stages.library_plans import STEP as PRUNE
from jarvis_workers.c2rust.stages.library_plans import RunLibraries, libraries_in
from jarvis_workers.c2rust.stages.link_symbols import SYMBOLS_STAGE
from jarvis_workers.c2rust.stages.options import FastOptions, read_options
from jarvis_workers.c2rust.stages.rustc_checks import run_clippy
from jarvis_workers.c2rust.stages.skeleton import SKELETON, Skeleton, project_bench, read_skeleton
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.c2rust.stages.translated_bodies import failing_slots, with_bodies, with_translation, without_texts
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STEP = "merge"
# The names of the blobs.
MERGED, CRATE = "merged", "crate"
# Unions with bodies of a model; the last one has none.
MOST_UNIONS = 4
UNBUILT = "the crate does not build with the bodies of the model"
UNPRUNED = "functions that libraries replace stay, because the crate fails without them"
NOT_VENDORED = "is not vendored; set c2rust.vendor, or use --fetch-crates"
BESIDE = "the tests fail when it runs in Rust together with the other converted functions"


class MergedCrate(NamedTuple):
    """The result of the job: the conversion, and the archive of the crate."""

    conversion: Conversion
    crate: bytes


class Union(NamedTuple):
    """All bodies in one library: the skeleton, the functions, and the slots of those with which the tests fail."""

    skeleton: Skeleton
    functions: list[FunctionResult]
    culprits: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class MergeWork(JsonRecord):
    """The input of the job: results of the jobs of earlier stages, and the options of the run.

    `pruning` are the results of stage `prune`.
    """

    snapshot: str
    units: Sequence[str]
    skeleton: Sequence[str]
    checks: Sequence[str]
    translations: Translations = field(default=Translations(), metadata={"read": Translations.decode})
    pruning: Sequence[str] = ()
    options: FastOptions = field(metadata={"read": read_options})

    def read_bodies(self, blobs: Blobs) -> FinalBodies:
        """Read the skeleton of the run, and the bodies of a model. Raises StepFailed if there is no skeleton."""
        skeleton = read_skeleton(blobs, [_done(one) for one in self.skeleton])
        return final_bodies(blobs, skeleton, self.translations)

    def read_skeleton(self, blobs: Blobs, conversion: Conversion) -> Skeleton:
        """Read the skeleton of the run with the bodies that its conversion uses. Raises StepFailed without one."""
        final = self.read_bodies(blobs)
        translated = (one.slot for one in conversion.functions if one.state in BY_MODEL)
        return with_bodies(final.skeleton, {slot: final.bodies[slot] for slot in translated})


read_work = MergeWork.decode


plan = single_job(STEP, QUEUE, "run the tests in Rust")


def load(session: "Session", run: "Run", _: Claimed | None = None) -> MergeWork:
    """Return the results of the gates."""
    stages, options = (SYMBOLS_STAGE, SKELETON, CHECK, PRUNE), FastOptions.of(run)
    source = options.paused_run or run.id
    units, skeleton, checks, pruning = (jobs.outcomes(session, source, stage) for stage in stages)
    return MergeWork(
        snapshot=run.snapshot_id,
        units=[one.result for one in units if one.result],
        skeleton=[one.result for one in skeleton if one.result],
        checks=[one.result for one in checks if one.result],
        translations=Translations.of(*(jobs.outcomes(session, source, stage) for stage in STAGES)),
        pruning=[one.result for one in pruning if one.result],
        options=options,
    )


def recall(work: MergeWork, resources: Resources) -> Commit | None:
    """Return the cached crate."""
    return cached_result(resources, work.options, _key(work, resources.blobs))


def _key(work: MergeWork, blobs: Blobs) -> str:
    read = [sorted(read_result(blobs, one).blobs.items()) for one in _results(work)]
    options = work.options
    failed = [sorted((some or {}).items()) for some in (work.translations.failed, work.translations.failed_again)]
    inputs = work.snapshot, read, failed, options.libraries
    return result_key(STEP, options, *inputs, options.commands, options.proof, options.crate, options.warnings)


def _results(work: MergeWork) -> tuple[str, ...]:
    return (*work.units, *work.skeleton, *work.checks, *work.translations.results, *work.pruning)


def decide(work: MergeWork, resources: Resources) -> Commit:
    """Return the functions with their final states, as a blob."""
    blobs, options = resources.blobs, work.options
    skeleton, bodies, remarks = work.read_bodies(blobs)
    checked = read_checked(blobs, work.checks)
    sources = CrateSources.open(work.units, work.snapshot, options, blobs)
    types = function_types(sources.project)
    checked = {slot: judge_differences(report, types(slot)) for slot, report in checked.items()}
    state: FunctionState = "forwarded" if options.forward else "mechanical"
    functions = [verdict(one, checked.get(one.slot), options.proof, state) for one in skeleton.functions]
    libraries = libraries_in(options, work.pruning, blobs)
    crate_users = libraries.users(bodies)
    with project_bench(resources, options) as bench:
        for dropped in dict.fromkeys((frozenset[str](), crate_users, frozenset(bodies))):
            chosen = without_texts(bodies, UNBUILT, dropped)
            united = _unite(skeleton, functions, chosen, bench, options, crate_users)
            suites = _run_suites(united, bench)
            settled = [take_back(one, united.culprits, "different", BESIDE) for one in united.functions]
            final = _settle(settled, libraries.plan, united.skeleton, sources, bench, options)
            if final.gates[0].passed or not any(one.text for one in bodies.values()):
                break
        clippy = None if options.forward else _clippy(bench, final)
    missing = _missing_crates(libraries, sources.project)
    conversion = Conversion(
        functions=tuple(final.functions),
        wanted=options.proof,
        suites=tuple(suites),
        crate=final.gates,
        remainder=final.delivery.remainder,
        warnings=(*options.warnings, *skeleton.warnings, *remarks, *missing, *final.warnings),
        accepted=state,
        metrics=crate_metrics(final.delivery.files),
        clippy=clippy,
    )
    merged, crate = blobs.put(encode_conversion(conversion)), blobs.put(tar_of(final.delivery.files))
    gaps = tuple((b"", line) for line in failures(conversion))
    commit = Commit(not_checked=gaps, blobs=((MERGED, merged), (CRATE, crate)))
    return cache_result(resources, _key(work, blobs), commit, *(gate.detail for gate in final.gates))


def read_merged(blobs: Blobs, outcomes: Sequence[StageJob]) -> MergedCrate:
    """Return the result of the job. Raises StepFailed, with its reason, if there is none."""
    for one in outcomes:
        names = read_result(blobs, one.result).blobs
        if MERGED in names:
            return MergedCrate(decode_conversion(blobs.read(names[MERGED])), blobs.read(names[CRATE]))
    raise StepFailed(next((one.reason for one in outcomes if one.reason), "the functions were not merged"))


def _clippy(bench: ProjectBench, final: FinalCrate) -> int | None:
    """Return the number of warnings of clippy about the crate, None if they were not measured."""
    if not final.gates[0].passed:
        return None
    bench.write_crate(final.delivery.files)
    found = run_clippy(bench)
    return None if found.problem else len(found.warnings)


def _missing_crates(libraries: RunLibraries, project: Project) -> Iterator[str]:
    """Yield a line per function that crates would replace if they were vendored."""
    for item in project.functions:
        if names := libraries.missing.get(item.definition.key):
            yield f"{item.definition.name} is not replaced: {', '.join(names)} {NOT_VENDORED}"


def _settle(
    functions: list[FunctionResult],
    libraries: LibraryPlan,
    skeleton: Skeleton,
    sources: CrateSources,
    bench: ProjectBench,
    options: FastOptions,
) -> FinalCrate:
    """Return the crate without what libraries replace, or with it if its build or tests fail otherwise."""
    keys = {item.slot: item.definition.key for item in sources.project.functions}
    texts = {slot: item.text for slot, item in skeleton.bodies.items()}
    replaced = with_libraries(functions, libraries, keys.__getitem__, texts, sources.linked())
    final = settle(replaced, skeleton, sources, bench, options)
    if replaced == functions or all(gate.passed for gate in final.gates):
        return final
    failed = next(gate for gate in final.gates if not gate.passed)
    whole = settle(functions, skeleton, sources, bench, options)
    return whole._replace(warnings=(*whole.warnings, f"{UNPRUNED}: {failed.gate}: {failed.detail}"))


def _run_suites(united: Union, bench: ProjectBench) -> list[SuiteResult]:
    left = [one.slot for one in united.functions if one.accepted and one.slot not in united.culprits]
    runs = ((suite, BenchSuites(bench, [suite.command]).run(left)) for suite in united.skeleton.suites)
    return [
        SuiteResult(suite.command, suite.seconds, run.seconds, suite.deterministic, run.passed) for suite, run in runs
    ]


def _unite(
    mechanical: Skeleton,
    functions: Sequence[FunctionResult],
    bodies: Mapping[str, TranslatedBody],
    bench: ProjectBench,
    options: FastOptions,
    crate_users: Collection[str] = (),
) -> Union:
    """Build all bodies and run the tests with them.

    If bodies of a model fail beside the others, the mechanical ones take their places; at last all of them. Bodies
    that use crates, whose slots are given, are the first to go if rustc names none.
    """
    for left in reversed(range(MOST_UNIONS)):
        skeleton = with_bodies(mechanical, bodies)
        united = [with_translation(one, bodies.get(one.slot), skeleton) for one in functions]
        bench.write_crate(skeleton.crate)
        built, messages = bench.build_library()
        if built:
            # A culprit is the last of a failing prefix: a body of a model rather than a mechanical one.
            accepted = sorted((one for one in united if one.accepted), key=lambda one: one.state in BY_MODEL)
            runs = BenchSuites(bench, options.tests, skeleton.suite_limits)
            culprits = frozenset(union_culprits(runs, [one.slot for one in accepted]))
        else:
            culprits = failing_slots(messages, skeleton)
        texts = {slot for slot, one in bodies.items() if one.text}
        if built and not culprits & texts:
            return Union(skeleton, united, culprits)
        if not texts:
            break
        first = culprits & texts or texts.intersection(crate_users)
        bodies = without_texts(bodies, BESIDE, (first if left > 1 else texts) or texts)
    raise StepFailed("the crate does not build")


def _done(result: str) -> StageJob:
    return StageJob("done", None, "", 0, "{}", result, 0)
