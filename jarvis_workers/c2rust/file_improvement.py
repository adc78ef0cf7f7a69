"""Improve a file of a crate by edits of a model: ask, check the edits, run the tests, report failures.

The tests decide; before they run, edits are refused that add unsafe code, or code that reaches the operating system.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from pydantic import BaseModel, Field

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, RunTool, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.tools.edits import TextEdit, apply_edits
from jarvis_workers.agents.tools.tool import Toolbox, ToolOutcome
from jarvis_workers.c2rust.body_translation import PROMPTS
from jarvis_workers.c2rust.crate_edits import MODULES, PROCESS, UNFINISHED
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.source.rust.rust_syntax import masked, unsafe_block_lines

# The tool that runs the tests; the model cannot call it.
TESTS_TOOL = "run_crate_tests"
PROBLEM_MAX = 4_000
# What edits must not add, and what they must not remove.
ADDED = (
    (UNFINISHED, "unfinished code"),
    (re.compile(rf"\b(?:std|core|alloc)\s*::\s*(?:\{{[^}}]*)?\b{MODULES}\b"), "code that reaches the operating system"),
    (PROCESS, "code that reaches the operating system"),
    (
        re.compile(r"\b(?:include\w*|env|option_env|\w*asm|cfg)\s*!|\bextern\b|#\s*!?\["),
        "attributes, macros or foreign items",
    ),
    (re.compile(r"\bunsafe\s+(?:fn|impl|trait|extern)\b"), "unsafe functions or implementations"),
)
REMOVED = (
    (re.compile(r"#\[(?:\w+::)*test\b|\bassert\w*\s*!"), "tests"),
    (re.compile(r"\bpub\b(?!\s*\()"), "public items"),
    (re.compile(r"\b(?:no_mangle|export_name)\b"), "exported symbols"),
)


class ProposedEdit(BaseModel):
    """An edit by a model."""

    search: str = Field(description="A text that occurs exactly once in the file.")
    replacement: str = Field(description="The text that replaces it.")


class EditsAnswer(BaseModel):
    """The answer of a model."""

    edits: list[ProposedEdit] = Field(description="The edits of the file; empty to leave it as it is.")


class ImprovedFile(NamedTuple):
    """The new text of a file, "" if it stays as it is; `checks` is how often the tests ran."""

    text: str = ""
    checks: int = 0
    reason: str = ""
    checked: bool = True


def improver(profile: Profile, marks: Marks, limits: AgentLimits, attempts: int) -> Agent:
    """Return the agent that proposes edits, without tools; it answers at most `attempts` times."""
    definition = Definition(system_prompt=fill_from(PROMPTS, "optimize_system"), name="optimizer", auto_complete=False)
    limits = replace(limits, rounds=min(limits.rounds, attempts))
    return Agent(
        definition, Toolbox(), profile=profile, marks=marks, form=ReportForm(EditsAnswer, "EDITS"), limits=limits
    )


def improve_file(agent: Agent, file: str, text: str, attempts: int) -> Conversation[ImprovedFile]:
    """Ask for edits of a file until the tests of the crate pass with them."""
    message, checks, problem = fill_from(PROMPTS, "optimize", file=file, text=agent.guard.admit(text)), 0, ""
    try:
        for _ in range(attempts):
            result: TaskResult = yield from run_task(agent, message)
            edits = [TextEdit(file, one["search"], one["replacement"]) for one in result.report.model_dump()["edits"]]
            edited = apply_edits({file: text.encode()}, edits)
            after = edited.files.get(file, text.encode()).decode()
            if after == text and not edited.problems:
                return ImprovedFile(checks=checks)
            problem = "\n".join(map(str, edited.problems)) or objection(text, after)
            if not problem:
                outcome: ToolOutcome = yield RunTool(TESTS_TOOL, {"text": after}, untimed=True)
                checks += 1
                if not outcome.success:
                    return ImprovedFile("", checks, outcome.stderr, checked=False)
                if not outcome.stdout:
                    return ImprovedFile(after, checks)
                problem = outcome.stdout
            problem = problem[:PROBLEM_MAX]
            message = fill_from(PROMPTS, "optimize_again", problem=agent.guard.admit(problem))
    except AgentStopped as stop:
        return ImprovedFile("", checks, f"{stop.reason}: {stop}", checked=False)
    return ImprovedFile("", checks, f"no edits of the model pass; the last: {problem.splitlines()[0]}")


def objection(before: str, after: str) -> str:
    """Return why edits are refused without running them, or an empty string."""
    old, new = masked(before), masked(after)
    for pattern, what in ADDED:
        if len(pattern.findall(new)) > len(pattern.findall(old)):
            return f"the edits add {what}"
    for pattern, what in REMOVED:
        if len(pattern.findall(new)) < len(pattern.findall(old)):
            return f"the edits remove {what}"
    return "the edits add unsafe lines" if unsafe_block_lines(after) > unsafe_block_lines(before) else ""
