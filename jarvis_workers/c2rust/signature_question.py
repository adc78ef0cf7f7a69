"""Ask a model for the signatures of functions: the prompt, and the conversation.

What is wrong with an answer goes back once; then the proposal stands for the functions concerned.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.signature_answer import (
    PlannedFunction,
    SignatureAnswer,
    parameter_labels,
    passed_parameters,
    read_mapping,
)
from jarvis_workers.c2rust.signatures import ParameterChoice
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile

PROMPTS = Path(__file__).parent / "prompts"
FUNCTIONS_MAX, CODE_LINES, LINE_LENGTH, CALLS_SHOWN = 20, 80, 300, 4
ATTEMPTS = 2
ORDERS = "its code contains instructions to a model"
MISSING = "it is missing"


class AskedFunction(NamedTuple):
    """A function to sign: its name in the crate, its file and C text, lines that call it, and its parameters."""

    name: str
    file: str
    c: str
    uses: tuple[str, ...]
    choices: tuple[ParameterChoice, ...]

    @property
    def is_open(self) -> bool:
        """Whether a parameter can be passed in several forms."""
        return any(len(one.forms) > 1 for one in self.choices)

    @property
    def text(self) -> str:
        """The part of the prompt about the function."""
        lines = [line[:LINE_LENGTH] for line in self.c.split("\n")]
        more = [f"[… {len(lines) - CODE_LINES} lines omitted …]"] if len(lines) > CODE_LINES else []
        calls = [f"call: {line.strip()[:LINE_LENGTH]}" for line in self.uses[:CALLS_SHOWN]]
        return "\n".join([f"function {self.name}", *lines[:CODE_LINES], *more, *calls, *self._parameters()])

    def _parameters(self) -> Iterator[str]:
        passed_as = {one.name: one for one in passed_parameters([one.proposal for one in self.choices])}
        labels = parameter_labels([one.proposal.parameter for one in self.choices])
        for label, choice in zip(labels, self.choices, strict=True):
            passed = passed_as.get(label, PassedParameter(label, choice.proposal.form))
            if len(choice.forms) > 1:
                length = f", length {passed.length}" if passed.length else ""
                yield f"parameter {passed.name}: proposed {passed.form}{length}; possible: {', '.join(choice.forms)}"


class SignatureQuestion(NamedTuple):
    """Functions of a file to sign."""

    functions: tuple[AskedFunction, ...]

    @property
    def about(self) -> str:
        """Hash that identifies the question."""
        return sha256(repr(tuple(self)).encode("utf-8", "backslashreplace")).hexdigest()


SIGNATURE_QUESTION = TypeAdapter(SignatureQuestion)


class PlannedSignatures(NamedTuple):
    """The planned parameters of functions by name, and why the proposal stands for the others.

    `checked` is false if the model gave no usable answer.
    """

    functions: dict[str, tuple[PassedParameter, ...]]
    reasons: dict[str, str]
    checked: bool = True


PLANNED_SIGNATURES = TypeAdapter(PlannedSignatures)


def signature_questions(functions: Sequence[AskedFunction]) -> Iterator[SignatureQuestion]:
    """Yield questions about the functions that have a choice, each about functions of one file."""
    chosen = sorted((one for one in functions if one.is_open), key=lambda one: one.file)
    for _, group in groupby(chosen, lambda one: one.file):
        own = tuple(group)
        for start in range(0, len(own), FUNCTIONS_MAX):
            yield SignatureQuestion(own[start : start + FUNCTIONS_MAX])


def signer(profile: Profile, marks: Marks, limits: AgentLimits) -> Agent:
    """Return the agent that answers a question, without tools."""
    definition = Definition(system_prompt=fill_from(PROMPTS, "signatures_system"), name="signer", auto_complete=False)
    limits = replace(limits, rounds=min(limits.rounds, ATTEMPTS + limits.reasks))
    form = ReportForm(SignatureAnswer, "SIGNATURES")
    return Agent(definition, Toolbox(), profile=profile, marks=marks, form=form, limits=limits)


def sign_functions(agent: Agent, question: SignatureQuestion) -> Conversation[PlannedSignatures]:
    """Ask for the signatures, once more for those that cannot be used; the proposal stands for all others."""
    message, suspects = _task(agent, question)
    subjects = {one.name: one for one in question.functions if one.name not in suspects}
    planned = dict[str, tuple[PassedParameter, ...]]()
    reasons = dict.fromkeys(subjects, "no answer")
    checked = False
    try:
        for _ in range(ATTEMPTS):
            if not reasons:
                break
            result = yield from run_task(agent, message)
            checked = True
            found, reasons = _read(result.report, {name: subjects[name] for name in reasons})
            planned |= found
            problems = "\n".join(f"{name}: {reason}" for name, reason in reasons.items())
            message = fill_from(PROMPTS, "signatures_again", problems=agent.guard.admit(problems))
    except AgentStopped as stop:
        reasons = reasons if checked else dict.fromkeys(subjects, f"{stop.reason}: {stop}")
    return PlannedSignatures(planned, reasons | dict.fromkeys(suspects, ORDERS), checked or not subjects)


def _read(
    report: SignatureAnswer, subjects: Mapping[str, AskedFunction]
) -> tuple[dict[str, tuple[PassedParameter, ...]], dict[str, str]]:
    """Return the usable signatures, and what is wrong with the others."""
    planned, reasons = dict[str, tuple[PassedParameter, ...]](), dict.fromkeys(subjects, MISSING)
    answers: dict[str, PlannedFunction] = {one.function: one for one in report.functions}
    for name in subjects.keys() & answers.keys():
        given = tuple(one.passed for one in answers[name].parameters)
        try:
            planned[name] = passed_parameters(read_mapping(subjects[name].choices, given))
            del reasons[name]
        except ValueError as error:
            reasons[name] = str(error)
    return {name: planned[name] for name in subjects if name in planned}, reasons


def _task(agent: Agent, question: SignatureQuestion) -> tuple[str, list[str]]:
    """Return the prompt, and the names of the functions whose code contains instructions to a model."""
    texts, suspects = list[str](), list[str]()
    for one in question.functions:
        before = len(agent.guard.suspicions)
        texts.append(agent.guard.admit(one.text))
        if any(found.level != "warn" for found in agent.guard.suspicions[before:]):
            suspects.append(one.name)
    return fill_from(PROMPTS, "signatures", functions=texts), suspects
