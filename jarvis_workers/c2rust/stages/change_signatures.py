"""Change signatures that translators ask for, if the tests pass with them, and find the callers that this breaks."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.project import Project, plan_enums, read_project
from jarvis_workers.c2rust.signature_answer import (
    ChosenRequests,
    SignatureRequest,
    choose_requests,
    most_changes,
    read_mapping,
)
from jarvis_workers.c2rust.signatures import ParameterChoice, propose_signatures
from jarvis_workers.c2rust.stages.gate_cache import QUEUE, cache_result, cached_result, result_key
from jarvis_workers.c2rust.stages.link_symbols import SYMBOLS_STAGE
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.project_skeleton import translation_targets
from jarvis_workers.c2rust.stages.rustc_checks import check_bodies
from jarvis_workers.c2rust.stages.signature_choice import choose_signatures
from jarvis_workers.c2rust.stages.skeleton import (
    SKELETON,
    Skeleton,
    TranslationTarget,
    encode_skeleton,
    project_bench,
    read_skeleton,
)
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.c2rust.stages.translated_bodies import STEP as TRANSLATE
from jarvis_workers.c2rust.stages.translated_bodies import read_translated, with_bodies
from jarvis_workers.c2rust.stages.unit_batches import definition_blobs, read_unit_definitions
from jarvis_workers.c2rust.translation import translate_project
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import StageHistory, read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.rust.rust_syntax import masked
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, NewJob, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STEP = "resign"
# The name of the blob.
RESIGNED = "resigned"
WORD = re.compile(r"\w+")
CHANGED = "signature: it is now the one that was requested"
FAILING = "the tests fail with the requested one"


@dataclass(frozen=True)
class Resigned(JsonRecord):
    """What changed: the blob of the new skeleton, and the functions to translate again, by slot, with the reasons.

    `changed` are those with another signature, `broken` their callers that no longer compile. Without a change,
    `skeleton` is "". `remarks` are lines about all requests.
    """

    skeleton: str = ""
    changed: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class ResignWork(JsonRecord):
    """The input of the job: the results of the jobs of earlier stages, and the options."""

    skeleton: str
    units: Sequence[str]
    translations: Sequence[str]
    options: TranslateOptions = field(
        metadata={"read": lambda one: one if isinstance(one, TranslateOptions) else TranslateOptions.decode(one)}
    )


read_work = ResignWork.decode


def plan_on(_: "Run", blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job if a translator asks for another signature."""
    if any(one.change for one in read_translated(blobs, earlier.outcomes(TRANSLATE)).values()):
        yield NewJob(STEP, QUEUE, "change signatures", STEP)


def load(session: "Session", run: "Run", _: Claimed) -> ResignWork:
    """Return the results of earlier jobs."""
    units, skeleton, translations = (
        [one.result for one in jobs.outcomes(session, run.id, stage) if one.result]
        for stage in (SYMBOLS_STAGE, SKELETON, TRANSLATE)
    )
    return ResignWork(skeleton=skeleton[0], units=units, translations=translations, options=TranslateOptions.of(run))


def recall(work: ResignWork, resources: Resources) -> Commit | None:
    """Return the cached changes."""
    return cached_result(resources, work.options, _key(work, resources.blobs))


def _key(work: ResignWork, blobs: Blobs) -> str:
    read = [sorted(read_result(blobs, one).blobs.items()) for one in (work.skeleton, *work.translations)]
    return result_key(STEP, work.options, read, work.options.max_retries, work.options.escalate)


def decide(work: ResignWork, resources: Resources) -> Commit:
    """Return the changes as a blob."""
    try:
        resigned = _resign(work, resources)
    except StepFailed as error:
        resigned = Resigned(remarks=(f"no signature is changed: {error}",))
    blob = resources.blobs.put(resigned.to_json().encode())
    return cache_result(resources, _key(work, resources.blobs), Commit(blobs=((RESIGNED, blob),)), *resigned.remarks)


