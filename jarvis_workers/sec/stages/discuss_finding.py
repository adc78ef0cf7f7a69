"""The step of runs about one finding: `ask` answers a question, `dispute` verifies the finding again with a claim."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.conversations.runtime import AgentRuntime, JobConversation, commit_answer
from jarvis_workers.agents.conversations.task_job import TaskPayload, task_job
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import AgentStopped
from jarvis_workers.sec.assessment import TEXTS, Verdict
from jarvis_workers.sec.judge.discussion import FindingQuestion, answer_question, answering_agent
from jarvis_workers.sec.judge.question import ClusterQuestion, VerificationQuestion, prepare
from jarvis_workers.sec.judge.reading_tools import reading_toolbox
from jarvis_workers.sec.judge.verification import Verification
from jarvis_workers.sec.stages.discussion_options import DISPUTE, DiscussionOptions
from jarvis_workers.sec.stages.tree_index import index_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "discuss"


@dataclass(frozen=True)
class DiscussionWork:
    """The finding with what a person says about it, and the transcript of the conversation so far."""

    job: Claimed
    options: DiscussionOptions
    disputes: bool
    about: str
    snapshot_id: str
    lines: list[bytes]

    @property
    def cluster(self) -> ClusterQuestion:
        options = self.options
        claim, candidates = options.text if self.disputes else "", ((1, options.candidate),)
        return ClusterQuestion(options.verification, candidates, options.lang, claim=claim, notes=options.notes)


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield the single job."""
    options = DiscussionOptions.of(run)
    label = f"{run.kind} {options.finding}: {options.text}"
    yield task_job(STEP, label, run.kind, run.snapshot_id, options.finding, options.verdict, options.text)


def load(session: "Session", run: Run, job: Claimed) -> DiscussionWork:
    """Return the finding and the question of the run."""
    about, options = TaskPayload.from_json(job.payload).about, DiscussionOptions.of(run)
    return DiscussionWork(job, options, run.kind == DISPUTE, about, run.snapshot_id, lines(session, job.id))


async def converse(work: DiscussionWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Run the conversation; commit its answer, or the reason why there is none."""
    root = await runtime.unpack(blobs, work.snapshot_id)
    index = index_of(root)
    prepared = await asyncio.to_thread(prepare, work.cluster, index)
    with runtime.open(work.job, work.options.group, work.about, work.lines) as talk:
        tools = reading_toolbox(index, *talk.scripts(root))
        if work.disputes:
            return await _verify_again(work, prepared, tools, talk, runtime.tier)
        question = FindingQuestion(prepared, work.options.verdict, work.options.text)
        agent = answering_agent(question, tools, talk.platform.profile, talk.marks, work.options.agent_limits)
        text, stopped = "", None
        try:
            text = await talk.lead(answer_question(agent, question), agent, {"about": work.about})
        except AgentStopped as stop:
            stopped = stop
            if is_caused_by_answers(stop.reason):
                await talk.forget()
        return commit_answer(talk, [agent], runtime.tier, text, stopped)


async def _verify_again(
    work: DiscussionWork, prepared: VerificationQuestion, tools: Toolbox, talk: JobConversation, tier: str
) -> Commit:
    limits = work.options.agent_limits
    verification = Verification(prepared, tools, profiles=talk.profiles, marks=talk.marks, limits=limits)
    (verdict,) = await talk.lead(verification.run(), verification.agent, {"about": work.about}, verification.hidden)
    if any(map(is_caused_by_answers, verification.stopped)):
        await talk.forget()
    undecided = AgentStopped("undecided", verdict.reason or "") if verdict.status == "undecided" else None
    facts = verdict._asdict() | {"evidence": [one._asdict() for one in verdict.evidence]}
    del facts["gid"], facts["sandbox"]
    return commit_answer(
        talk, [verification.agent], tier, _verdict_text(verdict, verification), undecided, verdict=facts
    )


def _verdict_text(verdict: Verdict, verification: Verification) -> str:
    """Return a verdict as text, and what the model saw beside the finding."""
    parts: list[Any] = [f"{verdict.status}: {verdict.reason}" if verdict.reason else verdict.status]
    parts += [text for name in TEXTS if (text := getattr(verdict, name))]
    parts += [f"{one.file}:{one.line}: {one.quote}" for one in verdict.evidence]
    others = (*verification.others, *verification.surplus)
    parts += [f"Also seen, and not verified: {one.file}:{one.line}: {one.description}" for one in others]
    return "\n\n".join(parts)
