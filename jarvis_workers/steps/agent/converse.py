"""The step of `agent` runs: one task for one agent over a snapshot.

A conversation that ends at a limit is not a failure of its job: the run ends as incomplete, with the reason.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Definition, TaskResult
from jarvis_workers.agent.limits import is_caused_by_answers
from jarvis_workers.agent.loop import run_task
from jarvis_workers.agent.own_tools import OWN_TOOLS, own_tools
from jarvis_workers.agent.prompts import fill
from jarvis_workers.agent.threads import in_thread
from jarvis_workers.conversations.conversation import JobConversation
from jarvis_workers.conversations.runtime import AgentRuntime
from jarvis_workers.errors import AgentStopped
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.agent.task_options import TaskOptions
from jarvis_workers.store.runs import Run
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewJob
from jarvis_workers.tools.reading import read_code
from jarvis_workers.tools.registry import Toolbox
from jarvis_workers.tools.searching import search_code
from jarvis_workers.tools.tool import Tool
from jarvis_workers.tools.tree import DirectoryTree

if TYPE_CHECKING:
    from sqlmodel import Session

STEP = "converse"
ANSWER = "answer"
TASK = b"task"


@dataclass(frozen=True)
class ConversePayload(JsonRecord):
    """The payload of a conversation; `about` is the hash of the snapshot and the task."""

    about: str


@dataclass(frozen=True)
class ConverseWork:
    """The task, and the transcript of the conversation so far."""

    job: Claimed
    options: TaskOptions
    about: str
    snapshot_id: str
    lines: list[bytes]


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield the single job; its input is the task and the sources, so that equal tasks send equal requests."""
    task = TaskOptions.of(run).task
    about = sha256(f"{run.snapshot_id}\0{task}".encode("utf-8", "surrogatepass")).hexdigest()
    yield NewJob(STEP, AGENT_QUEUE, plain(" ".join(task.split())), about, payload=ConversePayload(about).to_json())


def load(session: "Session", run: Run, job: Claimed) -> ConverseWork:
    """Return the task of the run."""
    about = ConversePayload.from_json(job.payload).about
    return ConverseWork(job, TaskOptions.of(run), about, run.snapshot_id, lines(session, job.id))


async def converse(work: ConverseWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Run the conversation; commit its answer, or the reason why there is none."""
    root = await runtime.unpack(blobs, work.snapshot_id)
    tree = DirectoryTree(root)
    with runtime.open(work.job, work.options.group, work.about, work.lines) as talk:
        agents: list[Agent] = []
        tools: list[Tool] = [read_code(tree), search_code(tree), *talk.scripts(root)]
        tools += await in_thread(list, own_tools([OWN_TOOLS], lambda: agents[0]))
        definition = Definition(system_prompt=fill("task", agent="Jarvis"))
        limits = work.options.agent_limits
        agent = Agent(definition, Toolbox(tools), profile=talk.platform.profile, marks=talk.marks, limits=limits)
        agents.append(agent)
        stopped, result = None, None
        try:
            result = await talk.lead(run_task(agent, work.options.task), agent, {"about": work.about})
        except AgentStopped as stop:
            stopped = stop
            if is_caused_by_answers(stop.reason):
                await talk.forget()
        outcome = _outcome(talk, agent, runtime.tier, result, stopped)
        return Commit(
            files=1,
            not_checked=((TASK, f"stopped: {stopped.reason}: {stopped}"),) if stopped else (),
            artifacts=((ANSWER, json.dumps(outcome).encode()),),
        )


def _outcome(
    talk: JobConversation, agent: Agent, tier: str, result: TaskResult | None, stopped: AgentStopped | None
) -> dict[str, Any]:
    """Return the result of a conversation; values that differ between identical conversations are under `run`."""
    spent = agent.spent
    return {
        "state": "stopped" if stopped else "done",
        "text": result.text if result else "",
        "stopped": {"reason": stopped.reason, "says": str(stopped)} if stopped else None,
        "tools": dict(agent.executed),
        "suspicions": [asdict(suspicion) for suspicion in agent.guard.suspicions],
        "rounds": spent.asks,
        "run": {
            "model": talk.platform.model,
            "sandbox": tier,
            "tokens": asdict(spent.usage),
            "cost": spent.cost,
            "seconds": round(spent.seconds, 3),
        },
    }
