"""Fix a finding: let an agent edit, run the gates, let it correct what failed, and give up after some attempts.

The agent edits a copy of the sources; the tool that runs the gates is hidden from it. What gates report is untrusted
text.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, RunTool
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.sec.fix.fixable import FixFinding
from jarvis_workers.sec.fix.gates import APPLIES, RESULTS, PatchGateResult, failure_of, impossible

PROMPTS = Path(__file__).parent / "prompts"
# The tool that runs the gates; the model cannot call it.
GATES_TOOL = "check_patch"
COMMAND_LENGTH, STACK_LINES = 200, 12
NO_ARGUMENTS: Mapping[str, Any] = {}
TITLES = {
    "preconditions": "conditions",
    "trigger_path": "path",
    "consequences": "harm",
    "suggestions": "advice",
    "suggestion": "advice of the rule",
}


class FixTask(NamedTuple):
    """A finding to fix, and how often the gates may run.

    `function` is the function that contains the finding, "" if there is none; `earlier` is whether the sources contain
    patches of other findings.
    """

    finding: FixFinding
    attempts: int = 3
    function: str = ""
    earlier: bool = False


class FixOutcome(NamedTuple):
    """The end of a fix: the answer, the results of the gates, and how often they ran."""

    text: str
    results: tuple[PatchGateResult, ...]
    attempts: int


def fix_definition(build: str, tests: str, *, scripts: bool) -> Definition:
    """Return the definition of the agent, which is the same for all findings of a run.

    `build` and `tests` are the commands of the gates, "" for none; the agent can run `scripts`.
    """
    return Definition(fill_from(PROMPTS, "fix_system", build=build, tests=tests, scripts=scripts), auto_complete=False)


def fix(agent: Agent, task: FixTask) -> Conversation[FixOutcome]:
    """Return the outcome of a fix; raises AgentStopped at a limit."""
    finding = agent.guard.admit("\n".join(question_lines(task)))
    first = fill_from(PROMPTS, "fix_task", finding=finding, function=task.function, earlier=task.earlier)
    result = yield from run_task(agent, first)
    attempt = refused_edits = 0
    while True:
        attempt += 1
        outcome: ToolOutcome = yield RunTool(GATES_TOOL, NO_ARGUMENTS, untimed=True)
        results = _results(outcome)
        failure = failure_of(results)
        is_free = failure is not None and failure.fault == "edit" and refused_edits < task.attempts
        if failure is None or failure.fault == "tree" or (attempt >= task.attempts and not is_free):
            return FixOutcome(result.text, results, attempt)
        reason = agent.guard.admit(shorten(failure.reason, agent.limits.output_tokens))
        if is_free:
            attempt, refused_edits = attempt - 1, refused_edits + 1
            result = yield from run_task(agent, fill_from(PROMPTS, "edit_refused", reason=reason))
            continue
        again = fill_from(
            PROMPTS, "gate_failed", attempt=attempt, attempts=task.attempts, gate=failure.gate, reason=reason
        )
        result = yield from run_task(agent, again)


def _results(outcome: ToolOutcome) -> tuple[PatchGateResult, ...]:
    if not outcome.success:
        return (impossible(APPLIES, outcome.stderr or "the gates did not run"),)
    return RESULTS.validate_json(outcome.stdout)


def question_lines(task: FixTask) -> Iterator[str]:
    """Yield the lines that describe a finding, without line numbers, so that equal findings send equal requests."""
    finding = task.finding
    kind = "found by a model" if finding.title else f"rule: {finding.pattern}"
    yield f"{kind} (CWE-{finding.cwe}): {finding.description}"
    yield f"file: {finding.place.file}"
    if task.function:
        yield f"function: {task.function}"
    yield f"line: {finding.place.text}"
    for name, title in TITLES.items():
        if text := getattr(finding if name == "suggestion" else finding.verdict, name):
            yield f"{title}: {text}"
    for one in finding.proved:
        if one.proof:
            yield f"proved by running {one.proof.command[:COMMAND_LENGTH]}, which a sanitizer stops with:"
            yield from (f"  {line}" for line in one.proof.stack_without_lines[:STACK_LINES])
    if finding.others:
        yield "the same root cause, to be fixed as well:"
        yield from (f"- {other.name} in {other.place.file}: {other.place.text}" for other in finding.others)
    if finding.steps:
        yield "trace:"
        yield from (f"- {step.file}: {step.text}{'  // ' if step.text else ''}{step.note}" for step in finding.steps)
