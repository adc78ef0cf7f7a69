"""Create the skeleton of a conversion: translated functions, programs with slots, and traces of the tests.

Bodies that rustc rejects are left out.  In a run for signatures, the bodies are forwarders.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from jarvis_workers.c2rust.project import place_functions, plan_enums
from jarvis_workers.c2rust.stages.conversion_project import ConversionProject, job_results, project_of
from jarvis_workers.c2rust.stages.crate_plans import LAYOUT, SIGNATURES, read_files, read_plan
from jarvis_workers.c2rust.stages.gate_cache import QUEUE, cache_result, cached_result, result_key
from jarvis_workers.c2rust.stages.project_skeleton import (
    INPUT_BENCHES,
    project_skeleton,
    submit_inputs,
    translation_targets,
    with_inputs,
    with_lines,
)
from jarvis_workers.c2rust.stages.signature_choice import sign_project
from jarvis_workers.c2rust.stages.skeleton import (
    SKELETON,
    TranslationTarget,
    encode_skeleton,
    project_bench,
    project_coverage,
)
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites, baselines
from jarvis_workers.c2rust.stages.unit_batches import definition_blobs
from jarvis_workers.c2rust.translation import translate_project, unmatched_names
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run


@dataclass(frozen=True, kw_only=True)
class SkeletonWork(ConversionProject):
    """The input of the job: a project, and the results of the jobs that plan its crate."""

    layouts: Sequence[str] = ()
    signatures: Sequence[str] = ()

    @classmethod
    def of(cls, run: "Run", outcomes: Callable[[str], Sequence[StageJob]], **more: Any) -> Self:
        """Return the project of a run from the outcomes of its stages."""
        layouts, signatures = (job_results(outcomes(stage)) for stage in (LAYOUT, SIGNATURES))
        return super().of(run, outcomes, layouts=layouts, signatures=signatures, **more)


plan = single_job(SKELETON, QUEUE, "translate, and build with slots")


def load(session: "Session", run: "Run", _: Claimed) -> SkeletonWork:
    """Return the results of the jobs of earlier stages."""
    return SkeletonWork.load(session, run)


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
    return result_key(SKELETON, work.options, definition_blobs(blobs, work.units), plans)


def _make(work: SkeletonWork, resources: Resources) -> Commit:
    blobs = resources.blobs
    project = project_of(blobs, work.units)
    crate = read_plan(blobs, work.layouts, work.signatures, read_files(blobs, work.options.plan, project))
    project = replace(place_functions(project, crate.modules), enums=plan_enums(project.units, crate.enums))
    if unmatched := unmatched_names(project, work.options.only):
        raise StepFailed(f"--only: the project has no function {', '.join(unmatched)}; see: jarvis c2rust symbols")
    translated = translate_project(project, work.options.only)
    with project_bench(resources, work.options) as bench, ThreadPoolExecutor(1 + INPUT_BENCHES) as pool:
        suites, called = baselines(bench, work.options.tests)
        coverage = pool.submit(project_coverage, resources, work.options)
        found = submit_inputs(pool, resources, work.options, translated)
        targets: dict[str, TranslationTarget] = {}
        warnings: tuple[str, ...] = crate.warnings
        if work.options.forward or work.options.translate:
            forwarded, unused = sign_project(translated, crate.functions, bench, BenchSuites(bench, work.options.tests))
            warnings += unused
            translated = forwarded if work.options.forward else translated
            targets = translation_targets(forwarded, translated) if work.options.translate else {}
        skeleton = replace(project_skeleton(translated, bench, suites, targets), called=frozenset(called))
        skeleton = replace(skeleton, warnings=(*warnings, *skeleton.warnings), enums=crate.enums)
        skeleton = with_inputs(with_lines(skeleton, *coverage.result()), found)
    commit = Commit(blobs=((SKELETON, blobs.put(encode_skeleton(skeleton))),))
    return cache_result(resources, _key(work, blobs), commit, *skeleton.warnings)
