"""The step of `code` runs: an agent edits a scratch copy of the sources; the changed files become artifacts.

The copy is new in every attempt. When a conversation resumes, its recorded edits are made again (`Tool.replayed`).
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.conversations.runtime import ANSWER, TASK, AgentRuntime, JobConversation, run_facts
from jarvis_workers.agents.conversations.task_job import TaskPayload, task_job
from jarvis_workers.agents.conversations.working_copy import (
    CommandLimits,
    encode_changes,
    run_in_copy,
    unpack_sources,
    without_places,
)
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Definition
from jarvis_workers.agents.loop.limits import AgentLimits, is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.editing import PATCH, REWRITE, EditWorkspace, edit_tools, watched_reading
from jarvis_workers.agents.tools.searching import search_code
from jarvis_workers.agents.tools.tool import Tool, Toolbox, ToolOutcome
from jarvis_workers.assistant.change_preview import list_changes, preview_changes, statistics_of
from jarvis_workers.assistant.code.code_options import CodeOptions
from jarvis_workers.assistant.code_task import GATE_TOOL, CodeOutcome, CodeTask, change_code, commit_message
from jarvis_workers.assistant.lint_hints import lint_hint
from jarvis_workers.assistant.memory.saving import add_guidance
from jarvis_workers.assistant.memory.tools import MEMORY_TOOLS, memory_tags, memory_tools
from jarvis_workers.assistant.planning import MakeChild
from jarvis_workers.assistant.store.stored_memory import StoredMemory
from jarvis_workers.assistant.sub_code_agent import SUB_CODE_AGENT, sub_code_tool, with_children
from jarvis_workers.errors import AgentStopped, StepFailed, UsageError
from jarvis_workers.paths import plain
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "code"
CHANGES = "changes"
SCRATCH = "jarvis-code"
# All tools but those of the user, which is checked by a test.
BUILT_IN = ("read_code", "search_code", "execute_script", PATCH, REWRITE, SUB_CODE_AGENT, "search_web", *MEMORY_TOOLS)
# Tools that may be missing: without a sandbox, a search endpoint, or memories.
OPTIONAL = frozenset({"execute_script", "search_web", *MEMORY_TOOLS})


@dataclass(frozen=True)
class CodeWork:
    """The options of the run, and the transcript of the conversation so far."""

    job: Claimed
    options: CodeOptions
    about: str
    lines: list[bytes]


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield the single job; equal tasks over equal sources have the same input, and send equal requests."""
    options = CodeOptions.of(run)
    parts = (options.archive, options.task, options.gate, str(options.attempts), options.rule_text, options.earlier)
    yield task_job(STEP, options.task, *parts)


def load(session: "Session", run: Run, job: Claimed) -> CodeWork:
    """Return the options of the run."""
    return CodeWork(job, CodeOptions.of(run), TaskPayload.from_json(job.payload).about, lines(session, job.id))


