"""Have models read whole files, a group of them in each job, and save what they name as candidates.

The groups do not wait for each other. Code that a reader asks for, and that no group has, is the job of another reader.
What a reader has said and what cannot be used, and the files that were not read or not to their end, are reported with
the reason.
"""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.reading.group_reading import GroupQuestion, GroupReading, ReadingResult
from jarvis_workers.sec.reading.work_list import PLACES_MAX, PlaceToRead, WorkList, work_list
from jarvis_workers.sec.stages import given_attempts
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.payloads import ReadPayload
from jarvis_workers.sec.stages.proof_questions import opening_of
from jarvis_workers.sec.stages.reader_outcome import ReaderOutcome
from jarvis_workers.sec.stages.reader_questions import plan_reading, question_of
from jarvis_workers.sec.stages.reading_plan import LABEL_LENGTH, SPENT, ReadingPlan
from jarvis_workers.sec.stages.scanned_tree import ScannedTree, has_sandbox
from jarvis_workers.sec.store import candidates
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import budgets
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "read"
# The place in the plan of what a reader has asked for.
ASKED_FOR = -1


@dataclass(frozen=True)
class ReadWork:
    """The group to read, with the candidates in its files; `unpaid` is why no budget is left for it, if none is."""

    job: Claimed
    payload: ReadPayload
    options: JudgeOptions
    snapshot_id: str
    lines: list[bytes]
    findings: tuple[Candidate, ...] = ()
    unpaid: str | None = None


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per group of files."""
    options = JudgeOptions.of(run)
    if options.read is None:
        return
    plan = plan_reading(blobs, earlier, options)
    blob = earlier.put(plan.to_json().encode())
    for place, tokens in enumerate(plan.tokens):
        payload = ReadPayload(blob, place, tuple(plan.files(place)))
        yield _job(run.snapshot_id, payload, f"{plan.label(place)} ({tokens:,} tokens)", len(plan.groups) - place)


def load(session: "Session", run: Run, job: Claimed) -> ReadWork:
    """Return the group of the job."""
    payload, options = ReadPayload.from_json(job.payload), JudgeOptions.of(run)
    found = (candidates.of_rules_in(session, run.id, from_shown(path)) for path in payload.files)
    findings = tuple(one for some in found for one in some)
    records = lines(session, job.id)
    # A conversation that has begun is paid for.
    unpaid = None if records else _unpaid(session, run.id, options.read_budget)
    return ReadWork(job, payload, options, run.snapshot_id, records, findings, unpaid)


def _unpaid(session: "Session", run_id: str, budget: RunBudget | None) -> str | None:
    """Return that the budget of readers is spent; those that run meanwhile may exceed it."""
    spent = budgets.spent_on_stage(session, run_id, STEP, budget.unit) if budget else 0
    return SPENT.format(amounts=budget.says(spent)) if budget and spent >= budget.cap else None


async def converse(work: ReadWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Have a model read a group; commit a candidate for each hypothesis that stands."""
    plan = await asyncio.to_thread(ReadingPlan.of, blobs, work.payload)
    if work.unpaid:
        return ReaderOutcome(work.payload, plan, ReadingResult(reason=work.unpaid)).to_commit()
    tree = await ScannedTree.unpack(runtime, blobs, work.snapshot_id, work.options)
    index, options = tree.index, work.options
    ask = partial(question_of, index, plan, plan.pieces(work.payload), work.findings, options)
    question = await asyncio.to_thread(ask, runs=has_sandbox(runtime))
    with ExitStack() as resources, runtime.open(work.job, options.group, question.about, work.lines) as talk:
        opening = opening_of(tree.lazy_bench(resources), index, work.payload.files[0])
        limits = options.agent_limits
        reading = GroupReading(question, profile=talk.platform.profile, marks=talk.marks, limits=limits)
        hidden = [opening] if question.shows else []
        result = await talk.lead(reading.run(), reading.agent, {"about": question.about}, hidden)
        if reading.stopped and is_caused_by_answers(reading.stopped):
            await talk.forget()
        queue = await asyncio.to_thread(_work_list, work, plan, question, result)
        commit = ReaderOutcome(work.payload, plan, result, queue, question.cut_lines()).to_commit()
        given = await in_thread(given_attempts.blob_of, result.hypotheses, blobs)
        return commit._replace(blobs=given, children=tuple(_look(work, place) for place in queue.places))


def _work_list(work: ReadWork, plan: ReadingPlan, question: GroupQuestion, result: ReadingResult) -> WorkList:
    """Return the places that the reader wants to see; one that was asked for passes on none."""
    own = plan.pieces(work.payload)

    def is_read(place: PlaceToRead) -> bool:
        inside = (path == place.path and first <= place.first and place.last <= last for path, first, last in own)
        return any(inside) or plan.covers(*place)

    most = 0 if work.payload.lines else PLACES_MAX
    room = work.options.code_room
    return work_list(question.index, result.look_at, work.payload.files[0], is_read, room=room, most=most)


def _look(work: ReadWork, place: PlaceToRead) -> NewJob:
    """Return the job that looks at a place: the same one for all readers that ask for it."""
    payload = ReadPayload(work.payload.plan, ASKED_FOR, (place.path,), (place.first, place.last))
    return _job(work.snapshot_id, payload, payload.name[-LABEL_LENGTH:])


def _job(snapshot: str, payload: ReadPayload, label: str, weight: int = 0) -> NewJob:
    content = payload.to_json()
    key = sha256(f"{snapshot}:{content}".encode()).hexdigest()
    return NewJob(STEP, AGENT_QUEUE, label, key, payload=content, weight=weight)
