"""The signatures that translators ask for: which of them are tried, and with which the tests pass."""

from collections.abc import Mapping

from jarvis_workers.c2rust.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.project import Project
from jarvis_workers.c2rust.signature_answer import (
    ChosenRequests,
    SignatureRequest,
    choose_requests,
    most_changes,
    read_mapping,
)
from jarvis_workers.c2rust.signatures import ParameterChoice, propose_signatures
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.project_skeleton import translation_targets
from jarvis_workers.c2rust.stages.signature_choice import choose_signatures
from jarvis_workers.c2rust.stages.skeleton import Skeleton, TranslationTarget
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.c2rust.translation import translate_project


def chosen_requests(
    project: Project, skeleton: Skeleton, bodies: Mapping[str, TranslatedBody], options: TranslateOptions
) -> ChosenRequests:
    """Return the requests that are granted if the tests pass, and why the others are refused."""
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


def signed_targets(
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
