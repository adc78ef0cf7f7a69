"""Ask a model for the modules of a crate: the prompt, and the conversation until the plan places all functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from pydantic import TypeAdapter

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.c2rust.crate_layout import CratePlan, Placement, read_placement
from jarvis_workers.c2rust.yaml_form import YamlForm
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.source.clang.c_types import EnumDefinition

PROMPTS = Path(__file__).parent / "prompts"
# A larger project has a question for each directory.
FUNCTIONS_MAX, CALLS_SHOWN, SIGNATURE_LENGTH, PROBLEMS_SHOWN = 300, 12, 200, 20
ENUMS_MAX, CONSTANTS_SHOWN = 100, 12


class LayoutFunction(NamedTuple):
    """A function to place: its name in the crate, its C file and signature, and the functions that it calls."""

    name: str
    file: str
    signature: str
    calls: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The line of the prompt."""
        calls = f" | calls {', '.join(self.calls[:CALLS_SHOWN])}" if self.calls else ""
        return f"{self.name} | {self.file} | {self.signature[:SIGNATURE_LENGTH]}{calls}"


class LayoutQuestion(NamedTuple):
    """The functions to place; modules must not have the names of the `types` of the crate.

    `enums` are the names of those that can have a type in Rust, each with the line of the prompt.
    """

    functions: tuple[LayoutFunction, ...]
    types: tuple[str, ...] = ()
    enums: tuple[tuple[str, str], ...] = ()

    @property
    def about(self) -> str:
        """Hash that identifies the question."""
        return sha256(repr(tuple(self)).encode("utf-8", "backslashreplace")).hexdigest()


LAYOUT_QUESTION = TypeAdapter(LayoutQuestion)


class PlannedLayout(NamedTuple):
    """The modules of functions by name; all others stay in the module of their C file, for a `reason`.

    `checked` is false if the model gave no usable answer. `enums` are the kinds of enums by name.
    """

    modules: dict[str, str]
    reason: str = ""
    checked: bool = True
    enums: Mapping[str, str] = {}


PLANNED_LAYOUT = TypeAdapter(PlannedLayout)


def layout_questions(
    functions: Sequence[LayoutFunction],
    types: Sequence[str],
    enums: Mapping[str, EnumDefinition] = MappingProxyType({}),
) -> Iterator[LayoutQuestion]:
    """Yield one question, or for a large project those of each directory."""
    ordered = sorted(functions, key=lambda one: PurePosixPath(one.file).parent)
    groups = (
        [ordered]
        if len(ordered) <= FUNCTIONS_MAX
        else [list(group) for _, group in groupby(ordered, lambda one: PurePosixPath(one.file).parent)]
    )
    lines = tuple((name, _enum_line(name, one)) for name, one in list(enums.items())[:ENUMS_MAX])
    for group in groups:
        for start in range(0, len(group), FUNCTIONS_MAX):
            yield LayoutQuestion(tuple(group[start : start + FUNCTIONS_MAX]), tuple(types), lines)


def _enum_line(name: str, one: EnumDefinition) -> str:
    constants = [f"{constant} = {value}" for constant, value in one.constants[:CONSTANTS_SHOWN]]
    return f"{name} | {', '.join(constants)}{', …' if len(one.constants) > CONSTANTS_SHOWN else ''}"


def layouter(profile: Profile, marks: Marks, limits: AgentLimits, attempts: int) -> Agent:
    """Return the agent that answers a question, without tools, in at most `attempts` answers."""
    definition = Definition(system_prompt=fill_from(PROMPTS, "layout_system"), name="layouter", auto_complete=False)
    limits = replace(limits, rounds=min(limits.rounds, attempts), reasks=attempts)
    return Agent(definition, Toolbox(), profile=profile, marks=marks, form=YamlForm(CratePlan, "PLAN"), limits=limits)


def plan_layout(agent: Agent, question: LayoutQuestion, attempts: int) -> Conversation[PlannedLayout]:
    """Ask until a plan places all functions, at most `attempts` times; then the usable part of the last plan counts."""
    names = {one.name: None for one in question.functions}
    lines, enums = "\n".join(one.line for one in question.functions), dict(question.enums)
    shown = agent.guard.admit("\n".join(enums.values())) if enums else ""
    message, last = fill_from(PROMPTS, "layout", functions=agent.guard.admit(lines), enums=shown), None
    try:
        for _ in range(attempts):
            result = yield from run_task(agent, message)
            last = read_placement(result.report, names, question.types, enums)
            if not last.problems:
                break
            problems = "\n".join(last.problems[:PROBLEMS_SHOWN])
            message = fill_from(PROMPTS, "layout_again", problems=agent.guard.admit(problems))
    except AgentStopped as stop:
        if last is None:
            return PlannedLayout({}, f"{stop.reason}: {stop}", checked=False)
    return _layout(last)


def _layout(last: Placement | None) -> PlannedLayout:
    assert last is not None
    return PlannedLayout(dict(last.modules), "; ".join(last.problems[:1]), enums=dict(last.enums))
