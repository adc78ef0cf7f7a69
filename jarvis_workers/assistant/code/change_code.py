"""The step of `code` runs: an agent edits a scratch copy of the sources; the changed files become artifacts.

The copy is new in every attempt. When a conversation resumes, its recorded edits are made again (`Tool.replayed`).
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.conversations.runtime import ANSWER, TASK, AgentRuntime, run_facts
from jarvis_workers.agents.conversations.task_job import TaskWork, load_task, task_job
from jarvis_workers.agents.conversations.working_copy import (
    CommandLimits,
    encode_changes,
    run_in_copy,
    unpack_sources,
)
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.editing import PATCH, REWRITE, EditWorkspace
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.assistant.change_preview import list_changes, preview_changes, statistics_of
from jarvis_workers.assistant.code.code_agent import open_agent
from jarvis_workers.assistant.code.code_options import CodeOptions
from jarvis_workers.assistant.code_task import GATE_TOOL, CodeOutcome, CodeTask, change_code, commit_message
from jarvis_workers.assistant.lint_hints import lint_hint
from jarvis_workers.assistant.sub_code_agent import make_child, with_children
from jarvis_workers.errors import AgentStopped
from jarvis_workers.paths import plain
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "code"
CHANGES = "changes"
SCRATCH = "jarvis-code"


def plan(run: Run, _: Blobs) -> Iterator[NewJob]:
    """Yield the single job; equal tasks over equal sources have the same input, and send equal requests."""
    options = CodeOptions.of(run)
    parts = (options.archive, options.task, options.gate, str(options.attempts), options.rule_text, options.earlier)
    yield task_job(STEP, options.task, *parts)


def load(session: "Session", run: Run, job: Claimed) -> TaskWork[CodeOptions]:
    """Return the options of the run."""
    return load_task(session, run, job, CodeOptions.of(run))


async def converse(work: TaskWork[CodeOptions], blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Change the code; commit the answer and the changed files, also if the gate or a limit ended the task."""
    archive = await in_thread(blobs.read, work.options.archive)
    with temporary_directory(SCRATCH) as place:
        root = place.resolve() / "tree"
        await in_thread(unpack_sources, archive, root)
        workspace = EditWorkspace(root, tuple(work.options.closed))
        with runtime.open(work.job, work.options.group, work.about, work.lines) as talk:
            task = _task(work.options)
            agent, hidden = await open_agent(work.options, task.definition, talk, workspace, runtime.store)
            hidden = [_gate_tool(runtime, root, work.options), *hidden]
            make = make_child(agent)
            changing = with_children(agent, change_code(agent, task, make if work.options.plan else None), make)
            outcome, stopped = await talk.attempt(changing, agent, {"about": work.about}, hidden)
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
