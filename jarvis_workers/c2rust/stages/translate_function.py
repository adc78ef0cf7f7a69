"""Translate a function by a model, with the gates on a bench: the step of stage `translate`.

The gates run on a bench only while an answer is checked, not while the model thinks.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.agents.conversations.runtime import AgentRuntime, JobConversation
from jarvis_workers.agents.tools.tool import Tool, ToolFailed, ToolOutcome
from jarvis_workers.c2rust.bench.priority_semaphore import PrioritySemaphore
from jarvis_workers.c2rust.body_question import BodyQuestion, body_question, safe_functions
from jarvis_workers.c2rust.body_review import reviewer
from jarvis_workers.c2rust.body_translation import (
    GATES_TOOL,
    NO_BODY,
    RefusedBody,
    TranslatedBody,
    Translators,
    answers_are_unusable,
    encode_report,
    translate_body,
    translator,
)
from jarvis_workers.c2rust.conversion import FunctionResult, GateOutcome, proof_of
from jarvis_workers.c2rust.gates import GateReport, judge_differences
from jarvis_workers.c2rust.project import Project, read_project
from jarvis_workers.c2rust.shadow_fields import FunctionTypes
from jarvis_workers.c2rust.stages.c_sources import c_texts
from jarvis_workers.c2rust.stages.check_bodies import STEP as CHECK
from jarvis_workers.c2rust.stages.check_bodies import reached_functions, run_gates, skeleton_of
from jarvis_workers.c2rust.stages.compile_errors import crate_failure, error_report, error_summary, own_errors
from jarvis_workers.c2rust.stages.drivers import STEP as DRIVERS
from jarvis_workers.c2rust.stages.drivers import driven_suites, driver_blobs
from jarvis_workers.c2rust.stages.library_plans import STEP as PRUNE
from jarvis_workers.c2rust.stages.library_plans import RunLibraries, libraries_in, unneeded_functions
from jarvis_workers.c2rust.stages.link_symbols import SYMBOLS_STAGE
from jarvis_workers.c2rust.stages.merge_bodies import function_types
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.results import TranslationResult
from jarvis_workers.c2rust.stages.run_values import of_run
from jarvis_workers.c2rust.stages.skeleton import (
    SKELETON,
    Skeleton,
    all_declarations,
    checked_bench,
    decode_skeleton,
    project_bench,
    with_all_declared,
)
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.c2rust.stages.translated_bodies import (
    QUEUE,
    STEP,
    TRANSLATED,
    TranslatePayload,
    decode_translated,
    encode_translated,
)
from jarvis_workers.c2rust.stages.unit_batches import definition_blobs, read_unit_definitions
from jarvis_workers.c2rust.store import symbols
from jarvis_workers.c2rust.translation_weights import translation_weights
from jarvis_workers.c2rust.vendored_crates import VendoredCrates
from jarvis_workers.errors import SandboxError, StepFailed, UsageError
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

# One bench keeps two thirds of a processor busy: the programs of its tests wait for each other.
GATES = PrioritySemaphore(max(1, (os.cpu_count() or 1) * 3 // 2))


@dataclass(frozen=True)
class TranslateWork:
    """A function to translate, the definitions of the project, and the transcript of the conversation so far.

    `pruning` are the results of stage `prune`, `checks` those of stage `check`.
    """

    job: Claimed
    payload: TranslatePayload
    options: TranslateOptions
    snapshot_id: str
    definitions: tuple[str, ...]
    lines: list[bytes]
    pruning: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


class Translation(NamedTuple):
    """The function, the skeleton of the run, the types that name differences, and its body of an earlier stage.

    `crates` are those that bodies may use. `reached` is the outcome of that gate for its mechanical body.
    """

    function: FunctionResult
    skeleton: Skeleton
    question: BodyQuestion
    types: Callable[[str], FunctionTypes]
    earlier: TranslatedBody | None = None
    crates: VendoredCrates = VendoredCrates()
    reached: GateOutcome | None = None


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job for each function with a Rust signature that its tests or inputs can prove as strongly as wanted."""
    name = skeleton_of(blobs, earlier.outcomes(SKELETON))
    skeleton, options = decode_skeleton(blobs.read(name)), TranslateOptions.of(run)
    unneeded, drivers = unneeded_functions(options, earlier, blobs), driver_blobs(blobs, earlier.outcomes(DRIVERS))
    keys = _keys(blobs, _results(earlier.outcomes(SYMBOLS_STAGE)))
    with earlier.read() as session:
        weights = translation_weights(symbols.read(session, run.id), options.risky)
    for slot in sorted(skeleton.targets):
        driver = drivers.get(slot, "")
        if keys[slot] not in unneeded and (options.proof == "built" or driver or skeleton.is_tested(slot)):
            payload = TranslatePayload(slot, name, driver=driver).to_json()
            yield NewJob(
                STEP,
                QUEUE,
                skeleton.targets[slot].item.name,
                sha256(payload.encode()).hexdigest(),
                payload=payload,
                weight=weights.get(keys[slot], 0),
            )


