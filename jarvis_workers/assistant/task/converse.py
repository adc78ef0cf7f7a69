"""The step of `agent` runs: one task for one agent over a snapshot.

A conversation that ends at a limit is not a failure of its job: the run ends as incomplete, with the reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime, commit_answer
from jarvis_workers.agents.conversations.task_job import TaskPayload, task_job
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits, is_caused_by_answers
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.loop.transcript import read_line
from jarvis_workers.agents.tools.listing import DirectoryTree, list_files
from jarvis_workers.agents.tools.reading import read_code
from jarvis_workers.agents.tools.searching import search_code
from jarvis_workers.agents.tools.tool import Tool, Toolbox
from jarvis_workers.assistant.analysis import add_analysis
from jarvis_workers.assistant.memory.saving import add_guidance, add_saving
from jarvis_workers.assistant.memory.tools import memory_tags, memory_tools
from jarvis_workers.assistant.methodology import SAVE_METHODOLOGY, Methodology, save_methodology, with_methodologies
from jarvis_workers.assistant.planning import MakeChild, plan_and_run
from jarvis_workers.assistant.store.stored_memory import StoredMemory
from jarvis_workers.assistant.task.task_options import TaskOptions
from jarvis_workers.errors import AgentStopped
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


# The methodologies that a conversation saves: its commit has them, and the command of the run stores them.


class LearnedMethodologies:
    """A book (`assistant.methodology`) in memory; it begins with what an interrupted conversation has saved."""

    def __init__(self, transcript: Iterable[bytes]) -> None:
        self._saved: dict[str, Methodology] = {}
        for record in filter(None, map(read_line, transcript)):
            if record["kind"] == "result" and record["of"] == SAVE_METHODOLOGY and record["outcome"]["state"] == "done":
                self.add(Methodology.model_validate(record["arguments"]))

    def read(self) -> Sequence[Methodology]:
        return tuple(self._saved.values())

    def add(self, methodology: Methodology) -> None:
        self._saved[methodology.problem_type] = methodology

    def encode(self) -> list[dict[str, str]]:
        """Return the methodologies for JSON."""
        return [methodology.model_dump() for methodology in self._saved.values()]


STEP = "converse"


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
    yield task_job(STEP, task, run.snapshot_id, task)


def load(session: "Session", run: Run, job: Claimed) -> ConverseWork:
    """Return the task of the run."""
    about = TaskPayload.from_json(job.payload).about
    return ConverseWork(job, TaskOptions.of(run), about, run.snapshot_id, lines(session, job.id))


async def converse(work: ConverseWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Run the conversation; commit its answer, or the reason why there is none."""
    root = await runtime.unpack(blobs, work.snapshot_id)
    tree = DirectoryTree(root)
    with runtime.open(work.job, work.options.group, work.about, work.lines) as talk:
        agents: list[Agent] = []
        learned = LearnedMethodologies(work.lines)
        book = StoredMemory(runtime.store, work.options.project) if work.options.project else None
        tools: list[Tool] = [read_code(tree), search_code(tree), list_files(tree), *talk.scripts(root)]
        tools += memory_tools(book) if book else []
        tools += [*talk.web_search(), *await talk.server_tools()]
        tools += [save_methodology(learned)] if work.options.use_analysis else []
        tools += await talk.own_tools(lambda: agents[0])
        box = Toolbox(tools)

        def make(about: Definition, limits: AgentLimits) -> Agent:
            return Agent(about, box, profile=talk.platform.profile, marks=talk.marks, limits=limits)

        agent = make(Definition(system_prompt=fill("task", agent="Jarvis")), work.options.agent_limits)
        agents.append(agent)
        hidden = _add_memory(agent, book, work.options) if book else []
        stopped, text = None, ""
        try:
            result = await talk.lead(_work(agent, work.options, make), agent, {"about": work.about}, hidden)
            text = result.text
        except AgentStopped as stop:
            stopped = stop
            if is_caused_by_answers(stop.reason):
                await talk.forget()
        return commit_answer(talk, [agent], runtime.tier, text, stopped, methodologies=learned.encode())


def _work(agent: Agent, options: TaskOptions, make_child: MakeChild) -> Conversation[TaskResult]:
    if options.use_analysis:
        add_analysis(agent)
    task = yield from with_methodologies(agent, options.task, options.methodologies)
    if options.plan:
        return (yield from plan_and_run(agent, task, make_child=make_child))
    return (yield from run_task(agent, task))


def _add_memory(agent: Agent, book: StoredMemory, options: TaskOptions) -> list[Tool]:
    """Let the agent use and save memories; return its hidden tools."""
    add_guidance(agent, book.types)
    if options.force_save_memory:
        add_saving(agent)
    return [memory_tags(book)]