async def converse(work: CodeWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Change the code; commit the answer and the changed files, also if the gate or a limit ended the task."""
    archive = await in_thread(blobs.read, work.options.archive)
    with temporary_directory(SCRATCH) as place:
        root = place.resolve() / "tree"
        await in_thread(unpack_sources, archive, root)
        workspace = EditWorkspace(root, tuple(work.options.closed))
        with runtime.open(work.job, work.options.group, work.about, work.lines) as talk:
            book = StoredMemory(runtime.store, work.options.project) if work.options.project else None
            agent = await _agent(work, talk, workspace, book)
            outcome, stopped = None, None
            try:
                hidden = [_gate_tool(runtime, root, work.options), *([memory_tags(book)] if book else [])]
                make = make_child(agent)
                changing = change_code(agent, _task(work.options), make if work.options.plan else None)
                outcome = await talk.lead(with_children(agent, changing, make), agent, {"about": work.about}, hidden)
            except AgentStopped as stop:
                stopped = stop
                if is_caused_by_answers(stop.reason):
                    await talk.forget()
            answer = _answer(work.options, agent, workspace, outcome, stopped)
            answer["run"] = run_facts(talk, agent, runtime.tier)
        changes = encode_changes(workspace.changes(), root)
    problem = answer["problem"]
    return Commit(
        files=1,
        not_checked=((TASK, problem),) if problem else (),
        artifacts=((ANSWER, json.dumps(answer).encode()), (CHANGES, json.dumps(changes).encode())),
    )


def _task(options: CodeOptions) -> CodeTask:
    return CodeTask(options.task, options.gate, options.attempts, options.rule_text, options.earlier, options.lint)


def _gate_tool(runtime: AgentRuntime, root: Path, options: CodeOptions) -> Tool:
    """Return the tool that runs the gate."""
    limits = CommandLimits(options.gate_seconds, options.gate_memory_mb, options.gate_disk_mb)
    return Tool(GATE_TOOL, "", {}, lambda _: None, lambda _: run_in_copy(runtime, root, options.gate, limits))


async def _agent(work: CodeWork, talk: JobConversation, workspace: EditWorkspace, book: StoredMemory | None) -> Agent:
    """Return the agent with the tools that the options name. Raises StepFailed for a tool that is not there."""
    agents: list[Agent] = []
    root = workspace.root
    scripts = [_local(tool, root) for tool in talk.scripts(root)]
    reading = [watched_reading(workspace), search_code(workspace.tree)]
    tools = [*reading, *scripts, *edit_tools(workspace), sub_code_tool(), *talk.web_search()]
    tools += memory_tools(book) if book else []
    names = list(work.options.tools) or [tool.name for tool in tools]
    users = await talk.own_tools(lambda: agents[0])
    present = Toolbox([*tools, *(tool for tool in users if tool.name not in {one.name for one in tools})])
    try:
        box = present.only(name for name in names if name in present.names or name not in OPTIONAL)
    except UsageError as problem:
        raise StepFailed(f"--append-tools or the tool group: {problem}") from problem
    limits, definition = work.options.agent_limits, _task(work.options).definition
    agents.append(Agent(definition, box, profile=talk.platform.profile, marks=talk.marks, limits=limits))
    if book:
        add_guidance(agents[0], book.types)
    return agents[0]


def make_child(parent: Agent) -> MakeChild:
    """Return the function that creates a child with the tools of its parent, but those that create children."""
    names = [name for name in parent.tools.names if name != SUB_CODE_AGENT]

    def make(about: Definition, limits: AgentLimits) -> Agent:
        tools = parent.tools.only(names)
        return Agent(about, tools, profile=parent.profile, marks=parent.marks, limits=limits)

    return make


def _local(tool: Tool, root: Path) -> Tool:
    """Return a tool whose outcomes do not contain the path of the scratch copy."""

    def run(arguments: Any) -> ToolOutcome:
        return without_places(tool.run(arguments), {root: "."})

    return replace(tool, run=run)


def _answer(
    options: CodeOptions,
    agent: Agent,
    workspace: EditWorkspace,
    outcome: CodeOutcome | None,
    stopped: AgentStopped | None,
) -> dict[str, Any]:
    """Return the answer as JSON data; a `problem` is the reason why the task is not done."""
    files = workspace.changes()
    changes = list_changes(files)
    text = outcome.text if outcome else ""
    state, problem = _state(options, outcome, stopped)
    edits = agent.executed[PATCH] + agent.executed[REWRITE]
    return {
        "state": state,
        "problem": problem,
        "text": text,
        "message": commit_message(text, options.task, options.prefix, options.suffix),
        "stopped": {"reason": stopped.reason, "says": str(stopped)} if stopped else None,
        "gate": {"command": options.gate, "runs": outcome.gate_runs if outcome else 0} if options.gate else None,
        "changes": [change._asdict() for change in changes],
        "preview": preview_changes(files, changes),
        "statistics": statistics_of(changes, edits)._asdict(),
        "lint": lint_hint(change.path for change in changes if change.status != "removed") if options.lint else "",
        "tools": dict(agent.executed),
        "suspicions": [asdict(suspicion) for suspicion in agent.guard.suspicions],
        "rounds": agent.spent.asks,
    }


def _state(options: CodeOptions, outcome: CodeOutcome | None, stopped: AgentStopped | None) -> tuple[str, str]:
    if stopped or outcome is None:
        return "stopped", f"stopped: {stopped.reason}: {stopped}" if stopped else "stopped"
    if not outcome.problem:
        return "done", ""
    if not outcome.is_checked:
        return "not checked", f"the gate did not run: {plain(outcome.problem)}"
    last = next((line for line in reversed(outcome.problem.splitlines()) if line.strip()), "")
    times = "once" if outcome.gate_runs == 1 else f"{outcome.gate_runs} times"
    return "refused", f"the gate failed {times}: {plain(options.gate)}: {plain(last.strip()[:200])}"
