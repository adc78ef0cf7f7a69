"""Have models read whole files, a group of them in each job, and save what they name as candidates.

The groups do not wait for each other. What a reader has said and what cannot be used, and the files that were not read
or not to their end, are reported with the reason.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agent.limits import is_caused_by_answers
from jarvis_workers.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import from_shown, plain
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sec.discovery.defects import CONFIDENCE, PATTERN
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.reading.group_reading import GroupQuestion, GroupReading, ReadingResult
from jarvis_workers.sec.reading.grouping import choose, group
from jarvis_workers.sec.reading.hints import hint_text
from jarvis_workers.sec.reading.hypotheses import Hypothesis
from jarvis_workers.sec.reading.outside_definitions import PlacedLines
from jarvis_workers.sec.reading.project_map import map_text
from jarvis_workers.sec.scanner import language_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.grammar_files import base_language
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.steps.sec.map_files import mapped_files
from jarvis_workers.steps.sec.payloads import ReadPayload
from jarvis_workers.steps.sec.reading_plan import NOT_READ, ReadingPlan
from jarvis_workers.steps.sec.results import CandidateResult
from jarvis_workers.steps.sec.verify_cluster import index_of
from jarvis_workers.store import candidates
from jarvis_workers.store.runs import Run
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, Meaning, NewJob, Spot

if TYPE_CHECKING:
    from sqlmodel import Session

STEP = "read"
# Of a job; those beyond are counted.
UNUSABLE_MAX = 20
UNUSABLE = "not asked about: the reader (--read) reported {text}"
MORE_UNUSABLE = "not asked about: {count} more reports of the reader (--read), whose quotes do not stand in the code"
SURPLUS = "not asked about: {count} reports of the reader (--read) beyond those that are checked"
MISSED = "not read, although a reader asked for {place} (--read)"
CUT = "{count} of its lines too long to be shown whole: read only in part (--read)"


@dataclass(frozen=True)
class ReadWork:
    """The group to read, with the candidates in its files."""

    job: Claimed
    payload: ReadPayload
    options: JudgeOptions
    snapshot_id: str
    lines: list[bytes]
    findings: tuple[Candidate, ...] = ()


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per group of files."""
    options = JudgeOptions.of(run)
    if options.read is None:
        return
    plan = plan_reading(blobs, earlier, options)
    blob = earlier.put(plan.to_json().encode())
    for place, tokens in enumerate(plan.tokens):
        content = ReadPayload(blob, place, tuple(plan.files(place))).to_json()
        key = sha256(f"{run.snapshot_id}:{content}".encode()).hexdigest()
        weight = len(plan.groups) - place
        yield NewJob(STEP, AGENT_QUEUE, f"{plan.label(place)} ({tokens:,} tokens)", key, payload=content, weight=weight)


def plan_reading(blobs: Blobs, earlier: StageHistory, options: JudgeOptions) -> ReadingPlan:
    """Group the mapped files, and choose those to read."""
    facts = mapped_files(blobs, earlier)
    groups = group((piece for one in facts for piece in one.pieces), options.code_room)
    chosen = choose(groups, None if options.read == "all" else options.read_tokens)
    return ReadingPlan(
        map_text(options.read_intro, facts, options.side_room),
        tuple(tuple((piece.path, piece.first, piece.last) for piece in one.pieces) for one in chosen.groups),
        tuple(one.tokens for one in chosen.groups),
        chosen.left_out,
        options.read_tokens,
    )


def load(session: "Session", run: Run, job: Claimed) -> ReadWork:
    """Return the group of the job."""
    payload, options = ReadPayload.from_json(job.payload), JudgeOptions.of(run)
    found = (candidates.of_rules_in(session, run.id, from_shown(path)) for path in payload.files)
    findings = tuple(one for some in found for one in some)
    return ReadWork(job, payload, options, run.snapshot_id, lines(session, job.id), findings)


async def converse(work: ReadWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Have a model read a group; commit a candidate for each hypothesis that stands."""
    plan = await asyncio.to_thread(ReadingPlan.of, blobs, work.payload)
    root = await runtime.unpack(blobs, work.snapshot_id)
    question = await asyncio.to_thread(
        question_of, index_of(root), plan, work.payload.place, work.findings, work.options
    )
    with runtime.open(work.job, work.options.group, question.about, work.lines) as talk:
        limits = work.options.agent_limits
        reading = GroupReading(question, profile=talk.platform.profile, marks=talk.marks, limits=limits)
        result = await talk.lead(reading.run(), reading.agent, {"about": question.about})
        if reading.stopped and is_caused_by_answers(reading.stopped):
            await talk.forget()
        return _commit(work, plan, question, result)


def question_of(
    index: CodeIndex, plan: ReadingPlan, place: int, findings: Sequence[Candidate], options: JudgeOptions
) -> GroupQuestion:
    """Return the question about a group; this reads files. Raises StepFailed if one is missing."""
    pieces = []
    for path, first, last in plan.groups[place]:
        file = index.file(path)
        if file is None:
            raise StepFailed(f"{path} cannot be read from the unpacked snapshot")
        pieces.append(PlacedLines(file, first, last))
    inside = [
        one
        for one in findings
        if any(path == one.file and first <= one.line <= last for path, first, last in plan.groups[place])
    ]
    question = GroupQuestion(
        index,
        tuple(pieces),
        plan.project,
        hint_text(inside, options.side_room),
        options.read_room,
        len(plan.groups),
        options.lang,
        options.notes,
    )
    _ = question.code, question.definitions
    return question


def _commit(work: ReadWork, plan: ReadingPlan, question: GroupQuestion, result: ReadingResult) -> Commit:
    files = plan.files(work.payload.place)
    gaps: defaultdict[str, list[str]] = defaultdict(list)
    for path, count in question.cut_lines().items():
        gaps[path].append(CUT.format(count=count))
    for path in plan.left_out if work.payload.place == 0 else ():
        gaps[path].append(plan.over_budget)
    for place in result.look_at:
        if (path := place.partition("#")[0]) in plan.left_out:
            gaps[path].append(MISSED.format(place=plain(place)))
    if result.reason:
        for path in files:
            gaps[path].append(NOT_READ + result.reason)
    for problem in result.unusable[:UNUSABLE_MAX]:
        path = next((file for file in files if problem.item.file.partition("#")[0] == file), files[0])
        gaps[path].append(UNUSABLE.format(text=problem.text))
    if more := len(result.unusable[UNUSABLE_MAX:]):
        gaps[files[0]].append(MORE_UNUSABLE.format(count=more))
    if result.surplus:
        gaps[files[0]].append(SURPLUS.format(count=result.surplus))
    return Commit(
        files=0 if result.reason else len(files),
        results=tuple(map(_result, result.hypotheses)),
        not_checked=tuple((from_shown(path), reason) for path, reasons in gaps.items() for reason in reasons),
    )


def _result(one: Hypothesis) -> CandidateResult:
    """Return the candidate of a hypothesis; each has a description of its own, which otherwise belongs to the rule."""
    path = from_shown(one.file)
    language = base_language(language_of(path) or "c/cpp")
    meaning = Meaning(PATTERN, language, one.category, one.cwe, one.description, one.suggestion)
    return CandidateResult((Spot(path, PATTERN, one.line, CONFIDENCE, one.code),), (meaning,))
