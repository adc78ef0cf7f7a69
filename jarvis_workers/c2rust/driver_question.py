"""Ask a model for a C program that calls a function which no test reaches: a driver.

A driver proves nothing alone: it makes the function run, so that a translation can be compared with C.
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
from jarvis_workers.agents.tools.tool import Toolbox, ToolOutcome
from jarvis_workers.c2rust.body_translation import PROMPTS
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.source.lex import mask

# The tool that builds and runs a driver; the model cannot call it.
DRIVER_TOOL = "run_driver"
ATTEMPTS = 3
TEXT_MAX, CALLER_MAX, DRIVER_MAX, PROBLEM_MAX = 30_000, 6_000, 30_000, 4_000
MAIN = re.compile(r"\bmain\s*\(")
# A driver must do the same in each run, and must not know in which one it is.
CALLS = (
    r"\w*getenv|time|clock\w*|gettimeofday|s?rand\w*|getpid|v?fork|exec[lv]\w*|system|popen|dl(?:open|sym)|ptrace|syscall"
    r"|_exit|_Exit|quick_exit|main"
)
WORDS = r"environ|__environ|_{0,2}asm(?:__)?|__attribute__|JARVIS\w*|jv[a-z]?_\w*"
OBSERVES = re.compile(rf"\b(?:(?:{CALLS})\s*\(|(?:{WORDS})\b)")


class DriverAnswer(BaseModel):
    """The answer of a model."""

    driver: str = Field(description="The whole text of the C program.")


class DriverQuestion(NamedTuple):
    """A function that no test reaches: its name, C file and text; the functions that call it with their texts.

    `includes` are the include lines of the file. A function that is not `external` can only be reached by its callers.
    """

    name: str
    file: str
    c: str
    includes: str
    external: bool
    callers: str = ""


class WrittenDriver(NamedTuple):
    """The driver of a function by its slot, "" if there is none for a `reason`.

    `checked` is false if the model gave no usable answer, or a tool failed.
    """

    slot: str
    text: str = ""
    reason: str = ""
    checked: bool = True


def driver_writer(profile: Profile, marks: Marks, limits: AgentLimits) -> Agent:
    """Return the agent that writes drivers, without tools."""
    definition = Definition(system_prompt=fill_from(PROMPTS, "driver_system"), name="test writer", auto_complete=False)
    limits = replace(limits, rounds=min(limits.rounds, ATTEMPTS))
    form = ReportForm(DriverAnswer, "DRIVER")
    return Agent(definition, Toolbox(), profile=profile, marks=marks, form=form, limits=limits)


def write_driver(agent: Agent, slot: str, question: DriverQuestion) -> Conversation[WrittenDriver]:
    """Ask until a driver reaches the function, at most `ATTEMPTS` times."""
    message, problem = _question(agent, question), ""
    try:
        for _ in range(ATTEMPTS):
            result: TaskResult = yield from run_task(agent, message)
            text = str(result.report.model_dump()["driver"])
            problem = form_problem(text)
            if not problem:
                outcome: ToolOutcome = yield RunTool(DRIVER_TOOL, {"text": text}, untimed=True)
                if not outcome.success:
                    return WrittenDriver(slot, reason=outcome.stderr, checked=False)
                if not outcome.stdout:
                    return WrittenDriver(slot, text)
                problem = outcome.stdout
            message = fill_from(PROMPTS, "driver_again", problem=agent.guard.admit(problem[:PROBLEM_MAX]))
    except AgentStopped as stop:
        return WrittenDriver(slot, reason=f"{stop.reason}: {stop}", checked=False)
    return WrittenDriver(slot, reason=f"no driver of the model reaches it; the last: {problem.splitlines()[0]}")


def _question(agent: Agent, question: DriverQuestion) -> str:
    admit = agent.guard.admit
    return fill_from(
        PROMPTS,
        "driver",
        function=question.name,
        file=question.file,
        external=question.external,
        c=admit(question.c[:TEXT_MAX]),
        includes=admit(question.includes),
        callers=admit(question.callers) if question.callers else "",
    )


def form_problem(text: str) -> str:
    """Return why a driver is refused without running it, or an empty string."""
    if len(text) > DRIVER_MAX:
        return f"the driver is longer than {DRIVER_MAX:,} characters"
    code = mask(text.encode("utf-8", "replace"), "c").text.decode("utf-8", "replace")
    found = MAIN.search(code)
    if found is None:
        return "the driver has no `main`"
    rest = code[: found.start()] + code[found.end() :]
    if match := OBSERVES.search(rest):
        return f"the driver must not use `{match[0].rstrip('( ')}`: it does the same in each run"
    return ""
