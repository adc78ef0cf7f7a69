"""Change code as a task says: let an agent edit, run the gate, let it repair, and give up after some attempts.

The gate is a command of the user. What it prints is untrusted text.
"""

from pathlib import Path
from typing import NamedTuple

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, RunTool
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.assistant.planning import MakeChild, plan_and_run

PROMPTS = Path(__file__).parent / "code_prompts"
# The tool that runs the gate; the model cannot call it.
GATE_TOOL = "run_gate"
SUBJECT_MAX = 72


class CodeTask(NamedTuple):
    """A task: the command that must succeed, "" for none, how often it may run, rules, and what earlier tasks did."""

    task: str
    gate: str = ""
    attempts: int = 3
    rules: str = ""
    earlier: str = ""
    lint: bool = True

    @property
    def definition(self) -> Definition:
        """The definition of the agent."""
        values = {"gate": self.gate, "rules": self.rules, "lint": self.lint}
        return Definition(fill_from(PROMPTS, "code_system", **values), auto_complete=False)


class CodeOutcome(NamedTuple):
    """The end of a task: the answer, how often the gate ran, and why it was refused, "" if it was not.

    `is_checked` is False if the gate could not run.
    """

    text: str
    gate_runs: int = 0
    problem: str = ""
    is_checked: bool = True


def change_code(agent: Agent, task: CodeTask, make_child: MakeChild | None = None) -> Conversation[CodeOutcome]:
    """Return the outcome of a task, which agents from `make_child` may do in parts; raises AgentStopped at a limit."""
    earlier = agent.guard.admit(task.earlier) if task.earlier else ""
    first = fill_from(PROMPTS, "code_task", task=task.task, earlier=earlier)
    if make_child:
        result = yield from plan_and_run(agent, first, make_child=make_child)
    else:
        result = yield from run_task(agent, first)
    if not task.gate:
        return CodeOutcome(result.text)
    problem = ""
    for attempt in range(1, task.attempts + 1):
        outcome: ToolOutcome = yield RunTool(GATE_TOOL, {}, untimed=True)
        if outcome.success:
            return CodeOutcome(result.text, attempt)
        problem = shorten(outcome.text(), agent.limits.output_tokens)
        if outcome.state == "error":
            return CodeOutcome(result.text, attempt, problem, is_checked=False)
        if attempt < task.attempts:
            admitted = agent.guard.admit(problem)
            again = fill_from(PROMPTS, "gate_failed", attempt=attempt, attempts=task.attempts, problem=admitted)
            result = yield from run_task(agent, again)
    return CodeOutcome(result.text, task.attempts, problem)


def commit_message(text: str, task: str, prefix: str = "", suffix: str = "") -> str:
    """Return the commit message of an answer: its first line between prefix and suffix, and the rest as the body.

    An answer without text has the first line of the task as its subject.
    """
    lines = [_printable(line) for line in (text.strip() or task.strip()).splitlines()]
    subject = lines[0].lstrip("#*- ").strip() if lines else ""
    if len(subject) > SUBJECT_MAX:
        lines.insert(1, subject)
        subject = subject[: SUBJECT_MAX - 1].rstrip() + "…"
    body = "\n".join(lines[1:]).strip() if text.strip() else ""
    head = f"{prefix}{subject or 'Change the code'}{suffix}"
    return f"{head}\n\n{body}\n" if body else f"{head}\n"


def _printable(line: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in line).rstrip()
