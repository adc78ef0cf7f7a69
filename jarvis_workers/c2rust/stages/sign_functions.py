"""Ask a model for the signatures of functions: the step of stage `signatures`."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.c2rust.project import ProjectItem, plain_name, plan_enums
from jarvis_workers.c2rust.signature_question import (
    CALLS_SHOWN,
    PLANNED_SIGNATURES,
    SIGNATURE_QUESTION,
    AskedFunction,
    SignatureQuestion,
    sign_functions,
    signature_questions,
    signer,
)
from jarvis_workers.c2rust.signatures import propose_signatures
from jarvis_workers.c2rust.stages.c_sources import CodePlace, read_c_texts
from jarvis_workers.c2rust.stages.crate_plans import LAYOUT, SIGNATURES, read_files, read_plan
from jarvis_workers.c2rust.stages.options import PrepareOptions
from jarvis_workers.c2rust.stages.plan_questions import (
    QuestionPayload,
    planned_functions,
    question_job,
    read_stage_project,
)
from jarvis_workers.paths import from_shown, shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

CALL = re.compile(r"\b([A-Za-z_]\w*)[ \t]*\(")


@dataclass(frozen=True)
class SignatureWork:
    """The question of a job, and the transcript of its conversation so far."""

    job: Claimed
    question: str
    options: PrepareOptions
    lines: list[bytes]


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job for at most twenty functions of a file whose pointers can be passed in several ways."""
    project = read_stage_project(blobs, earlier)
    items = list(planned_functions(project, PrepareOptions.of(run), earlier, blobs))
    layouts = [one.result for one in earlier.outcomes(LAYOUT) if one.result]
    planned = read_plan(blobs, layouts, (), read_files(blobs, PrepareOptions.of(run).plan, project))
    choices = propose_signatures(project.units, plan_enums(project.units, planned.enums))
    texts = read_c_texts(blobs, run.snapshot_id, {item.slot: _place(item) for item in items})
    uses = _uses(items, texts)
    functions = [
        AskedFunction(
            plain_name(item),
            shown(item.definition.extent.file),
            texts.get(item.slot, ""),
            uses.get(item.definition.name, ()),
            choices[item.definition.key],
        )
        for item in items
    ]
    for question in signature_questions(functions):
        label = f"{question.functions[0].file}: {question.functions[0].name}, …"
        yield question_job(SIGNATURES, label, earlier.put(SIGNATURE_QUESTION.dump_json(question)))


def _place(item: ProjectItem) -> CodePlace:
    extent = item.definition.extent
    return CodePlace(shown(extent.file), extent.line, extent.end_line)


def _uses(items: Sequence[ProjectItem], texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return lines that call each function, by its C name; without its own."""
    names = {item.definition.name for item in items}
    uses = dict[str, tuple[str, ...]]()
    for item in items:
        for line in texts.get(item.slot, "").split("\n"):
            for name in set(CALL.findall(line)) & names - {item.definition.name}:
                if len(uses.get(name, ())) < CALLS_SHOWN:
                    uses[name] = (*uses.get(name, ()), line)
    return uses


def load(session: "Session", run: Run, job: Claimed) -> SignatureWork:
    """Return the question of a job."""
    question = QuestionPayload.from_json(job.payload).question
    return SignatureWork(job, question, PrepareOptions.of(run), lines(session, job.id))


async def converse(work: SignatureWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Commit the parameters of functions."""
    question: SignatureQuestion = SIGNATURE_QUESTION.validate_json(await asyncio.to_thread(blobs.read, work.question))
    with runtime.open(work.job, work.options.group, question.about, work.lines) as talk:
        agent = signer(talk.platform.profile, talk.marks, work.options.agent_limits)
        signed = await talk.lead(sign_functions(agent, question), agent, {"about": question.about})
        if not signed.checked:
            await talk.forget()
    content = await asyncio.to_thread(blobs.put, PLANNED_SIGNATURES.dump_json(signed))
    gaps = tuple(
        (from_shown(one.file), f"{one.name} has the proposed signature: {signed.reasons[one.name]}")
        for one in question.functions
        if not signed.checked
    )
    return Commit(not_checked=gaps, blobs=((SIGNATURES, content),))
