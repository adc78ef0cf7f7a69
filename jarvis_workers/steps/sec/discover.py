"""Ask a model for defects in the functions that rank first, and save them as candidates.

Without a budget, the functions are searched at once. With one, each job inserts the next, so that what is searched
before the budget is spent does not depend on workers; a conversation starts only if its answer cannot pass the budget.
A function that was chosen but not searched is reported, with the reason.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.agent.limits import early_end, is_caused_by_answers
from jarvis_workers.conversations.budget import SpendingCap
from jarvis_workers.conversations.runtime import AgentRuntime
from jarvis_workers.errors import AgentStopped
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sec.discovery.defects import CONFIDENCE, ITEMS_MAX, PATTERN, DiscoveredDefect
from jarvis_workers.sec.discovery.function_search import FunctionSearch, SearchResult, prepare
from jarvis_workers.sec.discovery.ranking import rank
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.scanner import language_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.sec.chosen_functions import NOT_SEARCHED, ChosenFunction, chosen_functions
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.steps.sec.payloads import DiscoverPayload
from jarvis_workers.steps.sec.rank_functions import lines_outside, ranked_functions
from jarvis_workers.steps.sec.results import CandidateResult
from jarvis_workers.steps.sec.verify_cluster import index_of
from jarvis_workers.store import budgets, candidates
from jarvis_workers.store.runs import Run
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, Meaning, NewJob, Spot

if TYPE_CHECKING:
    from sqlmodel import Session

STEP = "discover"
WEIGHT = 10
SURPLUS = "function {name}: not asked about (--discover), since a search takes at most {most} defects: {text}"
SURPLUS_LISTED = 20
NOWHERE = "function {name}: not asked about (--discover), since its place does not exist: {text}"
GONE = "it was not found again in the file"


@dataclass(frozen=True)
class DiscoverWork:
    """The function to search, the candidates of its file, and what the stage may spend."""

    job: Claimed
    payload: DiscoverPayload
    options: JudgeOptions
    snapshot_id: str
    lines: list[bytes]
    findings: tuple[Candidate, ...] = ()
    cap: SpendingCap | None = None


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per function to search; only the first one if there is a budget, which the jobs share in order."""
    options = JudgeOptions.of(run)
    if not options.discover:
        return
    chosen, number = choose_functions(blobs, earlier, options.discover)
    if not chosen:
        return
    blob, outside = earlier.put(json.dumps(chosen).encode()), lines_outside(blobs, earlier)
    for place in range(1 if options.discover_budget else len(chosen)):
        payload = DiscoverPayload(blob, place, chosen[place].file, number, len(chosen), outside)
        yield _job(run.snapshot_id, payload, chosen[place])


def choose_functions(blobs: Blobs, earlier: StageHistory, most: int) -> tuple[list[ChosenFunction], int]:
    """Return the functions to search, at most `most`, in the order of the ranking, and the number of all functions."""
    ranked, number = rank(ranked_functions(blobs, earlier), most)
    chosen = [ChosenFunction(file, one.name, one.line, score) for (file, one), score in ranked if score > 0]
    return chosen, number


def load(session: "Session", run: Run, job: Claimed) -> DiscoverWork:
    """Return the function of the job."""
    payload, options = DiscoverPayload.from_json(job.payload), JudgeOptions.of(run)
    budget = options.discover_budget
    cap = SpendingCap(budget, *budgets.spent_on_stage(session, run.id, STEP, budget.unit)) if budget else None
    # By all rules: what the run selects among them would make a new question for each selection.
    findings = tuple(candidates.of_rules_in(session, run.id, from_shown(payload.file)))
    return DiscoverWork(job, payload, options, run.snapshot_id, lines(session, job.id), findings, cap)


async def converse(work: DiscoverWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Search a function; commit a candidate for each defect, and with a budget the job of the next function."""
    chosen = await asyncio.to_thread(chosen_functions, blobs, work.payload)
    function = chosen[work.payload.place]
    root = await runtime.unpack(blobs, work.snapshot_id)
    result = await _search(work, function, index_of(root), runtime)
    return _commit(work, chosen, result)


async def _search(
    work: DiscoverWork, function: ChosenFunction, index: CodeIndex, runtime: AgentRuntime
) -> SearchResult:
    options = work.options
    look = partial(prepare, index, function.file, function.line, work.findings, options.lang, options.notes)
    question = await asyncio.to_thread(look)
    if question is None:
        return SearchResult(reason=GONE)
    with runtime.open(work.job, options.group, question.about, work.lines, cap=work.cap) as talk:
        search = FunctionSearch(question, profile=talk.platform.profile, marks=talk.marks, limits=options.agent_limits)
        try:
            result = await talk.lead(search.run(), search.agent, {"about": question.about})
        except AgentStopped as stop:  # of the cap: those of the agent end the conversation itself
            return SearchResult(reason=early_end(stop))
        if search.stopped and is_caused_by_answers(search.stopped):
            await talk.forget()
        return result


def _commit(work: DiscoverWork, chosen: Sequence[ChosenFunction], result: SearchResult) -> Commit:
    function = chosen[work.payload.place]
    path = from_shown(function.file)
    gaps = [(path, NOT_SEARCHED.format(name=function.name, reason=result.reason))] if result.reason else []
    gaps += [(path, NOWHERE.format(name=function.name, text=text)) for text in result.nowhere]
    if result.surplus:
        text = "; ".join(result.surplus[:SURPLUS_LISTED])
        more = len(result.surplus) - SURPLUS_LISTED
        text = f"{text}; and {more} more" if more > 0 else text
        gaps.append((path, SURPLUS.format(name=function.name, most=ITEMS_MAX, text=text)))
    following = chosen[work.payload.place + 1 :] if work.options.discover_budget else []
    return Commit(
        files=0 if result.reason else 1,
        results=tuple(map(_result, result.defects)),
        not_checked=tuple(gaps),
        children=tuple(_job(work.snapshot_id, work.payload.following(one.file), one) for one in following[:1]),
    )


def _result(defect: DiscoveredDefect) -> CandidateResult:
    """Return the candidate of a defect; each has a description of its own, which otherwise belongs to the rule."""
    path = from_shown(defect.file)
    language = "rust" if language_of(path) == "rust" else "c/cpp"
    spot = Spot(path, PATTERN, defect.line, CONFIDENCE, defect.evidence)
    meaning = Meaning(PATTERN, language, defect.category, defect.cwe, defect.description, defect.suggestion)
    return CandidateResult((spot,), (meaning,))


def _job(snapshot: str, payload: DiscoverPayload, function: ChosenFunction) -> NewJob:
    content = payload.to_json()
    return NewJob(
        STEP,
        AGENT_QUEUE,
        function.label,
        sha256(f"{snapshot}:{content}".encode()).hexdigest(),
        payload=content,
        weight=round(WEIGHT * function.score),
    )
