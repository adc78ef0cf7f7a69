"""Translate a function by a model, with the gates on a bench: the step of stage `translate`."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime, JobConversation
from jarvis_workers.c2rust.body_review import reviewer
from jarvis_workers.c2rust.body_translation import (
    NO_BODY,
    RefusedBody,
    TranslatedBody,
    Translators,
    answers_are_unusable,
    translate_body,
    translator,
)
from jarvis_workers.c2rust.conversion import proof_of
from jarvis_workers.c2rust.stages.answer_gates import check_body, gates_tool
from jarvis_workers.c2rust.stages.conversion_project import ConversionProject
from jarvis_workers.c2rust.stages.drivers import STEP as DRIVERS
from jarvis_workers.c2rust.stages.drivers import driver_blobs
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.results import TranslationResult
from jarvis_workers.c2rust.stages.skeleton import SKELETON, decode_skeleton, skeleton_of
from jarvis_workers.c2rust.stages.translated_bodies import (
    QUEUE,
    STEP,
    TRANSLATED,
    TranslatePayload,
    encode_translated,
)
from jarvis_workers.c2rust.stages.translation_input import read_translation
from jarvis_workers.c2rust.store import symbols
from jarvis_workers.c2rust.translation_weights import translation_weights
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


@dataclass(frozen=True)
class TranslateWork:
    """A function to translate, its project, and the transcript of the conversation so far."""

    job: Claimed
    payload: TranslatePayload
    options: TranslateOptions
    project: ConversionProject
    lines: list[bytes]


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job for each function with a Rust signature that its tests or inputs can prove as strongly as wanted."""
    name = skeleton_of(blobs, earlier.outcomes(SKELETON))
    skeleton, options = decode_skeleton(blobs.read(name)), TranslateOptions.of(run)
    project, drivers = ConversionProject.of(run, earlier.outcomes), driver_blobs(blobs, earlier.outcomes(DRIVERS))
    unneeded, keys = project.libraries(blobs).unneeded, project.keys(blobs)
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


def load(session: "Session", run: Run, job: Claimed) -> TranslateWork:
    """Return the function of a job."""
    payload, options = TranslatePayload.from_json(job.payload), TranslateOptions.of(run)
    return TranslateWork(job, payload, options, ConversionProject.load(session, run), lines(session, job.id))


async def converse(work: TranslateWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the body of a function, or the reason why there is none."""
    found = await asyncio.to_thread(read_translation, work.payload, work.project, work.options.notes, blobs)
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
