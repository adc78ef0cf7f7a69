"""Run the tests with all accepted functions in Rust at once; move functions that then fail back to C."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.bench.crate_archive import tar_of
from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.conversion import (
    Conversion,
    FunctionResult,
    FunctionState,
    decode_conversion,
    encode_conversion,
    failures,
)
from jarvis_workers.c2rust.crate_metrics import crate_metrics
from jarvis_workers.c2rust.gates import take_back, verdict
from jarvis_workers.c2rust.library_plan import LibraryPlan, with_libraries
from jarvis_workers.c2rust.stages.body_union import BESIDE, unite
from jarvis_workers.c2rust.stages.crate_sources import CrateSources
from jarvis_workers.c2rust.stages.final_bodies import MergeWork
from jarvis_workers.c2rust.stages.final_crate import FinalCrate, settle
from jarvis_workers.c2rust.stages.gate_cache import QUEUE, cache_result, cached_result, result_key
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.rustc_checks import run_clippy
from jarvis_workers.c2rust.stages.skeleton import Skeleton, project_bench
from jarvis_workers.c2rust.stages.translated_bodies import without_texts
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STEP = "merge"
# The names of the blobs.
MERGED, CRATE = "merged", "crate"
UNBUILT = "the crate does not build with the bodies of the model"
UNPRUNED = "functions that libraries replace stay, because the crate fails without them"


class MergedCrate(NamedTuple):
    """The result of the job: the conversion, and the archive of the crate."""

    conversion: Conversion
    crate: bytes


read_work = MergeWork.decode


plan = single_job(STEP, QUEUE, "run the tests in Rust")


def load(session: "Session", run: "Run", _: Claimed | None = None) -> MergeWork:
    """Return the results of the gates."""
    return MergeWork.load(session, run)


def recall(work: MergeWork, resources: Resources) -> Commit | None:
    """Return the cached crate."""
    return cached_result(resources, work.options, _key(work, resources.blobs))


def _key(work: MergeWork, blobs: Blobs) -> str:
    read = [sorted(read_result(blobs, one).blobs.items()) for one in work.results]
    options = work.options
    failed = [sorted((some or {}).items()) for some in (work.translations.failed, work.translations.failed_again)]
    inputs = work.snapshot, read, failed, options.libraries
    return result_key(STEP, options, *inputs, options.commands, options.proof, options.crate, options.warnings)


def decide(work: MergeWork, resources: Resources) -> Commit:
    """Return the functions with their final states, as a blob."""
    blobs, options = resources.blobs, work.options
    skeleton, bodies, remarks = work.read_bodies(blobs)
    sources = CrateSources.open(work, blobs)
    checked = work.gates(blobs, sources.types())
    state: FunctionState = "forwarded" if options.forward else "mechanical"
    functions = [verdict(one, checked.get(one.slot), options.proof, state) for one in skeleton.functions]
    libraries = work.libraries(blobs)
    crate_users = libraries.users(bodies)
    with project_bench(resources, options) as bench:
        for dropped in dict.fromkeys((frozenset[str](), crate_users, frozenset(bodies))):
            chosen = without_texts(bodies, UNBUILT, dropped)
            united = unite(skeleton, functions, chosen, bench, options, crate_users)
            suites = united.run_suites(bench)
            settled = [take_back(one, united.culprits, "different", BESIDE) for one in united.functions]
            final = _settle(settled, libraries.plan, united.skeleton, sources, bench, options)
            if final.gates[0].passed or not any(one.text for one in bodies.values()):
                break
        clippy = None if options.forward else _clippy(bench, final)
    missing = libraries.not_vendored(sources.project)
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
