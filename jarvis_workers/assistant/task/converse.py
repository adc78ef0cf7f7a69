"""The step of `agent` runs: one task for one agent over a snapshot.

A conversation that ends at a limit is not a failure of its job: the run ends as incomplete, with the reason.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime, commit_answer
from jarvis_workers.agents.conversations.task_job import TaskWork, load_task, task_job
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.tools.listing import DirectoryTree, list_files
from jarvis_workers.agents.tools.tool import Tool, Toolbox
from jarvis_workers.assistant.analysis import add_analysis
from jarvis_workers.assistant.memory.saving import use_memory
from jarvis_workers.assistant.memory.tools import memory_tools
from jarvis_workers.assistant.methodology import LearnedMethodologies, save_methodology, with_methodologies
from jarvis_workers.assistant.planning import MakeChild, plan_and_run
from jarvis_workers.assistant.store.stored_memory import StoredMemory
from jarvis_workers.assistant.task.task_options import TaskOptions
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "converse"


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield the single job; its input is the task and the sources, so that equal tasks send equal requests."""
    task = TaskOptions.of(run).task
    yield task_job(STEP, task, run.snapshot_id, task)


def load(session: "Session", run: Run, job: Claimed) -> TaskWork[TaskOptions]:
    """Return the task of the run."""
    return load_task(session, run, job, TaskOptions.of(run))


async def converse(work: TaskWork[TaskOptions], blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Run the conversation; commit its answer, or the reason why there is none."""
    root = await runtime.unpack(blobs, work.snapshot_id)
    with runtime.open(work.job, work.options.group, work.about, work.lines) as talk:
        agents: list[Agent] = []
        learned = LearnedMethodologies(work.lines)
        book = StoredMemory(runtime.store, work.options.project) if work.options.project else None
        tools: list[Tool] = [*talk.reading(root), list_files(DirectoryTree(root)), *talk.scripts(root)]
        tools += memory_tools(book) if book else []
        tools += [*talk.web_search(), *await talk.server_tools()]
        tools += [save_methodology(learned)] if work.options.use_analysis else []
        tools += await talk.own_tools(lambda: agents[0])
        box = Toolbox(tools)

        def make(about: Definition, limits: AgentLimits) -> Agent:
            return Agent(about, box, profile=talk.platform.profile, marks=talk.marks, limits=limits)

        agent = make(Definition(system_prompt=fill("task", agent="Jarvis")), work.options.agent_limits)
        agents.append(agent)
        hidden = use_memory(agent, book, force_save=work.options.force_save_memory) if book else []
        result, stopped = await talk.attempt(_work(agent, work.options, make), agent, {"about": work.about}, hidden)
        text = result.text if result else ""
        return commit_answer(talk, [agent], runtime.tier, text, stopped, methodologies=learned.encode())


def _work(agent: Agent, options: TaskOptions, make_child: MakeChild) -> Conversation[TaskResult]:
    if options.use_analysis:
        add_analysis(agent)
    task = yield from with_methodologies(agent, options.task, options.methodologies)
    if options.plan:
        return (yield from plan_and_run(agent, task, make_child=make_child))
    return (yield from run_task(agent, task))
