"""Ask a model whether libraries can replace a function: the step of stage `replace`.

The functions that a refused one uses are judged by child jobs; with a maximum number of functions, each job has one
child, the next in breadth-first order.  A function without a usable answer is not replaced, and is not checked.
"""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.c2rust.library_replacement import FunctionVerdict
from jarvis_workers.c2rust.replacement_question import (
    ReplacementQuestion,
    judge_function,
    replacement_question,
    replacer,
)
from jarvis_workers.c2rust.stages.link_symbols import GRAPH
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.c2rust.stages.replaceable_project import (
    STEP,
    VERDICT,
    FunctionPayload,
    ReplaceableProject,
    policy_of,
    project_of,
    symbols_in,
    verdicts_of,
)
from jarvis_workers.paths import shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import jobs
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


@dataclass(frozen=True)
class ReplaceWork:
    """A function to judge; `earlier` are the jobs before it, if they are carried out one after the other.

    `linked` are the jobs that linked the units, if this run reads them.
    """

    job: Claimed
    function: int
    options: ReplaceOptions
    snapshot_id: str
    earlier: tuple[StageJob, ...]
    lines: list[bytes]
    linked: tuple[StageJob, ...] = ()


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per root, or only the first if the number of functions is limited."""
    options = ReplaceOptions.of(run)
    project = project_of(options, blobs, symbols_in(options, earlier.outcomes(GRAPH), blobs))
    yield from _next(project, options, verdicts_of(project, options, blobs, ()), project.roots)


def load(session: "Session", run: Run, job: Claimed) -> ReplaceWork:
    """Return the function of a job."""
    options = ReplaceOptions.of(run)
    earlier = jobs.outcomes(session, run.id, STEP) if options.max_functions else ()
    function = FunctionPayload.from_json(job.payload).function
    linked = tuple(jobs.outcomes(session, run.id, GRAPH))
    return ReplaceWork(job, function, options, run.snapshot_id, tuple(earlier), lines(session, job.id), linked)


async def converse(work: ReplaceWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Return the verdict on a function, and the jobs that follow from it."""
    options = work.options
    symbols = symbols_in(options, work.linked, blobs)
    project = await asyncio.to_thread(project_of, options, blobs, symbols)
    root = await runtime.unpack(blobs, work.snapshot_id)
    question = await asyncio.to_thread(_question, project, work, root)
    with runtime.open(work.job, options.group, question.about, work.lines) as talk:
        agent = replacer(talk.platform.profile, talk.marks, options.agent_limits)
        verdict = await talk.lead(judge_function(agent, question), agent, {"about": question.about})
        if not verdict.checked:
            await talk.forget()
    return await asyncio.to_thread(_commit, project, work, verdict, blobs)


def _question(project: ReplaceableProject, work: ReplaceWork, root: Path) -> ReplacementQuestion:
    tree = DirectoryTree(root)

    def read(path: bytes) -> bytes:
        try:
            return tree.read(shown(path))
        except ToolFailed:
            return b""

    options = work.options
    return replacement_question(
        project.symbols.graph, project.uses, work.function, policy_of(options), options.library, read
    )


def _commit(project: ReplaceableProject, work: ReplaceWork, verdict: FunctionVerdict, blobs: Blobs) -> Commit:
    verdicts = verdicts_of(project, work.options, blobs, work.earlier) | {verdict.id: verdict}
    start = project.roots if work.options.max_functions else [verdict.id]
    symbol = project.symbols.graph.by_id[verdict.id]
    gap = (symbol.extent.file, f"{symbol.name}: {verdict.reason}")
    return Commit(
        files=1,
        not_checked=() if verdict.checked else (gap,),
        children=tuple(_next(project, work.options, verdicts, start)),
        blobs=((VERDICT, blobs.put(verdict.model_dump_json().encode())),),
    )


def _next(
    project: ReplaceableProject,
    options: ReplaceOptions,
    verdicts: dict[int, FunctionVerdict],
    start: Iterable[int],
) -> Iterator[NewJob]:
    """Yield the jobs to begin now: all, or one at a time until the maximum is reached."""
    waiting = project.to_judge(start, verdicts)
    if options.max_functions is None:
        yield from map(project.job, waiting)
    elif project.count_judged(verdicts) < options.max_functions and (number := next(waiting, None)) is not None:
        yield project.job(number)
