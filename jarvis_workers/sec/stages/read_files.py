"""Have models read whole files, a group of them in each job, and save what they name as candidates.

The groups do not wait for each other. Code that a reader asks for, and that no group has, is the job of another reader.
What a reader has said and what cannot be used, and the files that were not read or not to their end, are reported with
the reason.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.errors import StepFailed
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.paths import from_shown, plain
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sec.finding import DISCOVERED, Candidate
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.reading.group_reading import GroupQuestion, GroupReading, ReadingResult
from jarvis_workers.sec.reading.grouping import choose, group
from jarvis_workers.sec.reading.hints import hint_text
from jarvis_workers.sec.reading.hypotheses import CONFIDENCE, ITEMS_MAX, Hypothesis
from jarvis_workers.sec.reading.outside_definitions import PlacedLines
from jarvis_workers.sec.reading.project_map import map_text
from jarvis_workers.sec.reading.work_list import PLACES_MAX, PlaceToRead, WorkList, work_list
from jarvis_workers.sec.stages import given_attempts
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.map_files import mapped_files
from jarvis_workers.sec.stages.payloads import ReadPayload
from jarvis_workers.sec.stages.proof_questions import opening_of
from jarvis_workers.sec.stages.reading_plan import LABEL_LENGTH, NOT_LOOKED_AT, NOT_READ, SPENT, Piece, ReadingPlan
from jarvis_workers.sec.stages.results import CandidateResult
from jarvis_workers.sec.stages.scanned_tree import ScannedTree
from jarvis_workers.sec.store import candidates
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.grammar_files import base_language
from jarvis_workers.source.languages import language_of
from jarvis_workers.store import budgets
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, Meaning, NewJob, Run, Spot

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "read"
# The place in the plan of what a reader has asked for.
ASKED_FOR = -1
# Of a job; those beyond are counted.
UNUSABLE_MAX = 20
UNUSABLE = "not asked about: the reader (--read) reported {text}"
MORE_UNUSABLE = "not asked about: {count} more reports of the reader (--read), whose quotes do not stand in the code"
GOES_WRONG = "goes wrong here"
SURPLUS = f"not asked about: the reader (--read) reported {{text}}, because at most {ITEMS_MAX} reports are checked"
MORE_SURPLUS = "not asked about: {count} more reports of the reader (--read) beyond those that are checked"
MORE_PLACES = "not looked at, although a reader (--read) asked for them: {count} more places"
NO_WORK, NONE_CUT = WorkList((), ()), dict[str, int]()
CUT = "{count} of its lines too long to be shown whole: read only in part (--read)"


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


def plan_reading(blobs: Blobs, earlier: StageHistory, options: JudgeOptions) -> ReadingPlan:
    """Group the mapped files, and choose those to read."""
    facts = mapped_files(blobs, earlier)
    groups = group((piece for one in facts for piece in one.pieces), options.code_room)
    chosen = choose(groups, options.read_tokens)
    return ReadingPlan(
        map_text(options.read_intro, facts, options.side_room),
        tuple(tuple((piece.path, piece.first, piece.last) for piece in one.pieces) for one in chosen.groups),
        tuple(one.tokens for one in chosen.groups),
        chosen.left_out,
        budget.shows(budget.cap) if (budget := options.read_budget) else "",
        sum(piece.last - piece.first + 1 for one in facts for piece in one.pieces),
    )


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
        return _commit(work, plan, ReadingResult(reason=work.unpaid))
    tree = await ScannedTree.unpack(runtime, blobs, work.snapshot_id, work.options)
    index, options = tree.index, work.options
    ask = partial(question_of, index, plan, plan.pieces(work.payload), work.findings, options)
    question = await asyncio.to_thread(ask, runs=runtime.tier != Tier.C)
    with ExitStack() as resources, runtime.open(work.job, options.group, question.about, work.lines) as talk:
        opening = opening_of(tree.lazy_bench(resources), index, work.payload.files[0])
        limits = options.agent_limits
        reading = GroupReading(question, profile=talk.platform.profile, marks=talk.marks, limits=limits)
        hidden = [opening] if question.shows else []
        result = await talk.lead(reading.run(), reading.agent, {"about": question.about}, hidden)
        if reading.stopped and is_caused_by_answers(reading.stopped):
            await talk.forget()
        queue = await asyncio.to_thread(_work_list, work, plan, question, result)
        commit = _commit(work, plan, result, queue, question.cut_lines())
        given = await in_thread(given_attempts.blob_of, result.hypotheses, blobs)
        return commit._replace(blobs=given)


def question_of(
    index: CodeIndex,
    plan: ReadingPlan,
    places: Sequence[Piece],
    findings: Sequence[Candidate],
    options: JudgeOptions,
    *,
    runs: bool = True,
) -> GroupQuestion:
    """Return the question about lines of files; this reads files. Raises StepFailed if one is missing.

    Attempts are asked for if this machine `runs` them.
    """
    pieces = []
    for path, first, last in places:
        file = index.file(path)
        if file is None:
            raise StepFailed(f"{path} cannot be read from the unpacked snapshot")
        pieces.append(PlacedLines(file, first, last))
    inside = [
        one for one in findings if any(path == one.file and first <= one.line <= last for path, first, last in places)
    ]
    question = GroupQuestion(
        index,
        tuple(pieces),
        plan.project,
        hint_text(inside, options.side_room),
        options.read_room,
        len(plan.groups) + (places not in plan.groups),
        options.lang,
        options.notes,
        options.prove if runs and not all(map(_is_rust, pieces)) else None,
        options.proof_build is not None,
    )
    _ = question.code, question.definitions, question.absent
    return question


def _is_rust(piece: PlacedLines) -> bool:
    return language_of(from_shown(piece.file.path)) == "rust"


def _work_list(work: ReadWork, plan: ReadingPlan, question: GroupQuestion, result: ReadingResult) -> WorkList:
    """Return the places that the reader wants to see; one that was asked for passes on none."""
    own = plan.pieces(work.payload)

    def is_read(place: PlaceToRead) -> bool:
        inside = (path == place.path and first <= place.first and place.last <= last for path, first, last in own)
        return any(inside) or plan.covers(*place)

    most = 0 if work.payload.lines else PLACES_MAX
    room = work.options.code_room
    return work_list(question.index, result.look_at, work.payload.files[0], is_read, room=room, most=most)


def _commit(
    work: ReadWork,
    plan: ReadingPlan,
    result: ReadingResult,
    queue: WorkList = NO_WORK,
    cut: Mapping[str, int] = NONE_CUT,
) -> Commit:
    """Return the commit of a job; `cut` is the number of lines that were too long to be shown whole, by path."""
    payload = work.payload
    gaps = _unread(payload, plan, cut, result)
    for path, reason in _unused(payload.files, result, queue):
        gaps[path].append(reason)
    return Commit(
        files=0 if result.reason or payload.lines else len(payload.files),
        results=tuple(map(_result, result.hypotheses)),
        not_checked=tuple((from_shown(path), reason) for path, reasons in gaps.items() for reason in reasons),
        children=tuple(_look(work, place) for place in queue.places),
    )


def _unread(
    payload: ReadPayload, plan: ReadingPlan, cut: Mapping[str, int], result: ReadingResult
) -> defaultdict[str, list[str]]:
    """Return the reasons why files are not read, or not to their end, by path."""
    gaps: defaultdict[str, list[str]] = defaultdict(list)
    for path, count in cut.items():
        gaps[path].append(CUT.format(count=count))
    for path in plan.left_out if payload.place == 0 else ():
        gaps[path].append(plan.over_budget)
    if result.reason:
        of_place = NOT_LOOKED_AT.format(name=payload.name, reason=result.reason)
        for path in payload.files:
            gaps[path].append(of_place if payload.lines else NOT_READ + result.reason)
    return gaps


def _unused(files: Sequence[str], result: ReadingResult, queue: WorkList) -> Iterator[tuple[str, str]]:
    """Yield what a reader has said and what nobody is asked about, each with a file."""
    for name, why in queue.left_out[:UNUSABLE_MAX]:
        yield files[0], NOT_LOOKED_AT.format(name=plain(name), reason=why)
    if more := len(queue.left_out[UNUSABLE_MAX:]):
        yield files[0], MORE_PLACES.format(count=more)
    for problem in result.unusable[:UNUSABLE_MAX]:
        path = next((file for file in files if problem.item.file.partition("#")[0] == file), files[0])
        yield path, UNUSABLE.format(text=problem.text)
    if more := len(result.unusable[UNUSABLE_MAX:]):
        yield files[0], MORE_UNUSABLE.format(count=more)
    for text in result.surplus[:UNUSABLE_MAX]:
        yield files[0], SURPLUS.format(text=text)
    if more := len(result.surplus[UNUSABLE_MAX:]):
        yield files[0], MORE_SURPLUS.format(count=more)


def _look(work: ReadWork, place: PlaceToRead) -> NewJob:
    """Return the job that looks at a place: the same one for all readers that ask for it."""
    payload = ReadPayload(work.payload.plan, ASKED_FOR, (place.path,), (place.first, place.last))
    return _job(work.snapshot_id, payload, payload.name[-LABEL_LENGTH:])


def _job(snapshot: str, payload: ReadPayload, label: str, weight: int = 0) -> NewJob:
    content = payload.to_json()
    key = sha256(f"{snapshot}:{content}".encode()).hexdigest()
    return NewJob(STEP, AGENT_QUEUE, label, key, payload=content, weight=weight)


def _result(one: Hypothesis) -> CandidateResult:
    """Return the candidate of a hypothesis; each has a description of its own, which otherwise belongs to the rule."""
    path = from_shown(one.file)
    language = base_language(language_of(path) or "c/cpp")
    meaning = Meaning(DISCOVERED, language, one.category, one.cwe, one.description, one.suggestion)
    trail = trail_of([one.cause, (one.file, one.line, GOES_WRONG)], one.file) if one.cause else None
    return CandidateResult((Spot(path, DISCOVERED, one.line, CONFIDENCE, one.code, trail=trail),), (meaning,))