def read_resigned(blobs: Blobs, results: Sequence[str]) -> Resigned:
    """Return the changes of a run from the results of this stage; none without any."""
    names = (read_result(blobs, one).blobs.get(RESIGNED) for one in results)
    return next((Resigned.from_json(blobs.read(name).decode()) for name in names if name), Resigned())


def _resign(work: ResignWork, resources: Resources) -> Resigned:
    blobs, options = resources.blobs, work.options
    skeleton = read_skeleton(blobs, [_done(work.skeleton)])
    bodies = read_translated(blobs, [_done(one) for one in work.translations])
    project = read_project(unit for _, unit in read_unit_definitions(blobs, definition_blobs(blobs, work.units)))
    project = replace(project, enums=plan_enums(project.units, skeleton.enums))
    chosen = _choose(project, skeleton, bodies, options)
    with project_bench(resources, options) as bench:
        targets = _signed(project, skeleton, chosen, bench, options) if chosen.mappings else {}
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


def _choose(
    project: Project, skeleton: Skeleton, bodies: Mapping[str, TranslatedBody], options: TranslateOptions
) -> ChosenRequests:
    choices = _choices(project, skeleton)
    present = {slot: read_mapping(choices[slot], one.mapping) for slot, one in skeleton.targets.items()}
    requests = (
        SignatureRequest(slot, one.change, bool(one.text), options.answers_left(one.attempts) > 0)
        for slot, one in bodies.items()
        if one.change
    )
    return choose_requests(requests, choices, present, most_changes(len(skeleton.targets)))


def _choices(project: Project, skeleton: Skeleton) -> dict[str, tuple[ParameterChoice, ...]]:
    found = propose_signatures(project.units, project.enums)
    items = (one for one in project.functions if one.slot in skeleton.targets)
    return {one.slot: found[one.definition.key] for one in items}


def _signed(
    project: Project, skeleton: Skeleton, chosen: ChosenRequests, bench: ProjectBench, options: TranslateOptions
) -> dict[str, TranslationTarget]:
    """Return the targets with the requested signatures with which the tests pass; all others are as before."""
    choices = _choices(project, skeleton)
    keys = {one.slot: one.definition.key for one in project.functions}
    present = {keys[slot]: read_mapping(choices[slot], one.mapping) for slot, one in skeleton.targets.items()}
    requested = {keys[slot]: mapping for slot, mapping in chosen.mappings.items()}
    translated = translate_project(project, options.only)
    suites = BenchSuites(bench, options.tests)
    forwarded = choose_signatures(translated, present, bench, suites, requested)
    passed = {one.item.slot for one in forwarded.functions if one.mappings == chosen.mappings.get(one.item.slot)}
    targets = translation_targets(forwarded, translated)
    modules = {slot: skeleton.targets[slot].item.module for slot in chosen.mappings}
    return {
        slot: targets[slot]._replace(item=targets[slot].item._replace(module=module))
        for slot, module in sorted(modules.items())
        if slot in passed and slot in targets
    }


def _callers(bodies: Mapping[str, TranslatedBody], names: Mapping[str, str]) -> dict[str, TranslatedBody]:
    """Return the bodies that mention functions, whose slots and names are given, without theirs."""
    others = {slot: one for slot, one in bodies.items() if one.text and slot not in names}
    return {slot: one for slot, one in others.items() if mentions(one.text, names.values())}


def mentions(text: str, names: Collection[str]) -> bool:
    """Return whether Rust code contains one of these names."""
    return not set(WORD.findall(masked(text))).isdisjoint(names)


def _remarks(skeleton: Skeleton, bodies: Mapping[str, TranslatedBody], refused: Mapping[str, str]) -> Iterator[str]:
    for slot, one in sorted(bodies.items()):
        if one.change:
            name = skeleton.targets[slot].item.name
            outcome = f"is not changed: {refused[slot]}" if slot in refused else "is changed"
            yield f"the signature of {name} {outcome}; the model asked for it: {one.change_reason}"


def _done(result: str) -> StageJob:
    return StageJob("done", None, "", 0, "{}", result, 0)
