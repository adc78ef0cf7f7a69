"""Ask a model for the modules of the crate: the step of stage `layout`."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.c2rust.layout_question import (
    LAYOUT_QUESTION,
    PLANNED_LAYOUT,
    LayoutFunction,
    LayoutQuestion,
    layout_questions,
    layouter,
    plan_layout,
)
from jarvis_workers.c2rust.project import Project, ProjectItem, plain_name, plannable_enums
from jarvis_workers.c2rust.stages.crate_plans import LAYOUT, type_names
from jarvis_workers.c2rust.stages.options import PrepareOptions
from jarvis_workers.c2rust.stages.plan_questions import (
    QuestionPayload,
    planned_functions,
    question_job,
    read_stage_project,
)
from jarvis_workers.c2rust.store import symbols
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.paths import shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.clang.c_types import EnumDefinition
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


@dataclass(frozen=True)
class LayoutWork:
    """The question of a job, and the transcript of its conversation so far."""

    job: Claimed
    question: str
    options: PrepareOptions
    lines: list[bytes]


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job, or for a large project one for each directory."""
    project = read_stage_project(blobs, earlier)
    with earlier.read() as session:
        graph = symbols.read(session, run.id)
    items = list(planned_functions(project, PrepareOptions.of(run), earlier, blobs))
    calls = _calls(graph, items)
    functions = [
        LayoutFunction(
            plain_name(item), shown(item.definition.extent.file), item.definition.type.spelling, calls[plain_name(item)]
        )
        for item in items
    ]
    enums = _enums(project, items)
    for number, question in enumerate(layout_questions(functions, type_names(project), enums), 1):
        yield question_job(LAYOUT, f"modules {number}", earlier.put(LAYOUT_QUESTION.dump_json(question)))


def _enums(project: Project, items: Sequence[ProjectItem]) -> dict[str, EnumDefinition]:
    """Return the enums that the functions take or return, by name."""
    types = (item.definition.type for item in items)
    keys = {one.key for type_ in types for one in (type_.target, *type_.parameters) if one and one.kind == "enum"}
    found = plannable_enums(project.units)
    return {name.removeprefix("r#"): one for name, one in found.items() if one.key in keys}


def _calls(graph: SymbolGraph, items: Sequence[ProjectItem]) -> Mapping[str, tuple[str, ...]]:
    names = {item.definition.key: plain_name(item) for item in items}
    by_id = {one.id: names[one.key] for one in graph.symbols if one.key in names}
    calls: dict[str, dict[str, None]] = {name: {} for name in names.values()}
    for edge in graph.edges:
        if edge.kind == "call" and edge.caller in by_id and edge.callee in by_id and edge.caller != edge.callee:
            calls[by_id[edge.caller]][by_id[edge.callee]] = None
    return {name: tuple(found) for name, found in calls.items()}


def load(session: "Session", run: Run, job: Claimed) -> LayoutWork:
    """Return the question of a job."""
    question = QuestionPayload.from_json(job.payload).question
    return LayoutWork(job, question, PrepareOptions.of(run), lines(session, job.id))


async def converse(work: LayoutWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the modules of functions."""
    question: LayoutQuestion = LAYOUT_QUESTION.validate_json(await asyncio.to_thread(blobs.read, work.question))
    attempts = 1 + work.options.plan_max_retries
    with runtime.open(work.job, work.options.group, question.about, work.lines) as talk:
        agent = layouter(talk.platform.profile, talk.marks, work.options.agent_limits, attempts)
        layout = await talk.lead(plan_layout(agent, question, attempts), agent, {"about": question.about})
        if not layout.checked:
            await talk.forget()
    content = await asyncio.to_thread(blobs.put, PLANNED_LAYOUT.dump_json(layout))
    gap = (b"", f"functions stay in the modules of their C files: {layout.reason}")
    return Commit(not_checked=() if layout.checked else (gap,), blobs=((LAYOUT, content),))