def _results(jobs: Iterable[StageJob]) -> tuple[str, ...]:
    return tuple(one.result for one in jobs if one.result)


def load(session: "Session", run: Run, job: Claimed) -> TranslateWork:
    """Return the function of a job."""
    stages = SYMBOLS_STAGE, PRUNE, CHECK
    definitions, pruning, checks = (_results(jobs.outcomes(session, run.id, stage)) for stage in stages)
    payload, options = TranslatePayload.from_json(job.payload), TranslateOptions.of(run)
    return TranslateWork(job, payload, options, run.snapshot_id, definitions, lines(session, job.id), pruning, checks)


async def converse(work: TranslateWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the body of a function, or the reason why there is none."""
    found = await asyncio.to_thread(_translation, work, blobs)
    options = _options(work.options, found.earlier)
    resources = Resources(blobs, checkouts=runtime.setup.unpacked)
    gates = gates_tool(partial(check_body, found, options, resources, work.payload.driver))
    with runtime.open(work.job, options.group, found.question.about, work.lines, options.escalate) as talk:
        team = _team(talk, options)
        earlier = RefusedBody(_function(found.earlier.text), work.payload.failure) if found.earlier else NO_BODY
        conversation = translate_body(team, found.question, options.proof, earlier)
        body = await talk.lead(conversation, team.translators[0], {"about": found.question.about}, [gates])
        if not body.checked and any(map(answers_are_unusable, team.translators)):
            await talk.forget()
    gap = (from_shown(found.function.file), f"{found.function.name} is not translated by the model: {body.reason}")
    if body.text:
        body = body._replace(text=found.question.item(found.skeleton.targets[body.slot].item, body.text).text)
    content = await asyncio.to_thread(blobs.put, encode_translated(body))
    outcome = TranslationResult(proof_of(body.gates) if body.text else "none", options.pause_share)
    return Commit(not_checked=() if body.checked else (gap,), blobs=((TRANSLATED, content),), results=(outcome,))


def _options(options: TranslateOptions, earlier: TranslatedBody | None) -> TranslateOptions:
    """Return the options of a conversation, which has the answers that an earlier one left."""
    if earlier is None:
        return options
    left = min(options.attempts, options.answers_left(earlier.attempts))
    return replace(options, max_retries=left - 1, escalate=None, review=options.review and not earlier.text)


def _function(text: str) -> str:
    """Return the function that a model wrote, without its shim."""
    return text.partition("\n\n")[2]


def _team(talk: JobConversation, options: TranslateOptions) -> Translators:
    """Return the agents that the options select."""
    marks, limits, attempts = talk.marks, options.agent_limits, options.attempts
    profiles = talk.profiles[: 2 if options.escalate else 1]
    translators = (translator(profile, marks, limits, attempts, vote) for vote, profile in enumerate(profiles))
    review = reviewer(talk.profiles[0], marks, limits) if options.review else None
    return Translators(tuple(translators), attempts, review)


def _translation(work: TranslateWork, blobs: Blobs) -> Translation:
    payload = work.payload
    skeleton = _skeleton(blobs, payload.skeleton)
    function = next(one for one in skeleton.functions if one.slot == payload.slot)
    c = _c_texts(blobs, work.snapshot_id, payload.skeleton).get(payload.slot, "")
    question = question_of(skeleton, payload.slot, c, _declarations(blobs, payload.skeleton), work.options.notes)
    libraries = libraries_in(work.options, work.pruning, blobs)
    question = _with_libraries(question, libraries, work, blobs)
    earlier = decode_translated(blobs.read(payload.earlier)) if payload.earlier else None
    reached, types = _reached(blobs, work.checks).get(payload.slot), _types(blobs, work.definitions)
    return Translation(function, skeleton, question, types, earlier, libraries.crates, reached)


def _with_libraries(question: BodyQuestion, libraries: RunLibraries, work: TranslateWork, blobs: Blobs) -> BodyQuestion:
    """Return the question with the crates that replace its function, and those that its body must not use."""
    replaced, crates = libraries.plan.replaced, libraries.crates
    choice = replaced.get(_keys(blobs, work.definitions)[question.slot]) if replaced else None
    if choice is None:
        return question._replace(foreign=crates.foreign(()))
    versions = [f"{one.name} {one.version}" for name in choice.libraries if (one := crates.find(name))]
    line = f"{choice.line}; versions: {', '.join(versions)}" if versions else choice.line
    return question._replace(libraries=line, foreign=crates.foreign(choice.libraries))


def question_of(
    skeleton: Skeleton, slot: str, c: str, declarations: Mapping[str, str], notes: str = ""
) -> BodyQuestion:
    """Return the question for a function with its C text; `declarations` are all of the skeleton."""
    target, body = skeleton.targets[slot], skeleton.bodies.get(slot)
    mechanical = body.text if body else ""
    wrappers = {one.item.name: one.wrapper for one in skeleton.targets.values() if one.wrapper}
    named = target.item, target.forwarder, target.name
    question = body_question(*named, c, mechanical, skeleton.types, declarations, notes)
    return question._replace(safe=safe_functions(question, wrappers))


@of_run
def _skeleton(blobs: Blobs, name: str) -> Skeleton:
    return decode_skeleton(blobs.read(name))


@of_run
def _declarations(blobs: Blobs, skeleton: str) -> dict[str, str]:
    return all_declarations(_skeleton(blobs, skeleton))


@of_run
def _c_texts(blobs: Blobs, snapshot: str, skeleton: str) -> dict[str, str]:
    return c_texts(blobs, snapshot, _skeleton(blobs, skeleton).functions)


@of_run
def _reached(blobs: Blobs, results: tuple[str, ...]) -> dict[str, GateOutcome]:
    return reached_functions(blobs, results)


@of_run
def _types(blobs: Blobs, results: tuple[str, ...]) -> Callable[[str], FunctionTypes]:
    return function_types(_project(blobs, results))


@of_run
def _keys(blobs: Blobs, results: tuple[str, ...]) -> dict[str, str]:
    """Return the keys of functions by slot."""
    return {item.slot: item.definition.key for item in _project(blobs, results).functions}


@of_run
def _project(blobs: Blobs, results: tuple[str, ...]) -> Project:
    names = definition_blobs(blobs, results)
    return read_project([unit for _, unit in read_unit_definitions(blobs, names)])


def gates_tool(check: Callable[[str], GateReport]) -> Tool:
    """Return the tool with which a conversation runs the gates on an answer.

    First answers go first: after a refusal, the model writes the next answer while others are tested.
    """
    answers = count()

    def run(arguments: Mapping[str, Any]) -> ToolOutcome:
        try:
            with GATES.hold(next(answers)):
                return ToolOutcome(stdout=encode_report(check(str(arguments["text"]))))
        except (StepFailed, UsageError, SandboxError) as error:
            raise ToolFailed(f"the gates did not run: {error}") from error

    return Tool(GATES_TOOL, "Run the gates on a body.", {}, lambda arguments: arguments, run)


def check_body(
    found: Translation, options: TranslateOptions, resources: Resources, driver: str, text: str
) -> GateReport:
    """Run the gates on a body; `driver` is the blob of its driver, or "". Raises StepFailed if they cannot run."""
    slot = found.question.slot
    item = found.question.item(found.skeleton.targets[slot].item, text)
    skeleton = replace(with_all_declared(found.skeleton), bodies={**found.skeleton.bodies, slot: item})
    with project_bench(resources, options) as bench, checked_bench(resources, options) as checked:
        bench.write_crate(skeleton.crate)
        passed, messages = bench.build_library()
        if not passed and (why := crate_failure(messages, item, found.crates)):
            return GateReport(slot, (GateOutcome("check", passed=False, detail=why),), log=why)
        if not passed:
            errors, first = own_errors(messages, item), found.question.first_line
            gate = GateOutcome("check", passed=False, detail=error_summary(errors, item))
            return GateReport(slot, (gate,), log=error_report(errors, item, first))
        suites = BenchSuites(bench, options.tests, skeleton.suite_limits, checked)
        driven = driven_suites(bench, checked, resources.blobs, [driver] if driver else [])
        reached = {slot: found.reached} if found.reached else {}
        return judge_differences(run_gates(suites, skeleton, [slot], driven, reached)[0], found.types(slot))
