"""Change signatures that translators ask for, if the tests pass with them, and find the callers that this breaks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.project import plan_enums
from jarvis_workers.c2rust.stages.conversion_project import project_of
from jarvis_workers.c2rust.stages.final_bodies import RESIGN, RESIGNED, MergeWork, Resigned, mentions
from jarvis_workers.c2rust.stages.gate_cache import QUEUE, cache_result, cached_result, result_key
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.requested_signatures import chosen_requests, signed_targets
from jarvis_workers.c2rust.stages.rustc_checks import check_bodies
from jarvis_workers.c2rust.stages.skeleton import Skeleton, encode_skeleton, project_bench
from jarvis_workers.c2rust.stages.translated_bodies import STEP as TRANSLATE
from jarvis_workers.c2rust.stages.translated_bodies import read_translated, with_bodies
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import StageHistory, read_result
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

CHANGED = "signature: it is now the one that was requested"
FAILING = "the tests fail with the requested one"


@dataclass(frozen=True, kw_only=True)
class ResignWork(MergeWork):
    """The input of the job: a project with its skeleton and the first bodies of a model."""

    options: TranslateOptions = field(
        metadata={"read": lambda one: one if isinstance(one, TranslateOptions) else TranslateOptions.decode(one)}
    )


read_work = ResignWork.decode


def plan_on(_: "Run", blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job if a translator asks for another signature."""
    if any(one.change for one in read_translated(blobs, earlier.outcomes(TRANSLATE)).values()):
        yield NewJob(RESIGN, QUEUE, "change signatures", RESIGN)


def load(session: "Session", run: "Run", _: Claimed) -> ResignWork:
    """Return the results of earlier jobs."""
    return ResignWork.load(session, run, options=TranslateOptions.of(run))


def recall(work: ResignWork, resources: Resources) -> Commit | None:
    """Return the cached changes."""
    return cached_result(resources, work.options, _key(work, resources.blobs))


def _key(work: ResignWork, blobs: Blobs) -> str:
    read = [sorted(read_result(blobs, one).blobs.items()) for one in (*work.skeleton[:1], *work.translations.first)]
    return result_key(RESIGN, work.options, read, work.options.max_retries, work.options.escalate)


def decide(work: ResignWork, resources: Resources) -> Commit:
    """Return the changes as a blob."""
    try:
        resigned = _resign(work, resources)
    except StepFailed as error:
        resigned = Resigned(remarks=(f"no signature is changed: {error}",))
    blob = resources.blobs.put(resigned.to_json().encode())
    return cache_result(resources, _key(work, resources.blobs), Commit(blobs=((RESIGNED, blob),)), *resigned.remarks)


def _resign(work: ResignWork, resources: Resources) -> Resigned:
    blobs, options = resources.blobs, work.options
    skeleton, bodies, _ = work.read_bodies(blobs)
    project = project_of(blobs, work.units)
    project = replace(project, enums=plan_enums(project.units, skeleton.enums))
    chosen = chosen_requests(project, skeleton, bodies, options)
    with project_bench(resources, options) as bench:
        targets = signed_targets(project, skeleton, chosen, bench, options) if chosen.mappings else {}
        fresh = replace(skeleton, targets={**skeleton.targets, **targets})
        callers = _callers(bodies, {slot: skeleton.targets[slot].name for slot in targets})
        broken = dict[str, str]()
        if callers:
            built = with_bodies(fresh, callers)
            checks = check_bodies(bench, built.types, built.declared, {slot: built.bodies[slot] for slot in callers})
            broken = {slot: f"check: {error.code} {error.text}" for slot, error in sorted(checks.errors.items())}
    refused = chosen.refused | {slot: FAILING for slot in chosen.mappings if slot not in targets}
    return Resigned(
        skeleton=blobs.put(encode_skeleton(fresh)) if targets else "",
        changed=dict.fromkeys(sorted(targets), CHANGED),
        broken=broken,
        remarks=tuple(_remarks(skeleton, bodies, refused)),
    )


def _callers(bodies: Mapping[str, TranslatedBody], names: Mapping[str, str]) -> dict[str, TranslatedBody]:
    """Return the bodies that mention functions, whose slots and names are given, without theirs."""
    others = {slot: one for slot, one in bodies.items() if one.text and slot not in names}
    return {slot: one for slot, one in others.items() if mentions(one.text, names.values())}


def _remarks(skeleton: Skeleton, bodies: Mapping[str, TranslatedBody], refused: Mapping[str, str]) -> Iterator[str]:
    for slot, one in sorted(bodies.items()):
        if one.change:
            name = skeleton.targets[slot].item.name
            outcome = f"is not changed: {refused[slot]}" if slot in refused else "is changed"
            yield f"the signature of {name} {outcome}; the model asked for it: {one.change_reason}"
