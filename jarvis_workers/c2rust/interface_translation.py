"""Write the bodies of a given interface by a model: ask, run the gates, report failures, until the tests pass.

The gates decide what is kept: the answer that compiles, has the most bodies and passes the most tests.
"""

import json
from collections.abc import Mapping
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
from jarvis_workers.c2rust.body_translation import DETAIL_MAX, PROMPTS, without_fence
from jarvis_workers.c2rust.given_interface import interface_problem, missing_functions
from jarvis_workers.c2rust.interface_question import InterfaceQuestion
from jarvis_workers.c2rust.interface_result import CrateOutcome, decode_outcome
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.words import ENGLISH

# The tool that builds and tests the crate; the model cannot call it.
CRATE_TOOL = "test_crate"
TESTS_SHOWN = 5
NONE = (-1_000_000, 0)


class FileAnswer(BaseModel):
    """A file of an answer."""

    path: str = Field(description="The path of the file.")
    rust: str = Field(description="The whole file.")


class InterfaceAnswer(BaseModel):
    """The answer of a model."""

    files: list[FileAnswer] = Field(description="The files with bodies.")


class WrittenFiles(NamedTuple):
    """The result for a group of files: those that are kept, by path, and why not all of it is done, or ""."""

    files: Mapping[str, str]
    answers: int = 0
    reason: str = ""


def encode_written(written: WrittenFiles) -> bytes:
    """Return a result as JSON."""
    return json.dumps(written._asdict()).encode()


def decode_written(content: bytes) -> WrittenFiles:
    """Return the result that `encode_written` encoded."""
    return WrittenFiles(**json.loads(content))


def interface_translator(profile: Profile, marks: Marks, limits: AgentLimits, attempts: int) -> Agent:
    """Return the agent that writes bodies, without tools; it gives at most `attempts` answers."""
    prompt = fill_from(PROMPTS, "interface_system")
    definition = Definition(system_prompt=prompt, name="translator", auto_complete=False)
    limits = replace(limits, rounds=min(limits.rounds, 2 * attempts + limits.reasks))
    return Agent(
        definition, Toolbox(), profile=profile, marks=marks, form=ReportForm(InterfaceAnswer, "FILES"), limits=limits
    )


def translate_interface(agent: Agent, question: InterfaceQuestion, attempts: int) -> Conversation[WrittenFiles]:
    """Ask for the files of a question until the crate passes its tests, at most `attempts` times."""
    message, draft, problem, number = _task(agent, question), _Draft(question), "", 0
    try:
        for number in range(1, attempts + 1):
            result: TaskResult = yield from run_task(agent, message)
            refused = draft.take(result.report)
            if draft.is_new:
                done: ToolOutcome = yield RunTool(CRATE_TOOL, {"files": dict(draft.files)}, untimed=True)
                if not done.success:
                    return WrittenFiles(draft.best, number, done.stderr)
                draft.judge(decode_outcome(done.stdout))
            problem = "; ".join(filter(None, (refused, draft.problem)))
            if not problem:
                return WrittenFiles(draft.best, number)
            message = fill_from(PROMPTS, "interface_again", problem=agent.guard.admit(problem[:DETAIL_MAX]))
    except AgentStopped as stop:
        return WrittenFiles(draft.best, number, f"{stop.reason}: {stop}")
    return WrittenFiles(draft.best, number, f"not accepted in {ENGLISH.count(number, 'answer')}; {problem}")


class _Draft:
    """The files of all answers so far: `best` are those that are kept, `problem` is why the last ones are refused."""

    def __init__(self, question: InterfaceQuestion) -> None:
        self._given, self.files = question.files, dict(question.files)
        self._judged, self.best, self._score = dict(question.files), dict[str, str](), NONE
        self.problem = _refusal(self.files, CrateOutcome())

    @property
    def is_new(self) -> bool:
        """Whether the gates have not judged these files."""
        return self.files != self._judged

    def take(self, answer: InterfaceAnswer) -> str:
        """Take the files of an answer, except for those that the gate `form` refuses; return why."""
        problems = []
        for file in answer.files:
            given, text = self._given.get(file.path), without_fence(file.rust)
            if given is None:
                problems.append(f"form: {file.path} is not one of the files")
            elif problem := interface_problem(given, text):
                problems.append(f"form: {file.path}: {problem}")
            else:
                self.files[file.path] = text + "\n"
        return "; ".join(problems)

    def judge(self, outcome: CrateOutcome) -> None:
        """Record what the gates say of the files, and keep the best that compile."""
        self._judged, self.problem = dict(self.files), _refusal(self.files, outcome)
        if (score := _score(self.files, outcome)) > self._score:
            self.best, self._score = dict(self.files), score


def _refusal(draft: Mapping[str, str], outcome: CrateOutcome) -> str:
    """Return the first gate that refuses a draft with its detail, or "" if it is accepted."""
    if outcome.error:
        return f"check: {outcome.error}"
    if missing := [one.label for text in draft.values() for one in missing_functions(text)]:
        return f"body: these functions have no body yet: {', '.join(missing)}"
    failed = "; ".join(f"{one.label}: {one.detail}" for one in outcome.failed[:TESTS_SHOWN])
    return f"tests: {len(outcome.failed)} of {len(outcome.tests)} tests fail: {failed}" if failed else ""


def _score(draft: Mapping[str, str], outcome: CrateOutcome) -> tuple[int, int]:
    """Return how good a draft is: its bodies, then the tests that it passes; NONE if it does not compile."""
    missing = sum(len(missing_functions(text)) for text in draft.values())
    return NONE if outcome.error else (-missing, len(outcome.tests) - len(outcome.failed))


def _task(agent: Agent, question: InterfaceQuestion) -> str:
    admit = agent.guard.admit
    files = [(path, admit(text)) for path, text in question.files.items()]
    texts = {name: admit(text) if (text := getattr(question, name)) else "" for name in ("c", "others")}
    return fill_from(PROMPTS, "interface", files=files, notes=question.notes, **texts)
